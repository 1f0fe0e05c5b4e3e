"""Fitting a first-order chain to sequences: transition counts, smoothing, stationary law."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.check import FloatArray, IntArray, within
from mechanisms.influence.chain import MarkovChain, transition_matrix

SMOOTHING = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedChain:
    """A chain fitted by counting.

    Attributes
    ----------
    states : tuple
        Labels, in the order of rows and columns.
    counts : array of shape (n_states, n_states)
        Observed transitions from row to column.
    chain : MarkovChain
        Smoothed transition matrix, started from its stationary law.
    never_left : tuple
        States without an observed transition, whose row is uniform over the others.
    """

    states: tuple[Hashable, ...]
    counts: IntArray
    chain: MarkovChain
    never_left: tuple[Hashable, ...]


def fit_chain(
    sequences: Sequence[Sequence[Hashable]],
    states: Sequence[Hashable],
    *,
    smoothing: float = SMOOTHING,
) -> FittedChain:
    """Fit one chain to all sequences (Bai, He, Gu, Kifer, Maeng 2026, Appendix D.2).

    Parameters
    ----------
    sequences : sequence of sequences
        Observed labels in order; a sequence of length 1 contributes no transition.
    states : sequence
        All states, observed or not.
    smoothing : float in [0, 1)
        Mass given to every zero transition.

    Raises
    ------
    ValueError
        If a sequence holds an unknown label, a state is given twice, or there is no transition.

    Examples
    --------
    >>> fit_chain(["aab", "ba"], "ab", smoothing=0).chain.transition
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    counts = transition_counts(sequences, states)
    if not counts.any():
        raise ValueError("sequences must hold at least one transition, got none.")
    matrix = smooth(row_frequencies(counts), smoothing)
    leavings = counts.sum(axis=1).tolist()
    never_left = tuple(s for s, total in zip(states, leavings, strict=True) if total == 0)
    return FittedChain(
        states=tuple(states),
        counts=counts,
        chain=MarkovChain(transition=matrix),
        never_left=never_left,
    )


def transition_counts(
    sequences: Sequence[Sequence[Hashable]], states: Sequence[Hashable]
) -> IntArray:
    """Count transitions from row to column over all sequences, shape (n_states, n_states)."""
    index = {state: row for row, state in enumerate(states)}
    size = len(states)
    if size == 0 or len(index) < size:
        raise ValueError("states must be distinct and not empty.")
    counts = np.zeros(size * size, dtype=np.int64)
    for number, sequence in enumerate(sequences):
        try:
            codes = np.array([index[label] for label in sequence], dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                f"sequences must hold known states only, got {error.args[0]!r} "
                f"in sequence {number}."
            ) from None
        counts += np.bincount(codes[:-1] * size + codes[1:], minlength=size * size)
    return counts.reshape(size, size)


def row_frequencies(counts: IntArray) -> FloatArray:
    """Divide rows by their sums; a row without counts is uniform over the other states."""
    size = len(counts)
    totals = counts.sum(axis=1, keepdims=True)
    others = np.ones((1, 1)) if size == 1 else (1 - np.eye(size)) / (size - 1)
    return np.where(totals > 0, counts / np.maximum(totals, 1), others)


def smooth(transition: FloatArray, smoothing: float = SMOOTHING) -> FloatArray:
    """Give `smoothing` to every zero entry and take it from the others in proportion.

    Raises
    ------
    ValueError
        If a row's zero entries would take all of its mass.
    """
    within("smoothing", smoothing, 0, 1, ends="[)")
    matrix = transition_matrix(transition)
    zero = matrix == 0
    taken = smoothing * zero.sum(axis=1, keepdims=True)
    if not (taken < 1).all():
        raise ValueError(
            f"smoothing must leave mass to the entries above 0, got smoothing={smoothing!r} "
            f"for {int(zero.sum(axis=1).max())} zero entries in a row."
        )
    return np.where(zero, smoothing, matrix * (1 - taken))
