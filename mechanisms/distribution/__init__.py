"""Distribution privacy."""
