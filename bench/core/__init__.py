"""Cells, random streams, intervals and the fingerprint of the code."""
