"""What a displacement z costs after noise: log of a mean of exponentials, with its slope.

Every function takes distances ``|z|`` with their weights and returns the log-mean cost at a noise
level u (``1/scale``, or ``1/scale^2`` for Gaussian noise) and its derivative in u. All of them
are convex and increasing in u and vanish at 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import exprel

from mechanisms.check import FloatArray

# Below this exponent expm1 keeps small budgets exact; above it the largest term is taken out.
_SMALL = 1.0


def log_mean_exp(rates: FloatArray, weights: FloatArray, level: float) -> tuple[float, float]:
    """Return ``log E[exp(level * rates)]`` and its derivative in `level` (rates >= 0).

    One pass of exponentials; exact in relative terms even where the value is tiny or huge.
    """
    exponents = rates * level
    largest = float(exponents.max())
    if largest < _SMALL:
        grown = np.expm1(exponents)
        excess = float(weights @ grown)
        slope = float(weights @ rates) + float((weights * rates) @ grown)
        return math.log1p(excess), slope / (1 + excess)
    exponents -= largest
    terms = np.exp(exponents, out=exponents)
    total = float(weights @ terms)
    terms *= rates
    return largest + math.log(total), float(weights @ terms) / total


def laplace_excess(distance: FloatArray, order: float) -> FloatArray:
    r"""Return ``(E - 1)/(order - 1)``, E the Hellinger integral of ``Lap(1)`` and its shift.

    ``E = a/(2a-1) e^{(a-1)t} + (a-1)/(2a-1) e^{-at}`` for order a and distance t (Mironov 2017,
    Proposition 6); at order 1 the value is the Kullback-Leibler divergence ``t - 1 + e^{-t}``.
    Orders in (0, 1) follow from the same formula, order 1/2 as its limit.
    """
    if order == 0.5:
        # Limit: E = e^{-t/2} (1 + t/2).
        half = distance / 2
        return -2 * (np.expm1(-half) + half * np.exp(-half))
    with np.errstate(over="ignore"):
        plain = (
            order
            / (2 * order - 1)
            * distance
            * (exprel((order - 1) * distance) - exprel(-order * distance))
        )
    small = (order + abs(order - 1)) * distance < 0.05
    if not np.any(small):
        return plain
    # Taylor series: the two exponentials cancel to first order.
    series, power = np.zeros_like(distance), distance.copy()
    for k in range(2, 9):
        power = power * distance / k
        factor = ((order - 1) ** (k - 1) + (-1) ** k * order ** (k - 1)) / (2 * order - 1)
        series = series + order * factor * power
    return np.where(small, series, plain)


def laplace_divergence(distance: float, order: float) -> float:
    """Return the Renyi divergence of order in (0, inf] of ``Lap(1)`` and its shift by `distance`.

    Exact (Mironov 2017, Proposition 6).
    """
    if math.isinf(order):
        return distance
    excess = float(laplace_excess(np.array([distance]), order)[0])
    if order == 1:
        return excess
    if math.isinf(excess) or (order - 1) * distance > 30:
        tail = (order - 1) / order * math.exp(-(2 * order - 1) * distance)
        return distance + (math.log(order / (2 * order - 1)) + math.log1p(tail)) / (order - 1)
    return math.log1p((order - 1) * excess) / (order - 1)


def log_mean_laplace(
    distances: FloatArray, weights: FloatArray, order: float, level: float
) -> tuple[float, float]:
    """Return ``log E[E_laplace(level |z|)] / (order - 1)`` and its derivative in `level`.

    An upper bound on the Renyi divergence of order >= 1 after Laplace noise of scale 1/level,
    for any coupling: ``exp((a-1) D_a)`` is jointly convex (van Erven and Harremoes 2014).
    At order 1: ``E[t - 1 + e^{-t}]``.
    """
    moved = distances * level
    largest = float(moved.max())
    if order == 1:
        rates = distances * -np.expm1(-moved)
        return float(weights @ laplace_excess(moved, order)), float(weights @ rates)
    top = (order - 1) * largest
    if top < _SMALL:
        excess = (order - 1) * float(weights @ laplace_excess(moved, order))
        value, scale = math.log1p(excess) / (order - 1), 1 / (1 + excess)
        top = 0.0
    else:
        front, back = order / (2 * order - 1), (order - 1) / (2 * order - 1)
        terms = front * np.exp((order - 1) * moved - top) + back * np.exp(-order * moved - top)
        total = float(weights @ terms)
        value, scale = (top + math.log(total)) / (order - 1), 1 / total
    growth = np.exp((order - 1) * moved - top) - np.exp(-order * moved - top)
    slope = order / (2 * order - 1) * float((weights * distances) @ growth) * scale
    return value, slope


def rounded_up(value: float) -> float:
    """Return the next float: the division that made `value` may have rounded down."""
    return math.nextafter(value, math.inf) if 0 < value < math.inf else value


def rounded_down(value: float) -> float:
    """Return the previous float: the division that made `value` may have rounded up."""
    return math.nextafter(value, 0.0) if 0 < value < math.inf else value


def reciprocal(scale: float) -> float:
    """Return 1 / scale; inf for no noise."""
    return 1 / scale if scale > 0 else math.inf
