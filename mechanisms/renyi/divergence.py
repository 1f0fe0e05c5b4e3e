"""Exact Renyi divergences: of discrete laws, and of their sums with Laplace or Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import exprel

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.coupling import DiscreteLaw
from mechanisms.renyi.noised import Noise, NoisedPair, noised_pair
from mechanisms.renyi.quadrature import LogFunction, PanelBound, log_integral, supremum

_TAIL = 40.0  # deviations beyond the last possible peak: e^-800 of the integral lies outside
_SUPREMUM_GAP = 1e-12


def renyi_divergence(p: DiscreteLaw, q: DiscreteLaw, *, order: float) -> float:
    """Return ``D_order(P || Q)`` of two discrete laws, order in (0, inf]; exact.

    ``log(sum p^a q^(1-a)) / (a-1)``; order 1 is the Kullback-Leibler divergence, order inf the
    log of the largest ratio. inf where P has an atom that Q lacks (order >= 1).
    """
    order = check.within("order", order, 0, math.inf, ends="(]")
    points = np.concatenate([p.atoms, q.atoms])
    _, where = np.unique(points, axis=0, return_inverse=True)
    wp, wq = np.zeros((2, int(where.max()) + 1))
    wp[where[: len(p.atoms)]], wq[where[len(p.atoms) :]] = p.weights, q.weights
    if order >= 1 and (wp[wq == 0] > 0).any():
        return math.inf
    shared = (wp > 0) & (wq > 0)
    if not shared.any():
        return math.inf
    ratio, log_q = np.log(wp[shared] / wq[shared]), np.log(wq[shared])
    if math.isinf(order):
        return max(0.0, float(ratio.max()))
    if order < 1:
        return max(0.0, float(np.logaddexp.reduce(order * ratio + log_q)) / (order - 1))
    # Atoms of Q alone have ratio 0, where the excess function is 1.
    terms = np.append(log_q + log_excess(ratio, order), np.log(wq[wp == 0]))
    return _from_log_excess(float(np.logaddexp.reduce(terms)), order)


def log_excess(ratio: FloatArray, order: float) -> FloatArray:
    """Return ``log h(r)``, where ``E_Q[h(log p/q)] = (E_Q[(p/q)^a] - 1)/(a-1)`` and h >= 0.

    ``h(r) = (e^{ar} - a e^r)/(a-1) + 1``, at order 1 ``(r - 1) e^r + 1``: an integrand without
    cancellation, so that small divergences keep their relative accuracy.
    """
    a = order
    reach = max(a, 1.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        plain = np.log(ratio * exprel((a - 1) * ratio) * np.exp(ratio) - np.expm1(ratio))
        # The same with the largest exponential taken out.
        x = (a - 1) * ratio
        if a > 1:
            rest = -np.expm1(-x) / (a - 1) - np.exp(-x) + np.exp(-a * ratio)
        else:
            rest = ratio * exprel(x) - 1 + np.exp(-ratio)
        far = reach * ratio + np.log(rest)
    series, power, gain = np.zeros_like(ratio), ratio.copy(), 0.0
    for k in range(2, 10):
        power = power * ratio / k
        gain = gain * a + a  # (a^k - a)/(a - 1)
        series = series + gain * power
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log(series)
    return np.where(np.abs(reach * ratio) < 0.05, near, np.where(ratio * reach > 30, far, plain))


def _from_log_excess(log_mean: float, order: float) -> float:
    if order == 1:
        return math.exp(log_mean)
    if order > 1:
        return float(np.logaddexp(0.0, math.log(order - 1) + log_mean)) / (order - 1)
    return math.log1p((order - 1) * math.exp(log_mean)) / (order - 1)


def noised_divergence(
    p: DiscreteLaw, q: DiscreteLaw, *, order: float, noise: Noise, scale: float
) -> float:
    """Return ``D_order(P*N || Q*N)`` for Laplace or Gaussian noise of the given scale.

    Parameters
    ----------
    p, q : DiscreteLaw
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
    >>> zero, one = (DiscreteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
    >>> round(noised_divergence(zero, one, order=2, noise="gaussian", scale=2.0), 12)
    0.25
    """
    order = check.within("order", order, 0, math.inf, ends="(]")
    pair = noised_pair(p, q, noise=noise, scale=scale)
    if len(pair.knots) == 1:
        return 0.0
    if math.isinf(order):
        return _largest_log_ratio(pair)
    if order >= 1:
        return _from_log_excess(_log_mean_excess(pair, order), order)
    # Hellinger integral; where it is close to 1 the excess form keeps relative accuracy.
    direct = _log_hellinger(pair, order)
    if direct < -0.1:
        return direct / (order - 1)
    return _from_log_excess(_log_mean_excess(pair, order), order)


def worst_noised_divergence(
    p: DiscreteLaw, q: DiscreteLaw, *, order: float, noise: Noise, scale: float
) -> float:
    """Return the larger of `noised_divergence` in both directions; scale 0 means no noise."""
    if scale == 0:
        return max(renyi_divergence(a, b, order=order) for a, b in ((p, q), (q, p)))
    return max(
        noised_divergence(a, b, order=order, noise=noise, scale=scale) for a, b in ((p, q), (q, p))
    )


def _log_mean_excess(pair: NoisedPair, order: float) -> float:
    def integrand(y: FloatArray) -> FloatArray:
        convex = pair.q.convex(y)
        return log_excess(pair.p.convex(y) - convex, order) + convex - pair.base(y)

    def bound(low: FloatArray, high: FloatArray) -> FloatArray:
        least, most = pair.ratio_bounds(low, high)
        densest = np.maximum(pair.q.convex(low) - pair.base(low), pair.q.convex(high) - pair.base(high))
        # The excess falls for r < 0 and grows for r > 0.
        excess = np.maximum(log_excess(least, order), log_excess(most, order))
        # A peak of p^a q^(1-a) far from both laws: bound the sum of exponents, not each of them.
        joint = _power_bound(pair, order, low, high)
        return np.minimum(densest + pair.bend(low, high) + excess, joint)

    def tail(ratio: float) -> float:
        return float(log_excess(np.array([ratio]), order)[0])

    return _integrate(pair, order, integrand, bound, tail)


def _power_bound(
    pair: NoisedPair, order: float, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Bound ``log(q h)`` on a panel through ``q h <= (p^a q^(1-a) + (a-1) q)/(a-1)``, a > 1."""
    if order <= 1:
        return np.full(low.shape, np.inf)
    middle = (low + high) / 2
    tangent, slope = pair.q.convex(middle), pair.q.slope(middle)
    power, plain = np.full(low.shape, -np.inf), np.full(low.shape, -np.inf)
    for end in (low, high):
        line = tangent + slope * (end - middle)
        power = np.maximum(power, order * pair.p.convex(end) - (order - 1) * line - pair.base(end))
        plain = np.maximum(plain, pair.q.convex(end) - pair.base(end))
    bend = pair.bend(low, high)
    return np.logaddexp(power + bend - math.log(order - 1), plain + bend)


def _log_hellinger(pair: NoisedPair, order: float) -> float:
    def integrand(y: FloatArray) -> FloatArray:
        return order * pair.p.convex(y) + (1 - order) * pair.q.convex(y) - pair.base(y)

    def bound(low: FloatArray, high: FloatArray) -> FloatArray:
        return np.maximum(integrand(low), integrand(high)) + pair.bend(low, high)

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
        outside = [
            float(pair.q.convex(knots[[end]])[0]) - math.log(2) + tail(pair.ends[end])
            for end in (0, -1)
        ]
        return float(np.logaddexp.reduce([log_integral(integrand, bound, knots), *outside]))
    # Gaussian: every stationary point is a tilted mean a x - (a-1) x' of atoms.
    reach = knots[-1] + max(order, 1.0) * (knots[-1] - knots[0]) + _TAIL
    return log_integral(integrand, bound, panel_edges(knots, reach))


def panel_edges(knots: FloatArray, reach: float) -> FloatArray:
    """Return edges over [-reach, reach]: even ones between the knots, doubling steps beyond."""
    steps = np.append(0.0, 2.0 ** np.arange(0.0, max(1.0, math.log2(reach - knots[-1]))))
    outer = np.append(knots[-1] + steps, reach)
    return np.unique(np.concatenate([-outer, np.linspace(knots[0], knots[-1], 17), outer]))


def _largest_log_ratio(pair: NoisedPair) -> float:
    knots = pair.knots
    if pair.curvature == 0:
        # Between atoms the ratio is monotone (a Moebius function of e^{2y}): it peaks at one.
        return max(0.0, float(pair.log_ratio(knots).max()))
    if math.inf in pair.ends:
        return math.inf
    # Beyond `reach` the second knot from the end adds less than e^-45 to either density.
    gap = min(knots[1] - knots[0], knots[-1] - knots[-2])
    edges = panel_edges(knots, float(knots[-1] + (45 - pair.rarest) / gap))
    slack = _SUPREMUM_GAP + 1e-14 * float(np.abs(pair.p.convex(edges)).max())
    inside = supremum(pair.log_ratio, lambda a, b: pair.ratio_bounds(a, b)[1], edges, gap=slack)
    return max(0.0, inside, *pair.ends)
