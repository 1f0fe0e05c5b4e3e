"""Interval attack: which counts a hidden cell can have, given totals, marks and wholeness."""
