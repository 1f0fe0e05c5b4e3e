"""Exact leakage of mechanisms whose outputs can be listed."""

from __future__ import annotations

import math
from itertools import chain, combinations_with_replacement

import numpy as np
from scipy.special import gammaln

from mechanisms.check import FloatArray, IntArray, whole
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import CELLS
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError


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
        If there are more than 4 million tables of counts, times the atoms of a law.
    """
    n_outputs, k = first[1].shape[1], whole("n_releases", k)
    atoms = max(law.weights.size for law, _ in (first, second))
    if max(atoms, k) * math.comb(n_outputs + k - 1, k) > CELLS:
        raise NotComputableError(
            f"{n_outputs} outputs in {k} release(s) of {atoms} answers are too many to list"
        )
    outputs, log_orders = _counted(n_outputs, k)
    logs = []
    for law, channel in (first, second):
        # Summed release by release: a count of 0 times a log probability of -inf is no number.
        joint = sum((channel[:, outputs[:, j]] for j in range(k)), np.zeros((1, 1)))
        with np.errstate(divide="ignore"):
            weighted = joint + np.log(law.weights)[:, None]
        logs.append(np.logaddexp.reduce(weighted, axis=0) + log_orders)
    return FinitePair.from_logs(first=logs[0], second=logs[1])


def _counted(n_outputs: int, k: int) -> tuple[IntArray, FloatArray]:
    """Return the sorted outputs of k releases, (t, k), and the log number of their orders, (t,)."""
    listed = chain.from_iterable(combinations_with_replacement(range(n_outputs), k))
    outputs = np.fromiter(listed, dtype=np.int64).reshape(-1, k)
    log_orders = np.full(len(outputs), gammaln(k + 1.0))
    run = np.ones(len(outputs))
    for j in range(k):
        # Dividing by 1, 2, ... along each run of equal outputs divides by its factorial.
        run = np.where((j > 0) & (outputs[:, j] == outputs[:, j - 1]), run + 1, 1.0)
        log_orders -= np.log(run)
    return outputs, log_orders
