"""Attacks that rebuild a database, or an entry of it, from releases."""
