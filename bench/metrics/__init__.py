"""Metrics: what is measured on attack scores and on releases."""
