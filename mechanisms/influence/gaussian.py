"""Influence curves of Gaussian priors whose secrets are short windows of one coordinate.

The prior here is *not* truncated, and the kept coordinates are observed inside a box: the closed
form is exact for each set of coordinates set aside. For the prior truncated to the box see
`mechanisms.influence.truncated_gaussian`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import log_ndtr

from mechanisms.check import FloatArray, IntArray, finite, positive, whole
from mechanisms.influence.curve import InfluenceCurve

STARTS = 2001


def process_covariance(n: int, decay: float) -> FloatArray:
    """Return ``exp(-(j - k)^2 / decay)`` for n coordinates, shape (n, n)."""
    positive("decay", decay)
    positions = np.arange(whole("n", n))
    return np.exp(-((positions[:, None] - positions) ** 2) / decay)


def observed_curve(
    covariance: FloatArray, *, bound: float, width: float, b_max: int | None = None
) -> InfluenceCurve:
    """Return the curve of a Gaussian prior whose kept coordinates lie in the box.

    Secrets are all pairs of windows ``x_i in [r, r + width]`` within [-bound, bound], at every i.

    Parameters
    ----------
    covariance : array of shape (n, n)
        Symmetric positive definite.
    bound, width : float in (0, inf)
        Half width of the box; length of a window, at most ``2 * bound``.
    b_max : int, optional
        Largest tabulated b; n by default.

    Returns
    -------
    InfluenceCurve
        Upper bound: the b coordinates nearest in position are set aside, both ways where they
        tie; that need not be the best set away from the centre of strongly tied coordinates.
        Its guarantee covers data whose kept coordinates lie in the box.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Section 6.4, Example 7.
    """
    sigma = positive_definite(covariance)
    n = len(sigma)
    b_max = n if b_max is None else min(whole("b_max", b_max), n)
    values = np.zeros(b_max + 1)
    values[0] = np.inf
    for b in range(1, min(b_max, n - 1) + 1):
        values[b] = max(
            min(
                observed_influence(sigma, node, aside, bound=bound, width=width)
                for aside in _nearest(node, b, n)
            )
            for node in range(n)
        )
    return InfluenceCurve(
        values=values,
        entries=n,
        direction="upper bound",
        assumption=f"Gaussian prior not truncated, kept coordinates within +-{bound:g}",
    )


def observed_influence(
    covariance: FloatArray,
    node: int,
    aside: Sequence[int] | IntArray,
    *,
    bound: float,
    width: float,
) -> float:
    """Return the influence of the coordinates not in `aside`, observed within the box.

    Exact up to a search over 2001 window positions, for the prior that is not truncated: the
    conditional mean of x_i ranges over ``+- bound * |w|_1`` with regression weights w, the odds
    of two windows are monotone in it, so the ends are worst (Bai et al. 2026, Example 7).
    """
    sigma = positive_definite(covariance)
    window_in_box(bound, width)
    kept = np.setdiff1d(np.arange(len(sigma)), set_aside(node, aside, len(sigma)))
    if kept.size == 0:
        return 0.0
    regression = np.linalg.solve(sigma[np.ix_(kept, kept)], sigma[kept, node])
    spread = np.sqrt(sigma[node, node] - regression @ sigma[kept, node])
    mean, prior = bound * np.abs(regression).sum(), np.sqrt(sigma[node, node])
    starts = np.linspace(-bound, bound - width, STARTS)
    odds = _log_window((starts - mean) / spread, (starts + width - mean) / spread)
    odds = odds - _log_window(starts / prior, (starts + width) / prior)
    return float(odds.max() - odds.min())


def _log_window(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return ``log(Phi(high) - Phi(low))`` without cancellation in either tail."""
    flip = low + high > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    top = log_ndtr(high)
    return top + np.log(-np.expm1(log_ndtr(low) - top))


def _nearest(node: int, b: int, n: int) -> list[IntArray]:
    distance = np.abs(np.arange(n) - node)
    left_first = np.argsort(distance, kind="stable")[:b]
    right_first = n - 1 - np.argsort(distance[::-1], kind="stable")[:b]
    same = set(left_first) == set(right_first)
    return [left_first] if same else [left_first, right_first]


def set_aside(node: int, aside: Sequence[int] | IntArray, n: int) -> IntArray:
    """Return the sorted coordinates set aside; refuse a set without the secret one."""
    hidden = np.unique(np.asarray(aside, dtype=np.int64))
    if hidden.size and not (hidden[0] >= 0 and hidden[-1] < n):
        raise ValueError(f"aside must hold coordinates in 0..{n - 1}, got {list(aside)}.")
    if node not in hidden:
        raise ValueError(f"aside must hold the secret coordinate {node}, got {list(aside)}.")
    return hidden


def window_in_box(bound: float, width: float) -> None:
    """Refuse a window that does not fit into [-bound, bound]."""
    positive("bound", bound, infinite=False)
    if not 0 < width <= 2 * bound:
        raise ValueError(f"width must be in (0, {2 * bound:g}], got width={width!r}.")


def positive_definite(covariance: FloatArray) -> FloatArray:
    """Return a covariance matrix; refuse what is not symmetric positive definite."""
    sigma = finite("covariance", covariance)
    if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or not np.allclose(sigma, sigma.T):
        raise ValueError(f"covariance must be a symmetric matrix, got shape {sigma.shape}.")
    if not np.linalg.eigvalsh(sigma)[0] > 0:
        raise ValueError("covariance must be positive definite.")
    return sigma
