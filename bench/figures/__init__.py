"""Figures and tables, drawn from the store."""
