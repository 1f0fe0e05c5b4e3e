"""Exact leakage of Laplace noise along one direction on answers that differ in others as well."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from mechanisms.check import FloatArray
from mechanisms.leakage.laplace_shift import log_density_gaussian_plus_laplace
from mechanisms.privacy.bracket import Bracket

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
TAIL = 1e-16
ROUNDED = 1e-10


@dataclass(frozen=True, kw_only=True)
class PartlyNoised:
    """A Gaussian shift that is never noised, and beside it a scalar one under Laplace noise.

    The two parts are independent, so that their log ratios add up: given that of the noised part,
    l(s), the trade-off is that of the Gaussian part at epsilon - l(s). One integral over s is left.

    Parameters
    ----------
    across : float in [0, inf)
        Mahalanobis distance of the part without noise.
    distance, spread, scale : float
        Of the noised part: its shift, the answers' own deviation, the scale of the noise.
    """

    across: float
    distance: float
    spread: float
    scale: float

    def _grid(self, panels: int) -> tuple[FloatArray, FloatArray]:
        """Return points and weights of a Gauss rule, with ends where Laplace densities have kinks.

        What lies beyond has a mass below 1e-16 under both laws.
        """
        reach = self.scale * -math.log(TAIL) + 9 * self.spread
        near = 8 * self.spread  # the answers' spread rounds the kinks
        ends = np.unique(
            np.concatenate(
                [
                    np.linspace(low, high, panels)
                    for low, high in (
                        (-reach, 0.0), (0.0, self.distance), (self.distance, self.distance + reach),
                        (-near, near), (self.distance - near, self.distance + near),
                    )
                ]
            )
        )  # fmt: skip
        half = np.diff(ends) / 2
        points = (ends[:-1] + half)[:, None] + half[:, None] * NODES
        return points.ravel(), (half[:, None] * WEIGHTS).ravel()

    @cached_property
    def _rules(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Masses and log ratios at the points of a coarse and of a fine rule."""
        found = []
        for panels in (60, 120):
            s, weight = self._grid(panels)
            first = log_density_gaussian_plus_laplace(s - self.distance, self.spread, self.scale)
            second = log_density_gaussian_plus_laplace(s, self.spread, self.scale)
            found.append((weight * np.exp(first), first - second))
        return tuple(found)

    def _mean(self, values: tuple[FloatArray, FloatArray]) -> Bracket:
        """Return an expectation; the two rules' difference bounds the error of the fine one."""
        coarse, fine = (float(mass @ v) for (mass, _), v in zip(self._rules, values, strict=True))
        error = 10 * abs(fine - coarse) + ROUNDED * (1 + abs(fine))
        return Bracket(fine - error, fine + error)

    def delta(self, epsilon: float) -> Bracket:
        """Return the mean of the Gaussian part's delta at epsilon minus the log ratio."""
        if epsilon == math.inf:
            return Bracket(0.0, 0.0)
        coarse, fine = (signed_deltas(epsilon - ratio, self.across) for _, ratio in self._rules)
        found = self._mean((coarse, fine))
        return Bracket(max(0.0, found.lo), min(1.0, max(0.0, found.hi)))

    def epsilon(self, delta: float) -> Bracket:
        """Invert delta; the upper end is rounded up."""
        top = self.distance / self.scale
        if delta == 0:
            worst = top if self.across < ROUNDED else math.inf
            return Bracket(worst, worst)
        # The Gaussian part alone at this delta, and the largest ratio of the other part.
        high = top + self.across * (self.across / 2 + max(0.0, -float(ndtri(delta))) + 1)
        ends = []
        for end in ("lo", "hi"):
            below, above = 0.0, high
            if getattr(self.delta(0.0), end) <= delta:
                ends.append(0.0)
                continue
            while above - below > 1e-10 * max(1.0, high):
                middle = (below + above) / 2
                over = getattr(self.delta(middle), end) > delta
                below, above = (middle, above) if over else (below, middle)
            ends.append(above if end == "hi" else below)
        return Bracket(ends[0], ends[1])

    def renyi(self, order: float) -> Bracket:
        """Return the sum of the two parts' divergences."""
        gaussian = order * self.across**2 / 2 if self.across else 0.0
        if order == math.inf:
            return self.epsilon(0.0)
        if order == 1:
            found = self._mean(tuple(ratio for _, ratio in self._rules))  # type: ignore[arg-type]
            return Bracket(max(0.0, gaussian + found.lo), gaussian + found.hi)
        tilted = tuple(np.exp((order - 1) * ratio) for _, ratio in self._rules)
        found = self._mean(tilted)  # type: ignore[arg-type]
        ends = sorted(math.log(v) / (order - 1) for v in (found.lo, found.hi))
        return Bracket(gaussian + max(0.0, ends[0]), gaussian + max(0.0, ends[1]))

    def accuracy(self) -> Bracket:
        """Return (1 + total variation) / 2."""
        found = self.delta(0.0)
        return Bracket(0.5 + found.lo / 2, 0.5 + found.hi / 2)


def signed_deltas(epsilons: FloatArray, distance: float) -> FloatArray:
    """Return the Gaussian delta at epsilons of either sign (Balle and Wang, 2018, Theorem 8)."""
    if distance < ROUNDED:  # less than the error that every number here carries
        return np.maximum(0.0, -np.expm1(np.minimum(epsilons, 0.0)))
    first = ndtr(distance / 2 - epsilons / distance)
    second = np.exp(epsilons + log_ndtr(-distance / 2 - epsilons / distance))
    return np.maximum(first - second, 0.0)
