"""Deterministic releases and what protects them: noiseless statistics, suppression, rounding."""
