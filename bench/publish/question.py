"""What a table with small cells suppressed still tells: every attacker's intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from attacks.interval.attack import TableBounder
from attacks.interval.feasible_intervals import CellIntervals
from attacks.interval.integer_bounds import Progress
from bench.datasets.table.contingency import Contingency
from bench.scenarios.cell_counts import axes_of, margin_fact
from mechanisms.check import IntArray, one_of, within
from mechanisms.deterministic.cell_suppression import CellSuppression, SecondarySuppression
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.deterministic.marks import Marks
from mechanisms.deterministic.optimal_suppression import OptimalSuppression
from mechanisms.deterministic.protection import Suppression

Secondary = Literal["none", "greedy", "optimal"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """One table, one rule.

    Parameters
    ----------
    table : Contingency
    threshold : int, at least 2
    margins : "none", "each", "given", or a list of lists of columns
        Which totals are published, see `bench.scenarios.cell_counts.CellCounts`.
    publish_zeros : bool
    secondary : {"none", "greedy", "optimal"}
        Which further cells are suppressed.
    marks : {"two", "one"}
        Whether the published table tells small cells from complements.
    alpha : float in (0, 1]
        Of the receivers for whom a guarantee is asked.
    share : float in (0, 1)
        A cell is nearly recovered where it is known more closely than this share of its count.
    """

    table: Contingency
    threshold: int
    margins: object = "each"
    publish_zeros: bool = False
    secondary: Secondary = "none"
    marks: Marks = "two"
    alpha: float = 0.2
    share: float = 0.2

    def __post_init__(self) -> None:
        one_of("secondary", self.secondary, get_args(Secondary))
        within("share", self.share, 0, 1, ends="()")
        self.rule  # noqa: B018  (refuses what is no rule)

    @property
    def rule(self) -> CellSuppression:
        """The release."""
        margins = axes_of(self.margins, self.table)
        complement: SecondarySuppression | None = None
        if margins and self.secondary != "none":
            complement = GreedySuppression() if self.secondary == "greedy" else OptimalSuppression()
        return CellSuppression(
            threshold=self.threshold, alpha=self.alpha, publish_zeros=self.publish_zeros,
            margins=margins, secondary=complement, marks=self.marks,
        )  # fmt: skip

    def suppression(self) -> Suppression | None:
        """Return the complements and what could not be protected; None without any."""
        rule = self.rule
        return None if rule.secondary is None else rule.complements(self.table.counts)

    def published(self) -> IntArray:
        """Return the table with marks."""
        return self.rule.release(self.table.counts[None], np.random.default_rng(0))[0]

    def attacked(self, progress: Progress | None = None) -> dict[Marks, CellIntervals]:
        """Return what the attacker who sees both marks finds, and the one who sees one."""
        rule, release = self.rule, self.published()
        totals = margin_fact(self.table.counts[None], rule.margins)[0]
        seen: tuple[Marks, ...] = ("two", "one") if self.marks == "two" else ("one",)
        return {
            marks: TableBounder(
                rule=rule, marks=marks, time_limit=10.0, progress=progress
            ).intervals(release[None], totals)
            for marks in seen
        }
