"""Ranked comparison from the store."""
