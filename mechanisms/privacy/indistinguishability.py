"""Notions about two release laws: how far apart they are, by which number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from mechanisms.check import positive, within
from mechanisms.leakage.pair import PairLeakage, finite_renyi
from mechanisms.privacy.bracket import Bracket, NotComputableError
from mechanisms.privacy.notion import PairNotion

ROUNDING = 1e-12


@runtime_checkable
class HasLossTail(Protocol):
    """An exact comparison that knows the law of the privacy loss."""

    def loss_quantile(self, delta: float) -> Bracket:
        """Smallest epsilon with ``P[log p/q > epsilon] <= delta``, the worse of both directions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate(PairNotion):
    """The smallest epsilon for which (epsilon, delta)-indistinguishability holds; pure at delta 0.

    Parameters
    ----------
    delta : float in [0, 1)
    """

    delta: float = 0.0

    def __post_init__(self) -> None:
        within("delta", self.delta, 0, 1, ends="[)")

    @property
    def name(self) -> str:
        """Name of the definition."""
        return "approximate privacy" if self.delta else "pure privacy"

    @property
    def unit(self) -> str:
        """How tables name the number."""
        return f"epsilon at delta={self.delta:g}" if self.delta else "epsilon"

    def of_pair(self, pair: PairLeakage) -> Bracket:
        """Read epsilon at this delta."""
        return pair.epsilon(self.delta)

    def of_rates(self, fpr: float, tpr: float) -> float:
        """Return a lower bound on epsilon from a test.

        Both directions of the definition are used: ``tpr <= e^eps fpr + delta`` and
        ``1 - fpr <= e^eps (1 - tpr) + delta`` (Kairouz, Oh and Viswanath, 2015, Theorem 2.1).

        Examples
        --------
        >>> Approximate(delta=0.0).of_rates(fpr=0.25, tpr=0.5) == math.log(2)
        True
        """
        forward = _log_ratio(tpr - self.delta, fpr)
        backward = _log_ratio(1 - fpr - self.delta, 1 - tpr)
        return max(0.0, forward, backward)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renyi(PairNotion):
    """The Renyi divergence of a given order in (0, inf], in nats, the worse of both directions."""

    order: float

    def __post_init__(self) -> None:
        positive("order", self.order)

    @property
    def name(self) -> str:
        """Name of the definition."""
        return "Renyi privacy"

    @property
    def unit(self) -> str:
        """How tables name the number."""
        return f"Renyi epsilon at order={self.order:g}"

    def of_pair(self, pair: PairLeakage) -> Bracket:
        """Read the divergence of this order."""
        return pair.renyi(self.order)

    def of_rates(self, fpr: float, tpr: float) -> float:
        """Return a lower bound on the divergence from a test.

        By data processing it is at least that of the test's decision, a Bernoulli variable; over
        the rectangle that is smallest at its corner nearest to the diagonal.
        """
        if tpr <= fpr:
            return 0.0
        return max(bernoulli_renyi(tpr, fpr, self.order), bernoulli_renyi(fpr, tpr, self.order))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaApproximateRenyi(PairNotion):
    """The Renyi divergence left when each side may drop an event of mass delta.

    (order, epsilon, delta)-Renyi Pufferfish privacy: there are events of probability at least
    1 - delta, one a side, given which the divergence is at most epsilon in both directions.
    """

    order: float
    delta: float

    def __post_init__(self) -> None:
        positive("order", self.order)
        within("delta", self.delta, 0, 1, ends="[)")

    @property
    def name(self) -> str:
        """Name of the definition."""
        return "delta-approximate Renyi privacy"

    @property
    def unit(self) -> str:
        """How tables name the number."""
        return f"Renyi epsilon at order={self.order:g}, delta={self.delta:g}"

    def of_pair(self, pair: PairLeakage) -> Bracket:
        """Bracket the leakage: dropping nothing is allowed, the best events are not searched."""
        found = pair.renyi(self.order)
        return replace(found, lo=0.0) if self.delta else found

    def of_rates(self, fpr: float, tpr: float) -> float:
        """Return a lower bound from a test.

        Given events of mass 1 - delta the test's rates are at least ``(tpr - delta)/(1 - delta)``
        and at most ``fpr/(1 - delta)``; data processing does the rest.
        """
        if self.delta > 0:
            kept = 1 - self.delta
            # Rounded apart from 0 and 1, at which a Bernoulli divergence is infinite.
            tpr = max(0.0, (tpr - self.delta) / kept - ROUNDING)
            fpr = min(1.0, fpr / kept + ROUNDING)
        return Renyi(order=self.order).of_rates(fpr, tpr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilistic(PairNotion):
    """The smallest epsilon with ``P[log p/q > epsilon] <= delta`` under p, in both directions.

    Stronger than (epsilon, delta)-indistinguishability at the same numbers.

    Parameters
    ----------
    delta : float in [0, 1)
    """

    delta: float

    def __post_init__(self) -> None:
        within("delta", self.delta, 0, 1, ends="[)")

    @property
    def name(self) -> str:
        """Name of the definition."""
        return "probabilistic privacy"

    @property
    def unit(self) -> str:
        """How tables name the number."""
        return f"probabilistic epsilon at delta={self.delta:g}"

    def of_pair(self, pair: PairLeakage) -> Bracket:
        """Read the quantile of the privacy loss, where its law is known."""
        if self.delta == 0:
            return pair.epsilon(0.0)
        if not isinstance(pair, HasLossTail):
            raise NotComputableError("the law of the privacy loss is not known")
        return pair.loss_quantile(self.delta)

    def of_rates(self, fpr: float, tpr: float) -> float:
        """Return the bound of the weaker (epsilon, delta)-indistinguishability."""
        return Approximate(delta=self.delta).of_rates(fpr, tpr)


PURE = Approximate(delta=0.0)


def bernoulli_renyi(p: float, q: float, order: float) -> float:
    """Return D_order(Bernoulli(p) || Bernoulli(q)), in nats.

    Examples
    --------
    >>> bernoulli_renyi(0.5, 0.25, math.inf) == math.log(2)
    True
    >>> bernoulli_renyi(0.3, 0.3, 2.0)
    0.0
    """
    return finite_renyi(np.array([p, 1 - p]), np.array([q, 1 - q]), order)


def _log_ratio(numerator: float, denominator: float) -> float:
    if numerator <= 0:
        return -math.inf
    return math.inf if denominator <= 0 else math.log(numerator / denominator)
