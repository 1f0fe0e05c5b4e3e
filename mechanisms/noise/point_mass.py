"""Answers that are released as they are: their density and their exact comparison."""

from __future__ import annotations

import numpy as np

from mechanisms.check import Array, FloatArray
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import FinitePair


def agreement(releases: Array, answers: Array) -> FloatArray:
    """Return 0 where release and answer agree in every entry, else -inf; (n, a) by broadcast."""
    axes = tuple(range(2, releases.ndim))
    return np.where((releases == answers).all(axis=axes), 0.0, -np.inf)


def aligned_pair(first: FiniteLaw, second: FiniteLaw) -> FinitePair:
    """Return the two laws' probabilities on the union of their atoms."""
    rows = np.concatenate([first.atoms, second.atoms])
    flat = rows.reshape(len(rows), -1)
    atoms, index = np.unique(flat, axis=0, return_inverse=True)
    index = index.ravel()
    split = first.weights.size
    p, q = np.zeros(len(atoms)), np.zeros(len(atoms))
    np.add.at(p, index[:split], first.weights)
    np.add.at(q, index[split:], second.weights)
    return FinitePair(p, q)
