"""Exact leakage of a shift under Laplace noise, with or without the data's own Gaussian spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtr

from mechanisms.check import FloatArray
from mechanisms.leakage.gaussian_tradeoff import gaussian_deltas
from mechanisms.leakage.root import RELATIVE
from mechanisms.privacy.bracket import Bracket, NotComputableError

MIXTURE_DRAWS = 1 << 16
FAILURE = 1e-9
HALVINGS = 14


def log_density_gaussian_plus_laplace(x: FloatArray, spread: float, scale: float) -> FloatArray:
    """Log density of N(0, spread^2) + Lap(scale) at `x`; exact, for spread >= 0 and scale > 0."""
    x = np.asarray(x, dtype=np.float64)
    if spread == 0:
        return -np.abs(x) / scale - math.log(2 * scale)
    at, ratio = x / spread, spread / scale
    return np.logaddexp(_log_tilted(at, ratio), _log_tilted(-at, ratio)) - math.log(2 * scale)


def survival_gaussian_plus_laplace(x: float, spread: float, scale: float) -> float:
    """Return P[N(0, spread^2) + Lap(scale) > x]; exact."""
    return math.exp(log_survival_gaussian_plus_laplace(x, spread, scale))


def log_survival_gaussian_plus_laplace(x: float, spread: float, scale: float) -> float:
    """Return log P[N(0, spread^2) + Lap(scale) > x]; exact also far out in the tail."""
    if x < 0:  # both laws are symmetric
        return math.log1p(-math.exp(log_survival_gaussian_plus_laplace(-x, spread, scale)))
    if spread == 0:
        return -x / scale - math.log(2)
    at, ratio = x / spread, spread / scale
    right, left = _log_tilted(np.array([-at, at]), ratio)
    # P[Gaussian > x] + (right - left) / 2, where right >= left for x >= 0.
    gap = right - math.log(2) + math.log1p(-math.exp(left - right)) if right > left else -math.inf
    return min(0.0, float(np.logaddexp(log_ndtr(-at), gap)))


def _log_tilted(u: FloatArray, ratio: float) -> FloatArray:
    """Return log(exp(ratio u + ratio^2 / 2) Phi(-u - ratio)) without cancellation."""
    y = u + ratio
    far = np.maximum(y, 0)  # exp(-y^2 / 2) is taken out of Phi: what remains is erfcx
    positive = -(u**2) / 2 + np.log(erfcx(far / math.sqrt(2)) / 2)
    return np.where(y > 0, positive, ratio * u + ratio**2 / 2 + log_ndtr(-y))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceShift:
    """T and T + distance, T = N(0, spread^2) + Lap(scale): a scalar, log-concave shift.

    The likelihood ratio is monotone, so every optimal test is a threshold.

    Parameters
    ----------
    distance : float in [0, inf)
    spread : float in [0, inf)
        Standard deviation of the data's own Gaussian variation; 0 for two point masses.
    scale : float in (0, inf)
        Scale of the Laplace noise.
    """

    distance: float
    spread: float
    scale: float

    def _log_ratio(self, t: float) -> float:
        at = np.array([t - self.distance, t])
        log_density = log_density_gaussian_plus_laplace(at, self.spread, self.scale)
        return float(log_density[0] - log_density[1])

    def delta(self, epsilon: float) -> Bracket:
        """Return P[T + d > t] - e^eps P[T > t] at the threshold where the log ratio is eps."""
        top = self.distance / self.scale
        if epsilon >= top:
            return Bracket(0.0, 0.0)
        middle = self.distance / 2
        if self.spread == 0:
            threshold = middle + self.scale * epsilon / 2
        elif self._log_ratio(middle) >= epsilon:  # 0 up to rounding
            threshold = middle
        else:
            reach = self.spread**2 / self.scale + 10 * self.spread + self.scale
            high = self.distance + reach
            while self._log_ratio(high) < epsilon and high < 1e6 * (reach + self.distance):
                high *= 2
            if self._log_ratio(high) < epsilon:  # the threshold lies beyond `high`
                tail = survival_gaussian_plus_laplace(high - self.distance, self.spread, self.scale)
                return Bracket(0.0, tail)
            threshold = float(
                brentq(lambda t: self._log_ratio(t) - epsilon, middle, high, **RELATIVE)
            )
        hit, false_alarm = (
            log_survival_gaussian_plus_laplace(t, self.spread, self.scale)
            for t in (threshold - self.distance, threshold)
        )
        value = max(0.0, -math.exp(hit) * math.expm1(min(0.0, epsilon + false_alarm - hit)))
        return Bracket(value, value)

    def epsilon(self, delta: float) -> Bracket:
        """Return distance/scale at delta = 0 (the tails), else invert delta, rounded up."""
        top = self.distance / self.scale
        if delta == 0 or top == 0:
            return Bracket(top, top)
        if self.delta(0.0).hi <= delta:
            return Bracket(0.0, 0.0)
        low, high = 0.0, top
        while high - low > 1e-10 * top:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle).hi > delta else (low, middle)
        return Bracket(high, high)

    def renyi(self, order: float) -> Bracket:
        """Integrate p^order q^(1 - order) numerically, error about 1e-9 (absolute or relative)."""
        if self.distance == 0:
            return Bracket(0.0, 0.0)
        if order == math.inf:
            return self.epsilon(0.0)

        def logs(t: float) -> FloatArray:
            at = np.array([t - self.distance, t])
            return log_density_gaussian_plus_laplace(at, self.spread, self.scale)

        tail = 40 * (self.scale + self.spread) + self.distance
        # p^order q^(1 - order) of two Gaussians is centred at order * distance; the Laplace tails
        # hold it back where they take over.
        centre = min(order * self.distance, self.distance + self.spread**2 / self.scale)
        low, high = -tail, centre + tail
        points = np.linspace(low, high, 4001)
        both = np.stack([logs(float(t)) for t in points])
        peak = float((order * both[:, 0] + (1 - order) * both[:, 1]).max())

        def integrand(t: float) -> float:
            p, q = logs(t)
            if order == 1:
                return math.exp(p) * (p - q)
            return math.exp(order * p + (1 - order) * q - peak)

        cuts = sorted({low, 0.0, self.distance / 2, self.distance, centre, high})
        floor = 1e-12 * (self.scale + self.spread)
        pieces = [
            quad(integrand, a, b, limit=200, epsabs=floor, epsrel=1e-10)[0]
            for a, b in pairwise(cuts)
        ]
        total = float(np.sum(pieces))
        value = total if order == 1 else (math.log(total) + peak) / (order - 1)
        return Bracket(max(0.0, value), max(0.0, value))

    def accuracy(self) -> Bracket:
        """Return P[T > -d/2]: the threshold lies half-way."""
        value = survival_gaussian_plus_laplace(-self.distance / 2, self.spread, self.scale)
        return Bracket(value, value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorLaplaceShift:
    """Gaussian answers in R^m shifted by `difference`, with independent Laplace noise.

    There is no one-dimensional sufficient statistic. Pure epsilon is exact (the far orthant of
    the difference attains ``sum |difference_k| / scale_k``); everything else is bracketed:
    below by the best single coordinate, above by an attacker with side information, the mixing
    variables of the Laplace noise, ``Lap(b) = N(0, 2 b^2 E)``, E exponential. The upper end is an
    empirical Bernstein bound on a mean over 65,536 draws of them, the same draws for every number:
    no proof, but a bound that fails with probability 1e-9 at most over the seed, and its brackets
    say so (``error``).

    Parameters
    ----------
    difference : array of shape (m,)
    covariance : array of shape (m, m)
        Of the answers under either secret.
    scales : array of shape (m,)
    """

    difference: FloatArray
    covariance: FloatArray
    scales: FloatArray

    def _coordinates(self) -> list[LaplaceShift]:
        spreads = np.sqrt(np.diag(self.covariance))
        return [
            LaplaceShift(distance=abs(float(d)), spread=float(s), scale=float(b))
            for d, s, b in zip(self.difference, spreads, self.scales, strict=True)
        ]

    def _conditional_distances(self) -> FloatArray:
        rng = np.random.default_rng(0)
        mixing = rng.exponential(size=(MIXTURE_DRAWS, self.scales.size))
        extra = 2 * self.scales**2 * mixing
        covariances = self.covariance + extra[:, :, None] * np.eye(self.scales.size)
        solved = np.linalg.solve(
            covariances, np.broadcast_to(self.difference, extra.shape)[..., None]
        )
        return np.sqrt(np.maximum(solved[..., 0] @ self.difference, 0))

    def delta(self, epsilon: float) -> Bracket:
        """Bracket delta by the best coordinate and by the attacker with side information."""
        top = self.epsilon(0.0).hi
        if epsilon >= top:
            return Bracket(0.0, 0.0)
        low = max(c.delta(epsilon).lo for c in self._coordinates())
        above = _side_information_delta(self._conditional_distances(), epsilon, FAILURE)
        return Bracket(low, min(1 - math.exp(-top), max(low, above)), FAILURE)

    def epsilon(self, delta: float) -> Bracket:
        """Return the exact pure epsilon at delta = 0; bracket it elsewhere, to 1e-4 of that."""
        top = float((np.abs(self.difference) / self.scales).sum())
        if delta == 0 or top == 0:
            return Bracket(top, top)
        low = max(c.epsilon(delta).lo for c in self._coordinates())
        distances = self._conditional_distances()
        below, high = low, top
        # Up to the first step where the bound and the true delta fall on different sides, the
        # steps do not depend on the draws, and a bound that is too large there leads to larger
        # epsilons only. So the union over the steps covers the search.
        for _ in range(HALVINGS):
            middle = (below + high) / 2
            if _side_information_delta(distances, middle, FAILURE / HALVINGS) > delta:
                below = middle
            else:
                high = middle
        return Bracket(low, high, FAILURE)

    def renyi(self, order: float) -> Bracket:
        """Return the exact divergence at order inf only."""
        if order == math.inf:
            return self.epsilon(0.0)
        raise NotComputableError("vector Laplace noise: no closed form of the Renyi divergence")

    def accuracy(self) -> Bracket:
        """Bracket the Bayes ceiling; above also by e^eps / (1 + e^eps)."""
        low = max(c.accuracy().lo for c in self._coordinates())
        above = upper_mean(ndtr(self._conditional_distances() / 2), FAILURE)
        top = self.epsilon(0.0).hi
        return Bracket(low, max(low, min(above, 1 / (1 + math.exp(-top)))), FAILURE)


def _side_information_delta(distances: FloatArray, epsilon: float, failure: float) -> float:
    """Bound from above the delta of an attacker with side information: which distance holds."""
    return upper_mean(gaussian_deltas(distances, epsilon), failure)


def upper_mean(values: FloatArray, failure: float) -> float:
    """Upper bound on the mean that independent draws in [0, 1] estimate.

    It fails with probability `failure` at most (Maurer and Pontil, 2009, Theorem 4).
    """
    n, log_term = values.size, math.log(2 / failure)
    spread = math.sqrt(2 * float(values.var(ddof=1)) * log_term / n)
    return min(1.0, float(values.mean()) + spread + 7 * log_term / (3 * (n - 1)))
