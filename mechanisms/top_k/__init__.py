"""Top-K rankings of correlated entries."""
