"""Exact leakage: how far apart the release laws of a secret pair are, in every notion.

Every class answers the same four questions about a pair of release laws, each with a
`Bracket`, the worse of both directions where a notion has two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from mechanisms.check import FloatArray
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta, gaussian_epsilon
from mechanisms.leakage.log_excess import from_log_excess, log_excess
from mechanisms.privacy.bracket import Bracket


class PairLeakage(Protocol):
    """The exact comparison of two release laws."""

    def delta(self, epsilon: float) -> Bracket:
        """Smallest delta for which (epsilon, delta)-indistinguishability holds."""

    def epsilon(self, delta: float) -> Bracket:
        """Smallest epsilon for which (epsilon, delta)-indistinguishability holds."""

    def renyi(self, order: float) -> Bracket:
        """Renyi divergence of this order, in nats."""

    def accuracy(self) -> Bracket:
        """Best accuracy of any attack at equal priors: the Bayes ceiling."""


CLOSE = 1e-4  # closer to 1 than this a Hellinger sum is taken as 1 plus an excess


@dataclass(frozen=True, slots=True)
class GaussianShift:
    """Two Gaussians with equal covariance, `distance` (Mahalanobis, in [0, inf]) apart."""

    distance: float

    def delta(self, epsilon: float) -> Bracket:
        """Return the closed form of Balle and Wang (2018), Theorem 8."""
        value = gaussian_delta(epsilon, self.distance)
        return Bracket(value, value)

    def epsilon(self, delta: float) -> Bracket:
        """Invert the closed form, rounded up."""
        value = gaussian_epsilon(self.distance, delta)
        return Bracket(value, value)

    def renyi(self, order: float) -> Bracket:
        """Return order d^2 / 2 (Mironov, 2017, Proposition 7)."""
        value = order * self.distance**2 / 2 if self.distance else 0.0
        return Bracket(value, value)

    def loss_quantile(self, delta: float) -> Bracket:
        """Return ``d^2/2 + d z``, z the 1 - delta quantile: the loss is N(d^2/2, d^2)."""
        value = max(0.0, self.distance * (self.distance / 2 - float(ndtri(delta))))
        return Bracket(value, value)

    def accuracy(self) -> Bracket:
        """Return Phi(d/2)."""
        value = float(ndtr(self.distance / 2))
        return Bracket(value, value)


@dataclass(frozen=True, slots=True, eq=False)
class FinitePair:
    """Two release laws on finitely many outputs.

    Parameters
    ----------
    first, second : arrays of shape (k,)
        Probabilities of the same k outputs.
    logs : pair of arrays of shape (k,), optional
        Their logarithms, where they are known beyond the range of the probabilities themselves
        (`from_logs`): log ratios then stay exact in both tails.
    """

    first: FloatArray
    second: FloatArray
    logs: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def from_logs(cls, first: FloatArray, second: FloatArray) -> FinitePair:
        """Build from log probabilities; -inf for an impossible output.

        Examples
        --------
        >>> far = FinitePair.from_logs(np.array([0.0, -2000.0]), np.array([0.0, -2001.0]))
        >>> far.epsilon(0.0).hi
        1.0
        """
        return cls(np.exp(first), np.exp(second), (first, second))

    def _log_laws(self) -> tuple[FloatArray, FloatArray]:
        if self.logs is not None:
            return self.logs
        with np.errstate(divide="ignore"):
            return np.log(self.first), np.log(self.second)

    def delta(self, epsilon: float) -> Bracket:
        """Return the hockey-stick divergence, the larger of both directions."""
        value = max(
            _hockey_stick(self.first, self.second, epsilon),
            _hockey_stick(self.second, self.first, epsilon),
        )
        return Bracket(value, value)

    def epsilon(self, delta: float) -> Bracket:
        """Invert the hockey-stick divergence, which is piecewise linear in e^epsilon.

        At delta = 0 it is the largest log ratio, read off the logarithms.
        """
        if delta == 0:
            return self.renyi(math.inf)
        value = max(
            _finite_epsilon(self.first, self.second, delta),
            _finite_epsilon(self.second, self.first, delta),
        )
        return Bracket(value, value)

    def renyi(self, order: float) -> Bracket:
        """Return the Renyi divergence, the larger of both directions."""
        first, second = self._log_laws()
        value = max(log_renyi(first, second, order), log_renyi(second, first, order))
        return Bracket(value, value)

    def loss_quantile(self, delta: float) -> Bracket:
        """Return the smallest epsilon that the log ratio exceeds with probability <= delta."""
        first, second = self._log_laws()
        value = max(_loss_quantile(first, second, delta), _loss_quantile(second, first, delta))
        return Bracket(value, value)

    def accuracy(self) -> Bracket:
        """Return (1 + total variation) / 2."""
        value = 0.5 + float(np.abs(self.first - self.second).sum()) / 4
        return Bracket(value, value)


@dataclass(frozen=True, slots=True, eq=False)
class PostProcessed:
    """Post-processing: whatever is done to the release leaks at most what `inner` leaks."""

    inner: PairLeakage

    def delta(self, epsilon: float) -> Bracket:
        """Bound delta from above (data processing)."""
        return replace(self.inner.delta(epsilon), lo=0.0)

    def epsilon(self, delta: float) -> Bracket:
        """Bound epsilon from above (data processing)."""
        return replace(self.inner.epsilon(delta), lo=0.0)

    def renyi(self, order: float) -> Bracket:
        """Bound the Renyi divergence from above (data processing)."""
        return replace(self.inner.renyi(order), lo=0.0)

    def accuracy(self) -> Bracket:
        """Bound the Bayes ceiling from above (data processing)."""
        return replace(self.inner.accuracy(), lo=0.5)


def finite_renyi(first: FloatArray, second: FloatArray, order: float) -> float:
    """Return D_order(first || second) of two laws on the same finitely many outputs, in nats.

    Examples
    --------
    >>> finite_renyi(np.array([0.5, 0.5]), np.array([0.25, 0.75]), math.inf) == math.log(2)
    True
    """
    with np.errstate(divide="ignore"):
        return log_renyi(np.log(first), np.log(second), order)


def log_renyi(first: FloatArray, second: FloatArray, order: float) -> float:
    """Return `finite_renyi` of log probabilities; order in (0, inf]."""
    seen = first > -math.inf
    p, q = first[seen], second[seen]
    if order == math.inf:
        return max(0.0, float((p - q).max()))
    shared = q > -math.inf
    if not shared.any() or (order >= 1 and not shared.all()):
        return math.inf
    if order != 1:
        log_sum = float(np.logaddexp.reduce(order * p[shared] + (1 - order) * q[shared]))
        if abs(log_sum) > CLOSE:
            return max(0.0, log_sum / (order - 1))
    # The sum is near 1, where its logarithm over order - 1 would keep few digits.
    excess = q[shared] + log_excess(p[shared] - q[shared], order)
    log_mean = float(np.logaddexp.reduce(np.append(excess, second[~seen])))
    if order >= 1:
        return from_log_excess(log_mean, order)
    alone = float(np.exp(p[~shared]).sum())  # mass that the second law lacks
    return math.log1p((order - 1) * math.exp(log_mean) - order * alone) / (order - 1)


def _loss_quantile(first: FloatArray, second: FloatArray, delta: float) -> float:
    """Return the smallest eps >= 0 with ``P[log p/q > eps] <= delta`` under p."""
    seen = first > -math.inf
    loss, mass = first[seen] - second[seen], np.exp(first[seen])
    order = np.argsort(-loss)
    # Mass of strictly larger losses: a tie counts as one atom.
    loss, above = loss[order], np.cumsum(mass[order])
    allowed = np.flatnonzero(above > delta)
    return max(0.0, float(loss[allowed[0]])) if allowed.size else 0.0


def _hockey_stick(p: FloatArray, q: FloatArray, epsilon: float) -> float:
    """Return sum (p - e^eps q)_+ for eps in [0, inf], in logs so that e^eps cannot overflow."""
    certain = p[q == 0].sum()
    shared = (p > 0) & (q > 0)
    gap = np.minimum(epsilon + np.log(q[shared]) - np.log(p[shared]), 0)
    return min(1.0, float(certain - (p[shared] * np.expm1(gap)).sum()))


def _finite_epsilon(p: FloatArray, q: FloatArray, delta: float) -> float:
    """Return the smallest eps >= 0 with sum (p - e^eps q)_+ <= delta."""
    certain = p[q == 0].sum()
    shared = q > 0
    p, q = p[shared], q[shared]
    with np.errstate(divide="ignore"):
        order = np.argsort(np.log(q) - np.log(p))
    p, q = p[order], q[order]
    if certain > delta:
        return math.inf
    # With the j largest ratios active the divergence is certain + P_j - e^eps Q_j; it falls in
    # eps, so the answer is the largest solution over j.
    excess = certain + np.cumsum(p) - delta
    reached = excess > 0
    logs = np.log(excess[reached]) - np.log(np.cumsum(q)[reached])
    return float(logs.max(initial=0.0))
