"""Upper quantiles of the squared length of a normal vector."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc
from scipy.stats import ncx2

from mechanisms.check import FloatArray, within
from mechanisms.leakage.root import RELATIVE

EQUAL = 1e-9
NOTHING = 1e-12
MARGIN = 1e-9
TERMS = 4000


def quadratic_quantile(offset: FloatArray, covariance: FloatArray, *, delta: float) -> float:
    """Return the smallest q with ``P(|offset + N(0, covariance)|^2 > q) <= delta``, rounded up.

    Parameters
    ----------
    offset : array of shape (k,)
    covariance : array of shape (k, k)
        Symmetric, positive semi-definite.
    delta : float in [0, 1)
        inf at 0, unless there is no spread at all.

    Notes
    -----
    A noncentral chi-squared quantile where the spread is the same in all directions that have any;
    else a mixture of chi-squared laws (Ruben, 1962), whose truncated weights are added to the
    tail. Where 4,000 terms do not reach delta, an upper bound (Chernoff).
    """
    within("delta", delta, 0, 1, ends="[)")
    variances, axes = np.linalg.eigh(covariance)
    along = axes.T @ offset
    spread = variances > NOTHING * max(1.0, float(variances[-1]))
    fixed = float((along[~spread] ** 2).sum())
    if not spread.any():
        return fixed
    if delta == 0:
        return math.inf
    scales, shifts = variances[spread], along[spread] ** 2 / variances[spread]
    widest = float(scales.max())
    if scales.min() >= widest * (1 - EQUAL):
        nearest = float(ncx2.ppf(1 - delta, scales.size, shifts.sum()))
        return fixed + widest * nearest * (1 + MARGIN)
    bound = _chernoff(scales, shifts, delta)
    smallest, mixture = float(scales.min()), _mixture(scales, shifts)
    degrees = scales.size + 2 * np.arange(mixture.size)
    lost = max(0.0, 1 - float(mixture.sum()))

    def excess(q: float) -> float:
        return float(mixture @ chdtrc(degrees, q / smallest)) + lost - delta

    if not (excess(0.0) > 0 > excess(bound)):
        return fixed + bound
    return fixed + min(bound, float(brentq(excess, 0.0, bound, **RELATIVE)) * (1 + MARGIN))


def _mixture(scales: FloatArray, shifts: FloatArray) -> FloatArray:
    """Return the weights of chi-squared laws with k, k + 2, ... degrees, times the least scale.

    Non-negative, summing to at most 1: what is missing was truncated.
    """
    smallest = scales.min()
    left = 1 - smallest / scales
    weights = np.zeros(TERMS)
    weights[0] = math.exp(-shifts.sum() / 2) * math.sqrt(np.prod(smallest / scales))
    powers = left ** np.arange(TERMS)[:, None]
    m = np.arange(1, TERMS)
    rates = powers[1:].sum(axis=1) + m * (powers[:-1] @ (shifts * smallest / scales))
    for j in range(1, TERMS):
        weights[j] = rates[:j][::-1] @ weights[:j] / (2 * j)
        if weights[:j].sum() >= 1 - 1e-15:
            return weights[:j]
    return weights


def _chernoff(scales: FloatArray, shifts: FloatArray, delta: float) -> float:
    """Return min over s of ``(log M(s) - log delta) / s``: the tail beyond is at most delta."""
    s = np.linspace(0.001, 0.999, 999)[:, None] / (2 * scales.max())
    factor = 1 - 2 * scales * s
    log_moment = (shifts * scales * s / factor - np.log(factor) / 2).sum(axis=1)
    return float(((log_moment - math.log(delta)) / s[:, 0]).min())
