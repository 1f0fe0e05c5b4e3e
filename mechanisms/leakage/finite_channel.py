"""Exact leakage of mechanisms whose outputs can be listed."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, combinations, combinations_with_replacement

import numpy as np
from scipy.special import gammaln

from mechanisms.check import FloatArray, whole
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import CELLS
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError

JointLog = Callable[[FloatArray], FloatArray]


def channel_pair(
    first: tuple[FiniteLaw, FloatArray], second: tuple[FiniteLaw, FloatArray], k: int
) -> FinitePair:
    """Compare k releases of one answer under two finite laws.

    Parameters
    ----------
    first, second : (law, channel)
        Each law with the log probabilities of the c outputs given each of its atoms, (a, c).
    k : int
        Releases, independent given the answer. How often each output came is sufficient, so the
        ``comb(c + k - 1, k)`` tables of counts are listed and not the ``c ** k`` sequences.

    Raises
    ------
    NotComputableError
        If there are more than 4 million tables of counts, times the atoms of a law (or times the
        outputs or releases, if both are more).
    """
    n_outputs, k = first[1].shape[1], whole("n_releases", k)
    atoms = max(law.weights.size for law, _ in (first, second))
    if max(atoms, min(k, n_outputs)) * math.comb(n_outputs + k - 1, k) > CELLS:
        raise NotComputableError(
            f"{n_outputs} outputs in {k} release(s) of {atoms} answers are too many to list"
        )
    listing = _by_count if k > n_outputs > 1 else _by_sequence
    joint_of, log_orders = listing(n_outputs, k)
    logs = []
    for law, channel in (first, second):
        joint = joint_of(channel)
        with np.errstate(divide="ignore"):
            weighted = joint + np.log(law.weights)[:, None]
        logs.append(np.logaddexp.reduce(weighted, axis=0) + log_orders)
    return FinitePair.from_logs(first=logs[0], second=logs[1])


def _by_sequence(n_outputs: int, k: int) -> tuple[JointLog, FloatArray]:
    """List the sorted outputs of k releases; return their joint log, and the log of their orders.

    The joint log maps a channel ``(a, c)`` to the log probability of one order of every table.
    """
    listed = chain.from_iterable(combinations_with_replacement(range(n_outputs), k))
    outputs = np.fromiter(listed, dtype=np.int64).reshape(-1, k)
    log_orders = np.full(len(outputs), gammaln(k + 1.0))
    run = np.ones(len(outputs))
    for j in range(k):
        # Dividing by 1, 2, ... along each run of equal outputs divides by its factorial.
        run = np.where((j > 0) & (outputs[:, j] == outputs[:, j - 1]), run + 1, 1.0)
        log_orders -= np.log(run)
    # Summed release by release: a count of 0 times a log probability of -inf is no number.
    return lambda channel: sum(
        (channel[:, outputs[:, j]] for j in range(k)), np.zeros((1, 1))
    ), log_orders


def _by_count(n_outputs: int, k: int) -> tuple[JointLog, FloatArray]:
    """List how often each output comes in k releases; returns are those of `_by_sequence`."""
    n_bars = n_outputs - 1  # between stars: a table is a choice of places for the bars
    listed = chain.from_iterable(combinations(range(k + n_bars), n_bars))
    bars = np.fromiter(listed, dtype=np.int64).reshape(-1, n_bars)
    ends = np.full((len(bars), 1), k + n_bars)
    counts = np.diff(np.column_stack([ends * 0 - 1, bars, ends]), axis=1) - 1.0

    def joint(channel: FloatArray) -> FloatArray:
        impossible = np.isneginf(channel)
        found = np.where(impossible, 0.0, channel) @ counts.T
        found[impossible.astype(np.float64) @ counts.T > 0] = -np.inf
        return found

    return joint, gammaln(k + 1.0) - gammaln(counts + 1).sum(axis=1)
