"""Strategies of scalar laws, and the count tables of the embedded data sets."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bench.scenarios.numeric_column import NumericColumn
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.finite import FiniteLaw

COUNTS = st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any)
GRID = np.array([0.0, 0.5, 1.0, 3.0, 4.0])

SOURCES = {
    "adult": ("adult_education_num.csv", "education-num", "relationship"),
    "heart": ("heart_oldpeak.csv", "oldpeak", "fbs"),
    "student": ("student_grade.csv", "G3", "guardian"),
}
SIDES = {
    "adult": ("Husband", "Not-in-family"), "heart": ("0", "1"), "student": ("mother", "father"),
}  # fmt: skip


def on_grid(counts):
    return FiniteLaw.of_counts(atoms=GRID, counts=counts)


def answers_of(*laws):
    pairs = tuple((i, j) for i in range(len(laws)) for j in range(i + 1, len(laws)))
    return ScalarAnswers(laws=laws, pairs=pairs)


def embedded(name):
    """Return the two laws of a data set of Ding, Yang and Zhang (2026)."""
    file, value, secret = SOURCES[name]
    return NumericColumn(
        path=f"embedded:{file}", value=value, secret=secret, pairs=[SIDES[name]], count="count"
    ).laws
