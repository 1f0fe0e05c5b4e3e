"""Densities of two discrete laws after the same noise, as the integrals need them.

Between atoms (Laplace) or everywhere (Gaussian), the log density of a noised law is a convex
function minus a base that both laws share, so that chords and tangents bound the log ratio on
any panel. A position is a knot (an atom of either law) and an offset from it, in units of the
noise scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray, IntArray, one_of
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.quadrature import LogFunction

NoiseName = Literal["laplace", "gaussian"]

_CHUNK = 2_000_000  # entries of the (points, atoms) table held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """One noised law: log density = `convex` - base, convex on each panel.

    Attributes
    ----------
    convex, slope : callable
        The convex part and its derivative at (anchor, offset); the slope serves inside panels.
    """

    convex: LogFunction
    slope: LogFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisedPair:
    """Laws ``P*N`` and ``Q*N`` in units of the noise scale.

    Attributes
    ----------
    p, q : Mixture
    base : callable
        The shared part, from the offset: log density of p is ``p.convex(k, x) - base(x)``.
    curvature : float
        Second derivative of the base: 1 for Gaussian noise, 0 for Laplace.
    knots : array
        Sorted positions of the atoms of both laws.
    ends : tuple of two floats
        Log ratio ``log p/q`` beyond the first knot and beyond the last, in the limit.
    rarest : float
        Log of the smallest weight of either law.
    only_p, only_q : Mixture, optional
        Gaussian only: what each law has at a knot beyond the other's weight there.
    """

    p: Mixture
    q: Mixture
    base: Callable[[FloatArray], FloatArray]
    curvature: float
    knots: FloatArray
    ends: tuple[float, float]
    rarest: float
    only_p: Mixture | None = None
    only_q: Mixture | None = None

    def log_ratio(self, anchor: IntArray, offset: FloatArray) -> FloatArray:
        """Return ``log p/q`` at each position."""
        return self.p.convex(anchor, offset) - self.q.convex(anchor, offset)

    def ratio_bounds(
        self, anchor: IntArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds on the log ratio over each panel [low, high].

        Laplace: the ratio is a Moebius function of ``e^{2x}`` between knots, hence monotone.
        Gaussian: a convex function lies below its chord and above its tangent at the middle;
        where the laws nearly agree, what only one of them has bounds the ratio better.
        """
        if self.curvature == 0:
            ends = self.log_ratio(anchor, low), self.log_ratio(anchor, high)
            return np.minimum(*ends), np.maximum(*ends)
        upper = self._most(self.p, self.q, anchor, low, high)
        lower = -self._most(self.q, self.p, anchor, low, high)
        if self.only_p is None or self.only_q is None:
            return lower, upper
        # r = log(1 + (u - v)/q), u and v being what P and Q have beyond their common part.
        extra = self._most(self.only_p, self.q, anchor, low, high)
        lack = self._most(self.only_q, self.q, anchor, low, high)
        with np.errstate(over="ignore", divide="ignore"):
            upper = np.minimum(upper, np.logaddexp(0.0, extra))
            lower = np.maximum(lower, np.log1p(-np.exp(np.minimum(lack, 0.0))))
        return lower, upper

    @staticmethod
    def _most(
        over: Mixture, under: Mixture, anchor: IntArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Bound the log ratio of two mixtures from above: chord of one, tangent of the other."""
        middle = (low + high) / 2
        value, slope = under.convex(anchor, middle), under.slope(anchor, middle)
        return np.maximum(
            over.convex(anchor, low) - value - slope * (low - middle),
            over.convex(anchor, high) - value - slope * (high - middle),
        )

    def bend(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return by how much a chord may lie below a log density on each panel."""
        return self.curvature * ((high - low) / 2) ** 2 / 2


def noised_pair(p: FiniteLaw, q: FiniteLaw, *, noise: NoiseName, scale: float) -> NoisedPair:
    """Return the pair of densities after Laplace (scale b) or Gaussian (deviation) noise."""
    scale = check.positive("scale", scale, infinite=False)
    if p.atoms.ndim != 1 or q.atoms.ndim != 1:
        raise ValueError("noised laws must be on the line, got points of several dimensions.")
    one_of("noise", noise, ("laplace", "gaussian"))
    knots = np.union1d(p.atoms, q.atoms)
    build = _laplace if noise == "laplace" else gaussian_pair
    return build(knots / scale, *(log_weights(law, knots) for law in (p, q)))


def log_weights(law: FiniteLaw, knots: FloatArray) -> FloatArray:
    """Return the log weight of the law at each knot, -inf where it has no atom."""
    logs = np.full(len(knots), -np.inf)
    logs[np.searchsorted(knots, law.atoms)] = np.log(law.weights)
    return logs


def _laplace(knots: FloatArray, log_p: FloatArray, log_q: FloatArray) -> NoisedPair:
    sides_p, sides_q = laplace_sides(knots, log_p), laplace_sides(knots, log_q)
    # Beyond the atoms the ratio is constant: that of the mass seen from the outermost knot.
    ends = float(sides_p[1][0] - sides_q[1][0]), float(sides_p[0][-1] - sides_q[0][-1])
    return NoisedPair(
        p=_laplace_mixture(knots, *sides_p),
        q=_laplace_mixture(knots, *sides_q),
        base=lambda x: np.full(x.shape, math.log(2)),
        curvature=0.0,
        knots=knots,
        ends=ends,
        rarest=_rarest(log_p, log_q),
    )


def laplace_sides(knots: FloatArray, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log of ``sum w e^{-(t - x)}`` over atoms x <= t, and over x >= t, at each knot t.

    Doubling windows: no large exponent is ever subtracted from another.
    """
    return _decayed(knots, logs), _decayed(-knots[::-1], logs[::-1])[::-1]


def _decayed(knots: FloatArray, logs: FloatArray) -> FloatArray:
    total, step = logs.copy(), 1
    while step < len(knots):
        total[step:] = np.logaddexp(total[step:], total[:-step] - (knots[step:] - knots[:-step]))
        step *= 2
    return total


def _laplace_mixture(knots: FloatArray, before: FloatArray, after: FloatArray) -> Mixture:
    gaps = np.append(np.diff(knots), np.inf)
    next_after, last_before = np.append(after[1:], 0.0), np.append(0.0, before[:-1])
    last_gaps = np.append(np.inf, gaps[:-1])

    def parts(anchor: IntArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return logs of what the atoms to the left and those to the right contribute."""
        right_side = offset >= 0
        left = np.where(
            right_side, before[anchor] - offset, last_before[anchor] - last_gaps[anchor] - offset
        )
        right = np.where(
            right_side, next_after[anchor] - gaps[anchor] + offset, after[anchor] + offset
        )
        return left, right

    def convex(anchor: IntArray, offset: FloatArray) -> FloatArray:
        return np.logaddexp(*parts(anchor, offset))

    def slope(anchor: IntArray, offset: FloatArray) -> FloatArray:
        left, right = parts(anchor, offset)
        return np.tanh((right - left) / 2)

    return Mixture(convex=convex, slope=slope)


def gaussian_pair(knots: FloatArray, log_p: FloatArray, log_q: FloatArray) -> NoisedPair:
    """Return the pair from log weights at knots in units of the deviation; any total mass."""

    def limit(end: int) -> float:
        if np.isinf(log_p[end]):
            return -math.inf
        return float(log_p[end] - log_q[end])

    return NoisedPair(
        p=_gaussian_mixture(knots, log_p),
        q=_gaussian_mixture(knots, log_q),
        base=lambda x: x**2 / 2 + math.log(2 * math.pi) / 2,
        curvature=1.0,
        knots=knots,
        ends=(limit(0), limit(-1)),
        rarest=_rarest(log_p, log_q),
        only_p=_gaussian_mixture(knots, _beyond(log_p, log_q)),
        only_q=_gaussian_mixture(knots, _beyond(log_q, log_p)),
    )


def _beyond(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log((np.exp(log_p) - np.exp(log_q)).clip(min=0))


def _rarest(*logs: FloatArray) -> float:
    return float(min(log[np.isfinite(log)].min() for log in logs))


def _gaussian_mixture(knots: FloatArray, logs: FloatArray) -> Mixture:
    atoms, weights = knots[np.isfinite(logs)], logs[np.isfinite(logs)]

    def tilted(anchor: IntArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``log sum w e^{d x - d^2/2}`` and the posterior mean of d = atom - anchor."""
        value, mean = np.full(offset.shape, -np.inf), np.zeros(offset.shape)
        if len(atoms) == 0:
            return value, mean
        rows = max(1, _CHUNK // len(atoms))
        for start in range(0, len(offset), rows):
            part = slice(start, start + rows)
            moved = atoms - knots[anchor[part], None]
            exponents = moved * (offset[part, None] - moved / 2) + weights
            top = exponents.max(axis=1)
            terms = np.exp(exponents - top[:, None])
            total = terms.sum(axis=1)
            value[part], mean[part] = top + np.log(total), (terms * moved).sum(axis=1) / total
        return value, mean

    return Mixture(convex=lambda k, x: tilted(k, x)[0], slope=lambda k, x: tilted(k, x)[1])
