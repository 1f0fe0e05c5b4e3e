"""Guarantees as values, and the one number in which each of them is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mechanisms.check import positive, within
from mechanisms.leakage.pair import finite_renyi
from mechanisms.privacy.bracket import Bracket

# Names of notions, as recorded.
PUFFERFISH = "Pufferfish privacy"
RENYI_PUFFERFISH = "Renyi Pufferfish privacy"
DISTRIBUTION = "distribution privacy"
GROUP = "group differential privacy"

ROUNDING = 1e-12


class MeasurablePair(Protocol):
    """The parts of an exact leakage that a measure reads (see ``privacy.leakage``)."""

    def epsilon(self, delta: float) -> Bracket:
        """Smallest epsilon at this delta, the worse of both directions."""

    def renyi(self, order: float) -> Bracket:
        """Renyi divergence of this order, the worse of both directions."""


@dataclass(frozen=True, slots=True)
class ApproximateMeasure:
    """Leakage as the smallest epsilon for which (epsilon, delta)-indistinguishability holds."""

    delta: float

    def __post_init__(self) -> None:
        within("delta", self.delta, 0, 1, ends="[)")

    @property
    def name(self) -> str:
        """How tables name the unit."""
        return f"epsilon at delta={self.delta:g}" if self.delta else "epsilon"

    def exact(self, pair: MeasurablePair) -> Bracket:
        """Measure the exact leakage of a pair."""
        return pair.epsilon(self.delta)

    def certify(self, fpr: float, tpr: float) -> float:
        """Lower bound on epsilon from a test with at most this FPR and at least this TPR.

        Both directions of the definition are used: ``tpr <= e^eps fpr + delta`` and
        ``1 - fpr <= e^eps (1 - tpr) + delta`` (Kairouz, Oh and Viswanath, 2015, Theorem 2.1).

        Examples
        --------
        >>> ApproximateMeasure(0.0).certify(fpr=0.25, tpr=0.5) == math.log(2)
        True
        """
        forward = _log_ratio(tpr - self.delta, fpr)
        backward = _log_ratio(1 - fpr - self.delta, 1 - tpr)
        return max(0.0, forward, backward)


@dataclass(frozen=True, slots=True)
class RenyiMeasure:
    """Leakage as the Renyi divergence of a given order, in nats."""

    order: float

    def __post_init__(self) -> None:
        positive("order", self.order)

    @property
    def name(self) -> str:
        """How tables name the unit."""
        return f"Renyi epsilon at order={self.order:g}"

    def exact(self, pair: MeasurablePair) -> Bracket:
        """Measure the exact leakage of a pair."""
        return pair.renyi(self.order)

    def certify(self, fpr: float, tpr: float) -> float:
        """Lower bound on the divergence from a test with FPR <= fpr and TPR >= tpr.

        By data processing it is at least that of the test's decision, a Bernoulli variable; over
        the rectangle that is smallest at its corner nearest to the diagonal.
        """
        if tpr <= fpr:
            return 0.0
        return max(bernoulli_renyi(tpr, fpr, self.order), bernoulli_renyi(fpr, tpr, self.order))


@dataclass(frozen=True, slots=True)
class DeltaApproximateRenyiMeasure:
    """Leakage as the Renyi divergence left when each side may drop an event of mass delta.

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
        """How tables name the unit."""
        return f"Renyi epsilon at order={self.order:g}, delta={self.delta:g}"

    def exact(self, pair: MeasurablePair) -> Bracket:
        """Bracket the leakage: dropping nothing is allowed, the best events are not searched."""
        found = pair.renyi(self.order)
        return replace(found, lo=0.0) if self.delta else found

    def certify(self, fpr: float, tpr: float) -> float:
        """Lower bound from a test with at most this FPR and at least this TPR.

        Given events of mass 1 - delta the test's rates are at least ``(tpr - delta)/(1 - delta)``
        and at most ``fpr/(1 - delta)``; data processing does the rest.
        """
        if self.delta > 0:
            kept = 1 - self.delta
            # Rounded apart from 0 and 1, at which a Bernoulli divergence is infinite.
            tpr = max(0.0, (tpr - self.delta) / kept - ROUNDING)
            fpr = min(1.0, fpr / kept + ROUNDING)
        return RenyiMeasure(self.order).certify(fpr=fpr, tpr=tpr)


Measure = ApproximateMeasure | RenyiMeasure | DeltaApproximateRenyiMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a mechanism claims for a scenario's secret pairs: an upper bound on leakage.

    Parameters
    ----------
    notion : str
        The field's name of the definition, such as "distribution privacy".
    measure : Measure
        In which number the claim is stated.
    epsilon : float in [0, inf]
        The claim, in nats.
    theorem : str
        The source: author, year, theorem.
    notes : tuple of str
        Conditions under which the theorem was proved, idealisations.
    """

    notion: str
    measure: Measure
    epsilon: float
    theorem: str
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        within("epsilon", self.epsilon, 0, math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoClaim:
    """The mechanism promises nothing about the scenario's secrets; never a violation."""

    reason: str


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
