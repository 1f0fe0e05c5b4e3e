"""Calibrations of releases without noise: their budgets are classes of receivers and rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mechanisms.check import positive, whole, within
from mechanisms.deterministic.cell_suppression import CellSuppression, SecondarySuppression
from mechanisms.deterministic.knowledge import CountTable
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.marks import Marks
from mechanisms.deterministic.receiver_strength import GaussianReceivers
from mechanisms.deterministic.rounding import RandomRounding, Rounding
from mechanisms.deterministic.statistic_receivers import StatisticReceivers
from mechanisms.privacy.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverStrength(Budget):
    """How strong the receivers are for whom a guarantee is stated: kappa = r1 + log r2.

    Parameters
    ----------
    r1 : float in (0, inf)
        How much the statistics may surprise them.
    r2 : float in (1, inf)
        How much of an entry's variance the statistics may take: all but ``1 / r2``.
    """

    r1: float
    r2: float

    def __post_init__(self) -> None:
        positive("r1", self.r1, infinite=False)
        within("r2", self.r2, 1, math.inf, ends="()")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionRule(Budget):
    """Counts below a threshold are suppressed; a claim for receivers who find them likely.

    Parameters
    ----------
    threshold : int, at least 2
    alpha : float in (0, 1]
        The receivers give every cell at least this probability of a small count.
    """

    threshold: int
    alpha: float

    def __post_init__(self) -> None:
        whole("threshold", self.threshold, low=2)
        within("alpha", self.alpha, 0, 1, ends="(]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingRule(Budget):
    """Counts are rounded to multiples of a base; a claim for receivers who expect the multiple.

    Parameters
    ----------
    base : int, at least 2
    alpha : float in (0, 1]
        The receivers give every cell's true rounding interval at least this probability.
    """

    base: int
    alpha: float

    def __post_init__(self) -> None:
        whole("base", self.base, low=2)
        within("alpha", self.alpha, 0, 1, ends="(]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingBase(Budget):
    """Counts are rounded to multiples of a base, an int of at least 2."""

    base: int

    def __post_init__(self) -> None:
        whole("base", self.base, low=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiselessStatistics:
    """Release sums over records exactly, with a guarantee for Gaussian receivers.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, Proposition 7.
    """

    requires: ClassVar = (StatisticReceivers,)
    accepts: ClassVar = ReceiverStrength

    def calibrate(
        self, receivers: StatisticReceivers, *, budget: ReceiverStrength
    ) -> LinearStatistics:
        """State the guarantee for the class; the release does not depend on it."""
        return LinearStatistics.of_records(
            receivers.weights,
            size=receivers.size,
            receivers=GaussianReceivers(r1=budget.r1, r2=budget.r2),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressCells:
    """Suppress small counts, and where totals are published complements too.

    Parameters
    ----------
    publish_zeros : bool
    secondary : SecondarySuppression, optional
        Chooses complements; without published totals there is nothing that they protect from.
    marks : {"two", "one"}
        Whether the release tells primary from secondary cells.
    sensitive_below : int, optional
        Counts from here on are not sensitive; by default the threshold.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, Proposition 8.
    """

    requires: ClassVar = (CountTable,)
    accepts: ClassVar = SuppressionRule
    publish_zeros: bool = False
    secondary: SecondarySuppression | None = None
    marks: Marks = "two"
    sensitive_below: int | None = None

    def calibrate(self, table: CountTable, *, budget: SuppressionRule) -> CellSuppression:
        """Return the rule; it claims something where no totals are published."""
        return CellSuppression(
            threshold=budget.threshold,
            alpha=budget.alpha,
            sensitive_below=self.sensitive_below,
            publish_zeros=self.publish_zeros,
            margins=table.margins,
            secondary=self.secondary if table.margins else None,
            marks=self.marks,
            structural=table.structural,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCells:
    """Round every count to the nearest multiple of a base."""

    requires: ClassVar = (CountTable,)
    accepts: ClassVar = RoundingRule

    def calibrate(self, table: CountTable, *, budget: RoundingRule) -> Rounding:
        """Return the rule; it claims something where no totals are published."""
        return Rounding(base=budget.base, alpha=budget.alpha, margins=table.margins)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCellsAtRandom:
    """Round every count to one of the two nearest multiples of a base, unbiased."""

    requires: ClassVar = (CountTable,)
    accepts: ClassVar = RoundingBase

    def calibrate(self, table: CountTable, *, budget: RoundingBase) -> RandomRounding:
        """Return the rule; it claims nothing."""
        return RandomRounding(base=budget.base, margins=table.margins)
