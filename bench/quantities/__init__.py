"""Quantities of curve studies: computed numbers against a parameter."""
