"""Differential privacy inside persuasive privacy: receivers who know all but one alternative.

A receiver who holds the true database x with probability q and one neighbour x' else gains
``log(R / (q R + 1 - q))`` by an output with likelihood ratio R = m(x, T) / m(x', T). Where R > 1
that increases to ``log R`` as q falls to 0, which is never attained; where R <= 1 it is at most 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.loss_quantile import exact_kappa


def two_point_loss(log_ratio: FloatArray, q: FloatArray) -> FloatArray:
    """Return the log score gain of outputs with log likelihood ratio log R at prior mass q.

    Parameters
    ----------
    log_ratio : array
        ``log m(x, T) / m(x', T)``, of the true database to the alternative; may be infinite.
    q : array broadcastable against it
        Prior probability of the truth, in [0, 1]; 0 stands for the limit.

    Examples
    --------
    >>> two_point_loss(np.array([np.log(2), -1.0]), 0.0).round(6).tolist()
    [0.693147, -1.0]
    """
    log_ratio, q = np.asarray(log_ratio, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if q.size == 0 or not ((q >= 0) & (q <= 1)).all():
        raise ValueError(f"q must be in [0, 1], got q={q!r}.")
    with np.errstate(divide="ignore"):
        # -log(q + (1 - q) / R), which has no overflow at R = inf.
        return -np.logaddexp(np.log(q), np.log1p(-q) - log_ratio)


def probabilistic_dp(kernel: FiniteKernel, pairs: Iterable[tuple[int, int]], delta: float) -> float:
    """Return the smallest epsilon for which the kernel is (epsilon, delta)-PDP; exact.

    ``P_x[ log m(x,T) / m(x',T) > epsilon ] <= delta`` for every ordered pair of neighbours, which
    is (log score, two-point priors, epsilon, delta)-persuasive privacy. Pure epsilon-DP at
    delta = 0. Stronger than (epsilon, delta)-DP of the same numbers, and not kept when outputs
    are merged.

    Parameters
    ----------
    kernel : FiniteKernel
    pairs : iterable of (i, j)
        Neighbouring databases; both orders are checked.
    delta : float in [0, 1)

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Proposition 6; Machanavajjhala et al. (2008).
    """
    found = [0.0]
    for i, j in pairs:
        for x, other in ((i, j), (j, i)):
            row = kernel.probabilities[x]
            found.append(
                exact_kappa(log_ratios(row, kernel.probabilities[other]), row, delta=delta)
            )
    return max(found)


def log_ratios(row: FloatArray, other: FloatArray) -> FloatArray:
    """Return ``log row / other`` where `row` is positive, -inf elsewhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(row > 0, np.log(row) - np.log(other), -np.inf)
