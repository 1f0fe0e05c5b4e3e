"""Exact comparison of two release laws."""
