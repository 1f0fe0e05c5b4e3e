"""The log likelihood ratio of two Gaussians whose covariances may differ, and its trade-off.

In coordinates that diagonalise both covariances the log likelihood ratio is a sum of independent
quadratics, ``L = sum_k a_k z_k^2 + b_k z_k + c_k`` with standard normal z, whose moment generating
function M is known. The trade-off is then one integral along ``Re s = r``, -1 < r < 0:

``delta(eps) = 1 + 1/(2 pi i) int e^(-s eps) M(s) / (s (s + 1)) ds``.

The trapezoidal rule on such a line sums aliases ``delta(eps + j X) - 1`` (Abate and Whitt, 1992,
section 5), which are bounded in closed form, as is the truncated tail: every bracket is rigorous
up to floating-point rounding, for which a multiple of 1e-13 is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from mechanisms.check import FloatArray
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.privacy.bracket import Bracket

DECAY = 33.0  # e^-33 < 1e-14
TAIL = 1e-11
ROUNDING = 1e-13
LARGEST_GRID = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogRatio:
    """Law of ``log p/q`` under p, for ``p = N(shift, diag(variances))`` and ``q = N(0, I)``.

    Parameters
    ----------
    shift, variances : arrays of shape (m,)
        Variances in (0, inf).
    """

    shift: FloatArray
    variances: FloatArray

    def coefficients(self) -> tuple[FloatArray, FloatArray, float]:
        """Return a, b and the sum of c of ``a z^2 + b z + c`` with z standard normal."""
        a = (self.variances - 1) / 2
        b = self.shift * np.sqrt(self.variances)
        return a, b, float((self.shift**2 - np.log(self.variances)).sum() / 2)

    def log_moment(self, s: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Return log E[exp(s L)] at complex `s` with real part in (-1, reach)."""
        a, b, c = self.coefficients()
        total = c * s
        for a_k, b_k in zip(a, b, strict=True):
            factor = 1 - 2 * a_k * s
            total = total - np.log(factor) / 2 + (b_k * s) ** 2 / (2 * factor)
        return total

    def reach(self) -> float:
        """Return the supremum of real s with a finite moment; at least 0, possibly inf."""
        widest = float(self.variances.max())
        return 1 / (widest - 1) if widest > 1 else math.inf

    def renyi(self, order: float) -> float:
        """Return D_order(p || q) in closed form (Gil, Alajaji and Linder, 2013, Table 2)."""
        if order == math.inf:
            a, b, c = self.coefficients()
            bounded = (a < 0) | ((a == 0) & (b == 0))
            if not bounded.all():
                return math.inf
            curved = a < 0
            return max(0.0, c - float((b[curved] ** 2 / (4 * a[curved])).sum()))
        if order - 1 >= self.reach():
            return math.inf
        ratio = self.variances - 1
        spread = 1 + (1 - order) * ratio
        bent = ratio if order == 1 else np.log1p((1 - order) * ratio) / (1 - order)
        terms = order * self.shift**2 / spread + bent - np.log1p(ratio)
        return max(0.0, float(terms.sum()) / 2)

    def tradeoff(self, largest: float) -> Callable[[float], Bracket]:
        """Return epsilon -> bracket of delta, valid for every epsilon in [0, largest]."""
        a, b, _ = self.coefficients()
        curved = np.abs(a) > 0
        if not curved.any():
            distance = float(np.linalg.norm(b))
            return lambda epsilon: _around(gaussian_delta(epsilon, distance), 0.0)
        if curved.sum() == 1 and not b[~curved].any():
            k = int(curved.argmax())
            return lambda epsilon: _around(self._scalar_delta(k, epsilon), ROUNDING)
        return self._inversion(largest)

    def _inversion(self, largest: float) -> Callable[[float], Bracket]:
        line = -1 / (2 + largest / 2)
        period = max(DECAY / -line, (DECAY + largest) / (1 + line))
        step = 2 * math.pi / period

        def envelope(t: float) -> float:
            """Bound the integral beyond t: |M| falls along the line, and |s (s + 1)| >= t^2."""
            moment = math.exp(self.log_moment(np.array(complex(line, t))).real)
            return math.exp(-line * largest) * moment * (1 / t + step / t**2) / math.pi

        size = 64
        while envelope(size * step) > TAIL and size < LARGEST_GRID:
            size *= 2
        t = step * np.arange(size + 1)
        s = np.asarray(line + 1j * t, dtype=np.complex128)
        values = np.exp(self.log_moment(s)) / (s * (s + 1)) * (step / math.pi)
        values[0] /= 2  # the two halves of the line are conjugate and meet here
        # Phases grow with epsilon and with the constant of L, and their rounding errors with them.
        tail = envelope(size * step) + ROUNDING * (1 + largest + abs(self.coefficients()[2]))

        def delta(epsilon: float) -> Bracket:
            total = math.exp(-line * epsilon) * float(
                (values * np.exp(-1j * t * epsilon)).sum().real
            )
            # The aliases j > 0 and j < 0 only lower the sum.
            lost = (math.exp(line * period) + math.exp(epsilon - (1 + line) * period)) * 1.01
            return Bracket(_unit(1 + total - tail), _unit(1 + total + tail + lost))

        return delta

    def _scalar_delta(self, k: int, epsilon: float) -> float:
        """Integrate (p - e^eps q)_+ between the two roots of a parabola: one coordinate."""
        shift, spread = float(self.shift[k]), math.sqrt(float(self.variances[k]))
        # log p/q(y) = A y^2 + B y + C
        curvature = (1 - 1 / spread**2) / 2
        slope = shift / spread**2
        level = -(shift**2) / (2 * spread**2) - math.log(spread) - epsilon
        root = slope**2 - 4 * curvature * level
        if root <= 0:
            return 0.0  # p never exceeds e^eps q
        half = -(slope + math.copysign(math.sqrt(root), slope)) / 2
        low, high = sorted((half / curvature, level / half))
        measure = _between if curvature < 0 else _outside
        hit = measure((low - shift) / spread, (high - shift) / spread, 0.0)
        return hit - measure(low, high, epsilon)


def _between(low: float, high: float, log_weight: float) -> float:
    """Return e^log_weight P[low < z < high], by the tail that loses no digits."""
    if low > 0:
        low, high = -high, -low
    return math.exp(log_weight + log_ndtr(high)) - math.exp(log_weight + log_ndtr(low))


def _outside(low: float, high: float, log_weight: float) -> float:
    """Return e^log_weight P[z < low or z > high], z standard normal."""
    return math.exp(log_weight + log_ndtr(low)) + math.exp(log_weight + log_ndtr(-high))


def _around(value: float, error: float) -> Bracket:
    return Bracket(_unit(value - error), _unit(value + error))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
