"""Exact leakage of additive noise on answers with finitely many values on a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage import hockey_stick as hockey
from mechanisms.leakage.divergence import noised_divergence
from mechanisms.leakage.noisy_mixtures import NoiseName, noised_pair
from mechanisms.leakage.root import smallest_monotone
from mechanisms.privacy.bracket import Bracket, NotComputableError

_SAMPLES = 129  # positions tried around each knot for the lower end of a supremum


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisedPoints:
    """Two discrete laws on the line after the same Laplace or Gaussian noise.

    Every number is the worse of both directions. Laplace numbers are exact (closed forms,
    quadrature to a relative 1e-9); Gaussian ones too, or rigorous brackets where their
    supremum or sign regions cannot be told finely enough.

    Parameters
    ----------
    first, second : FiniteLaw
        Laws of the answer, in units of the query.
    noise : {"laplace", "gaussian"}
    scale : float in (0, inf)
        Laplace scale b, or Gaussian standard deviation.

    Examples
    --------
    >>> zero, one = (FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
    >>> pair = NoisedPoints(first=zero, second=one, noise="laplace", scale=2.0)
    >>> pair.epsilon(0.0).lo, pair.epsilon(0.0).hi
    (0.5, 0.5)
    """

    first: FiniteLaw
    second: FiniteLaw
    noise: NoiseName
    scale: float

    def delta(self, epsilon: float) -> Bracket:
        """Return the hockey-stick divergence of a given epsilon."""
        return _compute(lambda: self._worst(epsilon))

    def epsilon(self, delta: float) -> Bracket:
        """Invert the hockey-stick divergence; the upper end meets delta."""
        if delta == 0:
            return self.renyi(math.inf)
        return _compute(lambda: self._invert(delta))

    def renyi(self, order: float) -> Bracket:
        """Return the Renyi divergence of this order."""
        return _compute(lambda: self._divergence(order))

    def accuracy(self) -> Bracket:
        """Return (1 + total variation) / 2."""
        variation = self.delta(0.0)
        return Bracket((1 + variation.lo) / 2, (1 + variation.hi) / 2)

    @property
    def _ways(self) -> tuple[tuple[FiniteLaw, FiniteLaw], ...]:
        return (self.first, self.second), (self.second, self.first)

    def _worst(self, epsilon: float) -> Bracket:
        forward, backward = (
            hockey.hockey_stick(p, q, epsilon=epsilon, noise=self.noise, scale=self.scale)
            for p, q in self._ways
        )
        return forward.join(backward)

    def _invert(self, delta: float) -> Bracket:
        high = hockey.epsilon_for_delta(
            self.first, self.second, delta=delta, noise=self.noise, scale=self.scale
        )
        if high == 0 or self.noise == "laplace":
            return Bracket(high, high)
        # Below the root of the lower ends delta is surely exceeded; mostly they agree closely.
        near = high - 1e-8 * max(1.0, high)
        if near <= 0 or self._worst(near).lo > delta:
            return Bracket(max(near, 0.0), high)
        if self._worst(0.0).lo <= delta:
            return Bracket(0.0, high)
        low = smallest_monotone(lambda e: self._worst(e).lo, budget=delta, high=high, floor=1e-12)
        return Bracket(min(low, high), high)

    def _divergence(self, order: float) -> Bracket:
        value = max(
            noised_divergence(p, q, order=order, noise=self.noise, scale=self.scale)
            for p, q in self._ways
        )
        if math.isinf(order) and self.noise == "gaussian" and value < math.inf:
            return Bracket(min(self._largest_seen(), value), value)
        return Bracket(value, value)

    def _largest_seen(self) -> float:
        """Return the largest log ratio at many positions and in the tails: a lower bound."""
        pair = noised_pair(self.first, self.second, noise=self.noise, scale=self.scale)
        gaps = np.diff(pair.knots, prepend=pair.knots[0] - 8, append=pair.knots[-1] + 8)
        steps = np.linspace(0, 1, _SAMPLES)
        offsets = np.concatenate([gaps[1:, None] / 2 * steps, -gaps[:-1, None] / 2 * steps], axis=1)
        anchors = np.repeat(np.arange(len(pair.knots)), offsets.shape[1])
        seen = np.abs(pair.log_ratio(anchors, offsets.ravel())).max()
        return max(float(seen), *(abs(end) for end in pair.ends))


def _compute(number: Callable[[], Bracket]) -> Bracket:
    """Return a number, or say that the quadrature gave up on it."""
    try:
        return number()
    except ArithmeticError as error:
        raise NotComputableError(str(error)) from error
