"""The (epsilon, delta) trade-off between two Gaussians with equal covariance.

Between N(0, I) and N(d e, I) everything depends on the Mahalanobis distance d alone:
``delta(eps) = Phi(d/2 - eps/d) - e^eps Phi(-d/2 - eps/d)`` (Balle and Wang, 2018, Theorem 8).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from mechanisms.check import FloatArray, positive, within
from mechanisms.leakage.root import RELATIVE

SMALLEST = 1e-300


def gaussian_delta(epsilon: float, distance: float) -> float:
    """Return the smallest delta at this epsilon for Gaussians `distance` apart; exact.

    Examples
    --------
    >>> round(gaussian_delta(0.0, 1.0), 6)
    0.382925
    """
    return float(gaussian_deltas(np.asarray(distance, dtype=np.float64), epsilon))


def gaussian_deltas(distances: FloatArray, epsilon: float) -> FloatArray:
    """Return `gaussian_delta` of each distance in [0, inf]."""
    if epsilon == math.inf:
        return np.zeros_like(distances)
    d = np.maximum(distances, SMALLEST)
    with np.errstate(over="ignore", under="ignore"):
        first = ndtr(d / 2 - epsilon / d)
        second = np.exp(np.minimum(0.0, epsilon + log_ndtr(-d / 2 - epsilon / d)))
    return np.where(distances > 0, np.maximum(first - second, 0.0), 0.0)


def gaussian_epsilon(distance: float, delta: float) -> float:
    """Return the smallest epsilon at this delta, rounded up; 0 for delta >= delta(0).

    At ``delta = 0`` it is infinite unless the distance is 0.
    """
    within("delta", delta, 0, 1, ends="[)")
    if gaussian_delta(0.0, distance) <= delta:
        return 0.0
    if delta == 0 or distance == math.inf:
        return math.inf
    # Phi(d/2 - eps/d) alone bounds delta, so this epsilon is always enough.
    high = distance * (distance / 2 + math.sqrt(2 * math.log(1 / delta)) + 1)
    root = float(brentq(lambda e: gaussian_delta(e, distance) - delta, 0.0, high, **RELATIVE))
    return _nudge(root, lambda e: gaussian_delta(e, distance) <= delta, 1 + 1e-12)


def gaussian_distance(epsilon: float, delta: float) -> float:
    """Return the largest distance that is (epsilon, delta)-indistinguishable, rounded down.

    Valid for every epsilon (Balle and Wang, 2018, Algorithm 1 solves the same equation).
    """
    positive("epsilon", epsilon)
    within("delta", delta, 0, 1, ends="()")
    if epsilon == math.inf:
        return math.inf
    high = 1.0
    while gaussian_delta(epsilon, high) < delta:
        high *= 2
    root = float(brentq(lambda d: gaussian_delta(epsilon, d) - delta, 0.0, high, **RELATIVE))
    return _nudge(root, lambda d: gaussian_delta(epsilon, d) <= delta, 1 - 1e-12)


def classical_constant(delta: float) -> float:
    """Return c = sqrt(2 log(1.25/delta)) of Dwork and Roth (2014), Theorem A.1."""
    return math.sqrt(2 * math.log(1.25 / within("delta", delta, 0, 1, ends="()")))


def _nudge(root: float, holds: object, factor: float) -> float:
    """Move a root by a growing factor to the side on which the budget holds."""
    assert callable(holds)
    step = factor - 1
    for _ in range(60):
        if holds(root):
            return root
        root *= 1 + step
        step *= 2
    raise ArithmeticError("the Gaussian trade-off could not be solved")  # pragma: no cover
