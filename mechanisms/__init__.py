"""Mechanisms: what is released, and what that guarantees."""
