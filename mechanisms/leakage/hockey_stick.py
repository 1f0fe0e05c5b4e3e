"""Exact (epsilon, delta) between two discrete laws after the same noise."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from mechanisms import check
from mechanisms.check import FloatArray, one_of
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.divergence import noised_divergence
from mechanisms.leakage.noisy_mixtures import NoiseName, gaussian_pair, laplace_sides, log_weights
from mechanisms.leakage.quadrature import GAUSSIAN_SPACING, panels
from mechanisms.leakage.root import smallest_monotone
from mechanisms.privacy.bracket import Bracket

_TAIL = 40.0  # deviations beyond the atoms: mass below 1e-300
_GAP = 1e-12  # widest bracket left open, relative to delta
_MAX_PANELS = 20_000  # undecided panels at which a wider bracket is returned


def hockey_stick(
    p: FiniteLaw, q: FiniteLaw, *, epsilon: float, noise: NoiseName, scale: float
) -> Bracket:
    """Return ``delta(epsilon)``, the integral of ``(p - e^epsilon q)_+`` after noise.

    Laplace: closed form, since the log ratio is monotone between neighbouring atoms. Gaussian: a
    rigorous bracket, closed to a relative 1e-12: panels are split until chords and tangents
    tell the sign. Up to rounding of order 1e-15.

    Parameters
    ----------
    p, q : FiniteLaw
        Laws on the line, before noise. One direction only: a secret pair needs both.
    epsilon : float
        Any finite number (negative ones serve unequal priors).
    noise : {"laplace", "gaussian"}
    scale : float in (0, inf)

    Examples
    --------
    >>> zero, one = (FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
    >>> exact = hockey_stick(zero, one, epsilon=0.0, noise="laplace", scale=1.0)
    >>> round(exact.hi, 12) == round(1 - math.exp(-0.5), 12)
    True
    """
    epsilon = check.within("epsilon", epsilon, -math.inf, math.inf, ends="()")
    scale = check.positive("scale", scale, infinite=False)
    one_of("noise", noise, ("laplace", "gaussian"))
    if noise == "laplace":
        value = min(1.0, _laplace(p, q, epsilon, scale))
        return Bracket(value, value)
    return _gaussian(p, q, epsilon, scale)


def _laplace(p: FiniteLaw, q: FiniteLaw, epsilon: float, scale: float) -> float:
    knots = np.union1d(p.atoms, q.atoms)
    gaps = np.diff(knots) / scale
    p_left, p_right = laplace_sides(knots / scale, log_weights(p, knots))
    q_left, q_right = laplace_sides(knots / scale, log_weights(q, knots))
    # On each gap the difference is (a e^-w + c e^(w-gap))/2, w the offset from its left knot.
    a = _weighted_difference(p_left[:-1], q_left[:-1], epsilon)
    c = _weighted_difference(p_right[1:], q_right[1:], epsilon)
    both = (a >= 0) & (c >= 0)
    inside = np.where(both, (a + c) * -np.expm1(-gaps), 0.0)
    inside += _positive_part(a, c, gaps) + _positive_part(c, a, gaps)
    # Beyond the atoms it is a pure exponential.
    left = _weighted_difference(p_right[:1], q_right[:1], epsilon)
    right = _weighted_difference(p_left[-1:], q_left[-1:], epsilon)
    return float(inside.sum() + left.clip(min=0).sum() + right.clip(min=0).sum()) / 2


def _weighted_difference(log_p: FloatArray, log_q: FloatArray, epsilon: float) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.exp(log_p) - np.exp(log_q + epsilon)


def _positive_part(higher_is_better: FloatArray, other: FloatArray, gaps: FloatArray) -> FloatArray:
    """Integrate ``(a e^-w + c e^(w-gap))_+`` over the gap where a > 0 > c, else 0.

    The sign changes at ``w* = (gap + log(a/-c))/2``; up to there the integral is
    ``a (1 - e^-w*)^2``.
    """
    mixed = (higher_is_better > 0) & (other < 0)
    a, c = np.where(mixed, higher_is_better, 1.0), np.where(mixed, other, -1.0)
    root = (gaps + np.log(a) - np.log(-c)) / 2
    part = np.where(root >= gaps, (a + c) * -np.expm1(-gaps), a * np.expm1(-root.clip(min=0)) ** 2)
    return np.where(mixed, part, 0.0)


def _gaussian(p: FiniteLaw, q: FiniteLaw, epsilon: float, scale: float) -> Bracket:
    knots = np.union1d(p.atoms, q.atoms)
    # The mass that both sides share cancels before noise: what is left has disjoint atoms.
    net = _weighted_difference(log_weights(p, knots), log_weights(q, knots), epsilon)
    if not np.isfinite(net).all():
        raise ArithmeticError(f"e^{epsilon:.6g} is beyond double precision")
    gains, losses = net.clip(min=0), (-net).clip(min=0)
    if not gains.any() or not losses.any():
        mass = min(1.0, float(gains.sum()))
        return Bracket(mass, mass)
    knots = knots / scale
    with np.errstate(divide="ignore"):
        pair = gaussian_pair(knots, np.log(gains), np.log(losses))
    over = panels(knots, reach=_TAIL, spacing=GAUSSIAN_SPACING)
    lower = upper = 0.0
    while True:
        least, most = pair.ratio_bounds(over.anchor, over.low, over.high)
        start = knots[over.anchor]
        gain = _mass(start, over.low, over.high, knots[gains > 0], gains[gains > 0])
        loss = _mass(start, over.low, over.high, knots[losses > 0], losses[losses > 0])
        positive = least >= 0
        sure = float((gain - loss)[positive].clip(min=0).sum())
        lower, upper = lower + sure, upper + sure
        # Where the log ratio r is at most `most`: (u - v)_+ <= (1 - e^-most) u.
        unknown = ~positive & (most > 0)
        room = -np.expm1(-most[unknown]) * gain[unknown]
        if room.sum() <= _GAP * max(upper, _GAP) or unknown.sum() > _MAX_PANELS:
            break
        over = over.halved(unknown)
    lower += float((gain - loss)[unknown].clip(min=0).sum())
    return Bracket(min(lower, 1.0), min(upper + float(room.sum()), 1.0))


def _mass(
    start: FloatArray, low: FloatArray, high: FloatArray, atoms: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the mass of each panel under a Gaussian mixture, by the smaller tail."""
    moved = start[:, None] - atoms
    a, b = moved + low[:, None], moved + high[:, None]
    flip = a > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    return (ndtr(b) - ndtr(a)) @ weights


def epsilon_for_delta(
    p: FiniteLaw, q: FiniteLaw, *, delta: float, noise: NoiseName, scale: float
) -> float:
    """Return the smallest epsilon >= 0 with ``delta(epsilon) <= delta`` in both directions.

    Rounded up (to 1e-11): the upper end of the bracket meets `delta`. At delta 0 it is the
    largest log ratio, which may be inf for Gaussian noise.
    """
    delta = check.within("delta", delta, 0, 1)
    ways = ((p, q), (q, p))
    if delta == 0:
        return max(
            noised_divergence(a, b, order=math.inf, noise=noise, scale=scale) for a, b in ways
        )

    def worst(epsilon: float) -> float:
        return max(
            hockey_stick(a, b, epsilon=epsilon, noise=noise, scale=scale).hi for a, b in ways
        )

    if worst(0.0) <= delta:
        return 0.0
    return smallest_monotone(worst, budget=delta, high=1.0, floor=1e-12)
