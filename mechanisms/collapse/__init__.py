"""Mechanisms that leak nothing, or little, once and everything when they are run again."""
