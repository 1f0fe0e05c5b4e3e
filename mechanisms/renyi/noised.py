"""Densities of two discrete laws after the same noise, as the integrals need them.

Between atoms (Laplace) or everywhere (Gaussian), the log density of a noised law is a convex
function minus a base that both laws share, so that chords and tangents bound the log ratio on
any panel. Positions are in units of the noise scale, centred on the atoms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.coupling import DiscreteLaw

Noise = Literal["laplace", "gaussian"]
Curve = Callable[[FloatArray], FloatArray]

_CHUNK = 2_000_000  # entries of the (points, atoms) table held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """One noised law: log density = `convex` - base, convex between neighbouring edges.

    Attributes
    ----------
    convex, slope : callable
        The convex part and its derivative, vectorised; the slope is used inside panels only.
    """

    convex: Curve
    slope: Curve


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisedPair:
    """Laws ``P*N`` and ``Q*N`` in units of the noise scale.

    Attributes
    ----------
    p, q : Mixture
    base : callable
        The shared part: log density of p is ``p.convex(y) - base(y)``.
    curvature : float
        Second derivative of the base: 1 for Gaussian noise, 0 for Laplace.
    knots : array
        Sorted positions of the atoms of both laws.
    ends : tuple of two floats
        Log ratio ``log p/q`` beyond the first knot and beyond the last, in the limit.
    rarest : float
        Log of the smallest weight of either law.
    """

    p: Mixture
    q: Mixture
    base: Curve
    curvature: float
    knots: FloatArray
    ends: tuple[float, float]
    rarest: float

    def log_ratio(self, y: FloatArray) -> FloatArray:
        """Return ``log p(y)/q(y)``."""
        return self.p.convex(y) - self.q.convex(y)

    def ratio_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds on the log ratio over each panel [low, high].

        A convex function lies below its chord and above its tangent at the middle.
        """
        middle = (low + high) / 2
        p, q = self.p.convex(middle), self.q.convex(middle)
        sp, sq = self.p.slope(middle), self.q.slope(middle)
        lower, upper = np.full(low.shape, np.inf), np.full(low.shape, -np.inf)
        for end in (low, high):
            step = end - middle
            upper = np.maximum(upper, self.p.convex(end) - q - sq * step)
            lower = np.minimum(lower, p + sp * step - self.q.convex(end))
        return lower, upper

    def bend(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return by how much a chord may lie below a log density on each panel."""
        return self.curvature * ((high - low) / 2) ** 2 / 2


def noised_pair(p: DiscreteLaw, q: DiscreteLaw, *, noise: Noise, scale: float) -> NoisedPair:
    """Return the pair of densities after Laplace (scale b) or Gaussian (deviation) noise."""
    scale = check.positive("scale", scale, infinite=False)
    if p.atoms.ndim != 1 or q.atoms.ndim != 1:
        raise ValueError("noised laws must be on the line, got points of several dimensions.")
    if noise not in ("laplace", "gaussian"):
        raise ValueError(f"noise must be 'laplace' or 'gaussian', got noise={noise!r}.")
    knots = np.union1d(p.atoms, q.atoms)
    centre = (knots[0] + knots[-1]) / 2
    build = _laplace if noise == "laplace" else _gaussian
    return build((knots - centre) / scale, *(_log_weights(law, knots) for law in (p, q)))


def _log_weights(law: DiscreteLaw, knots: FloatArray) -> FloatArray:
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
        base=lambda y: np.full(y.shape, math.log(2)),
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
    def parts(y: FloatArray) -> tuple[FloatArray, FloatArray]:
        i = np.searchsorted(knots, y, side="right").clip(1, max(len(knots) - 1, 1)) - 1
        j = np.minimum(i + 1, len(knots) - 1)
        return before[i] - (y - knots[i]), after[j] - (knots[j] - y)

    def convex(y: FloatArray) -> FloatArray:
        return np.logaddexp(*parts(y))

    def slope(y: FloatArray) -> FloatArray:
        left, right = parts(y)
        return np.tanh((right - left) / 2)

    return Mixture(convex=convex, slope=slope)


def _gaussian(knots: FloatArray, log_p: FloatArray, log_q: FloatArray) -> NoisedPair:
    def limit(end: int) -> float:
        if np.isinf(log_p[end]):
            return -math.inf
        return float(log_p[end] - log_q[end])

    return NoisedPair(
        p=_gaussian_mixture(knots, log_p),
        q=_gaussian_mixture(knots, log_q),
        base=lambda y: y**2 / 2 + math.log(2 * math.pi) / 2,
        curvature=1.0,
        knots=knots,
        ends=(limit(0), limit(-1)),
        rarest=_rarest(log_p, log_q),
    )


def _rarest(*logs: FloatArray) -> float:
    return float(min(log[np.isfinite(log)].min() for log in logs))


def _gaussian_mixture(knots: FloatArray, logs: FloatArray) -> Mixture:
    atoms = knots[np.isfinite(logs)]
    level = logs[np.isfinite(logs)] - atoms**2 / 2

    def tilted(y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the cumulant ``log sum w e^{t y - t^2/2}`` and the posterior mean of t."""
        value, mean = np.empty(y.shape), np.empty(y.shape)
        rows = max(1, _CHUNK // len(atoms))
        for start in range(0, len(y), rows):
            part = slice(start, start + rows)
            exponents = y[part, None] * atoms + level
            top = exponents.max(axis=1)
            exponents -= top[:, None]
            terms = np.exp(exponents, out=exponents)
            total = terms.sum(axis=1)
            value[part], mean[part] = top + np.log(total), terms @ atoms / total
        return value, mean

    return Mixture(convex=lambda y: tilted(y)[0], slope=lambda y: tilted(y)[1])
