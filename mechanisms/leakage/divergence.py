"""Exact Renyi divergences: of discrete laws, and of their sums with Laplace or Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.log_excess import from_log_excess, log_excess
from mechanisms.leakage.noisy_mixtures import NoisedPair, NoiseName, noised_pair
from mechanisms.leakage.pair import finite_renyi
from mechanisms.leakage.quadrature import (
    GAUSSIAN_SPACING,
    LogFunction,
    PanelBound,
    log_integral,
    panels,
    supremum,
)

_TAIL = 40.0  # deviations beyond the last possible peak: e^-800 of the integral lies outside
_SUPREMUM_GAP = 1e-12
_ULPS = 2.0**-49


def renyi_divergence(p: FiniteLaw, q: FiniteLaw, *, order: float) -> float:
    """Return ``D_order(P || Q)`` of two discrete laws, order in (0, inf]; exact.

    ``log(sum p^a q^(1-a)) / (a-1)``; order 1 is the Kullback-Leibler divergence, order inf the
    log of the largest ratio. inf where P has an atom that Q lacks (order >= 1).
    """
    order = check.within("order", order, 0, math.inf, ends="(]")
    points = np.concatenate([p.atoms, q.atoms])
    _, where = np.unique(points, axis=0, return_inverse=True)
    wp, wq = np.zeros((2, int(where.max()) + 1))
    wp[where[: len(p.atoms)]], wq[where[len(p.atoms) :]] = p.weights, q.weights
    return finite_renyi(wp, wq, order)


def noised_divergence(
    p: FiniteLaw, q: FiniteLaw, *, order: float, noise: NoiseName, scale: float
) -> float:
    """Return ``D_order(P*N || Q*N)`` for Laplace or Gaussian noise of the given scale.

    Parameters
    ----------
    p, q : FiniteLaw
        Laws on the line, before noise.
    order : float in (0, inf]
    noise : {"laplace", "gaussian"}
    scale : float in (0, inf)
        Scale b of the Laplace law, or standard deviation.

    Returns
    -------
    float
        Exact up to quadrature, relative error below 1e-9; at order inf an upper bound within
        1e-12 (for Gaussian noise; exact for Laplace). Not symmetric: a secret pair needs both.

    Examples
    --------
    >>> zero, one = (FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
    >>> round(noised_divergence(zero, one, order=2, noise="gaussian", scale=2.0), 12)
    0.25
    """
    order = check.within("order", order, 0, math.inf, ends="(]")
    pair = noised_pair(p, q, noise=noise, scale=scale)
    if len(pair.knots) == 1:
        return 0.0
    if math.isinf(order):
        return _largest_log_ratio(pair, renyi_divergence(p, q, order=math.inf))
    if order >= 1:
        return from_log_excess(_log_mean_excess(pair, order), order)
    # Hellinger integral; where it is close to 1 the excess form keeps relative accuracy.
    direct = _log_hellinger(pair, order)
    if direct < -0.1:
        return direct / (order - 1)
    return from_log_excess(_log_mean_excess(pair, order), order)


def worst_noised_divergence(
    p: FiniteLaw, q: FiniteLaw, *, order: float, noise: NoiseName, scale: float
) -> float:
    """Return the larger of `noised_divergence` in both directions; scale 0 means no noise."""
    if scale == 0:
        return max(renyi_divergence(a, b, order=order) for a, b in ((p, q), (q, p)))
    return max(
        noised_divergence(a, b, order=order, noise=noise, scale=scale) for a, b in ((p, q), (q, p))
    )


def _log_mean_excess(pair: NoisedPair, order: float) -> float:
    def integrand(anchor: IntArray, offset: FloatArray) -> FloatArray:
        log_q = pair.q.convex(anchor, offset)
        excess = log_excess(pair.p.convex(anchor, offset) - log_q, order)
        return excess + log_q - pair.base(offset)

    def bound(anchor: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        least, most = pair.ratio_bounds(anchor, low, high)
        log_q = np.maximum(
            pair.q.convex(anchor, low) - pair.base(low),
            pair.q.convex(anchor, high) - pair.base(high),
        )
        # The excess falls for r < 0 and grows for r > 0.
        excess = np.maximum(log_excess(least, order), log_excess(most, order))
        most_log = log_q + pair.bend(low, high) + excess
        if order != 1:
            most_log = np.minimum(most_log, _power_bound(pair, order, anchor, low, high))
        # Near equality the excess is r^2/2 and inherits twice the relative noise of r.
        largest = np.maximum(np.maximum(np.abs(least), np.abs(most)), 1e-300)
        return most_log, _noise(most_log, order, largest) + _ULPS / largest

    def tail(ratio: float) -> float:
        return float(log_excess(np.array([ratio]), order)[0])

    return _integrate(pair, order, integrand, bound, tail)


def _noise(log_f: FloatArray, order: float, ratio: FloatArray) -> FloatArray:
    """Return the rounding noise of a log integrand made of terms of these sizes."""
    return _ULPS * (1 + np.abs(log_f) + order * ratio)


def _power_bound(
    pair: NoisedPair, order: float, anchor: IntArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Bound ``log(q h)`` on a panel by the exponents of ``p^a q^(1-a)``, p and q themselves.

    Tighter than bounding q and h apart where the peak lies far from both laws.
    """
    middle = (low + high) / 2
    log_q, slope = pair.q.convex(anchor, middle), pair.q.slope(anchor, middle)
    power, log_p = np.full(low.shape, -np.inf), np.full(low.shape, -np.inf)
    plain = np.full(low.shape, -np.inf)
    for end in (low, high):
        tangent = log_q + slope * (end - middle)
        p, q, base = pair.p.convex(anchor, end), pair.q.convex(anchor, end), pair.base(end)
        other = tangent if order > 1 else q
        power = np.maximum(power, order * p + (1 - order) * other - base)
        log_p, plain = np.maximum(log_p, p - base), np.maximum(plain, q - base)
    if order > 1:  # (a-1) q h = p^a q^(1-a) - a p + (a-1) q
        terms = np.logaddexp(power - math.log(order - 1), plain)
    else:  # (1-a) q h = a p + (1-a) q - p^a q^(1-a)
        terms = np.logaddexp(log_p + math.log(order / (1 - order)), plain)
    return terms + pair.bend(low, high)


def _log_hellinger(pair: NoisedPair, order: float) -> float:
    def integrand(anchor: IntArray, offset: FloatArray) -> FloatArray:
        log_p, log_q = pair.p.convex(anchor, offset), pair.q.convex(anchor, offset)
        return order * log_p + (1 - order) * log_q - pair.base(offset)

    def bound(anchor: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        most = np.maximum(integrand(anchor, low), integrand(anchor, high)) + pair.bend(low, high)
        return most, _noise(most, order, np.zeros_like(low))

    return _integrate(pair, order, integrand, bound, lambda ratio: order * ratio)


def _integrate(
    pair: NoisedPair,
    order: float,
    integrand: LogFunction,
    bound: PanelBound,
    tail: Callable[[float], float],
) -> float:
    """Integrate over the line; `tail` gives the log integrand relative to q at a log ratio."""
    knots = pair.knots
    if pair.curvature == 0:
        # Laplace: beyond the outermost knots both densities are pure exponentials.
        ends = np.array([0, len(knots) - 1])
        outside = pair.q.convex(ends, np.zeros(2)) - math.log(2) + [tail(r) for r in pair.ends]
        inside = log_integral(integrand, bound, panels(knots))
        return float(np.logaddexp.reduce([inside, *outside]))
    # Gaussian: every stationary point is a tilted mean a x - (a-1) x' of atoms.
    reach = max(order, 1.0) * float(knots[-1] - knots[0]) + _TAIL
    return log_integral(integrand, bound, panels(knots, reach=reach, spacing=GAUSSIAN_SPACING))


def _largest_log_ratio(pair: NoisedPair, ceiling: float) -> float:
    """Return the supremum of the log ratio; noise never lifts it above `ceiling`."""
    knots = pair.knots
    if pair.curvature == 0:
        # Between atoms the ratio is monotone (a Moebius function of e^{2y}): it peaks at one.
        return max(0.0, float(pair.log_ratio(np.arange(len(knots)), np.zeros(len(knots))).max()))
    if math.inf in pair.ends:
        return math.inf
    # Beyond `reach` the second knot from the end adds less than e^-45 to either density.
    gap = float(min(knots[1] - knots[0], knots[-1] - knots[-2]))
    over = panels(knots, reach=(45 - pair.rarest) / gap, spacing=GAUSSIAN_SPACING)

    def bound(anchor: IntArray, low: FloatArray, high: FloatArray) -> FloatArray:
        return np.minimum(pair.ratio_bounds(anchor, low, high)[1], ceiling)

    return max(0.0, supremum(pair.log_ratio, bound, over, gap=_SUPREMUM_GAP), *pair.ends)
