"""Attacks: who guesses what from a release."""
