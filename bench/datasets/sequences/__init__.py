"""Sequences and the chains fitted to them."""
