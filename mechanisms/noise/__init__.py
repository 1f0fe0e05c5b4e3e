"""Noise laws and what adding them releases."""
