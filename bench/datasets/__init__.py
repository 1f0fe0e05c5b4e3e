"""Datasets: real records, each found in one place and pinned by its sha256."""
