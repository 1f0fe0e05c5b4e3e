"""Exact laws of how often a chain visits its states, one entry known: forward recursion."""

from __future__ import annotations

import math

import numpy as np

from mechanisms.base import NotOfferedError
from mechanisms.check import FloatArray
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw

CELLS = 4_000_000


def visits_law(law: SequenceLaw, state: int) -> FiniteLaw:
    """Return the law of the number of visits to `state` in all sequences, atoms (a, 1).

    The recursion carries the law of (current state, visits so far); sequences other than that of
    the known entry are independent of it and convolved. Values of probability 0 are left out.
    """
    first, *others = law.lengths
    weights = _visits(law, first, state, known=True)
    for length in others:
        weights = np.convolve(weights, _visits(law, length, state, known=False))
    seen = np.flatnonzero(weights > 0)
    return FiniteLaw(atoms=seen[:, None].astype(np.float64), weights=_normal(weights[seen]))


def histogram_law(law: SequenceLaw) -> FiniteLaw:
    """Return the law of the visits to every state in the one sequence, atoms (a, k).

    The recursion carries the law of (current state, visits to all states but the last).

    Raises
    ------
    NotOfferedError
        If there are several sequences, or the recursion needs more than 4 million cells.
    """
    size, length = law.initial.size, law.lengths[0]
    if len(law.lengths) > 1:
        raise NotOfferedError("the exact law of histograms is computed for one sequence only")
    if size * (length + 1) ** (size - 1) > CELLS:
        raise NotOfferedError(
            f"the exact law of histograms of {size} states and {length} steps needs more than "
            f"{CELLS} cells"
        )
    table = np.zeros((size, *(length + 1,) * (size - 1)))
    table.reshape(size, -1)[:, 0] = law.initial
    for t in range(1, length + 1):
        if t > 1:
            table = np.tensordot(law.transition.T, table, axes=1)
        if t == law.position:
            table = _known(table, law)
        for state in range(size - 1):
            table[state] = np.roll(table[state], 1, axis=state)
    weights = table.sum(axis=0)
    rows = np.argwhere(weights > 0)
    support = np.column_stack([rows, length - rows.sum(axis=1)]).astype(np.float64)
    return FiniteLaw(atoms=support, weights=_normal(weights[weights > 0]))


def _visits(law: SequenceLaw, length: int, state: int, *, known: bool) -> FloatArray:
    table = np.zeros((law.initial.size, length + 1))
    table[:, 0] = law.initial
    for t in range(1, length + 1):
        if t > 1:
            table = law.transition.T @ table
        if known and t == law.position:
            table = _known(table, law)
        table[state] = np.roll(table[state], 1)
    return table.sum(axis=0)


def _known(table: FloatArray, law: SequenceLaw) -> FloatArray:
    """Keep the known state alone, and rescale: what is left is conditioned on it."""
    kept = np.zeros_like(table)
    kept[law.value] = table[law.value] / math.fsum(table[law.value].ravel())
    return kept


def _normal(weights: FloatArray) -> FloatArray:
    return weights / weights.sum()
