"""The interval attack on releases of the benchmark: suppressed or rounded tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Intervals, Target, Transcript, UnsupportedMechanismError, Yields
from attacks.interval.cell_limits import CellLimits, rounded_cells, suppressed_cells
from attacks.interval.feasible_intervals import CellIntervals, interval_attack
from attacks.interval.integer_bounds import Progress
from mechanisms.check import Array, IntArray, one_of, positive
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.count_table import Axes, Margin
from mechanisms.deterministic.marks import Marks, with_one_mark
from mechanisms.deterministic.rounding import RandomRounding, Rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalAttack:
    """Bound every count of a suppressed or rounded table by what is public.

    Parameters
    ----------
    marks : {"two", "one"}
        Whether the attacker tells primary from secondary cells, where the release does.
    time_limit : float
        Seconds for each integer program (tables of three or more dimensions).
    """

    yields: ClassVar[Yields] = "intervals"
    trained: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("margins",)
    marks: Marks = "two"
    time_limit: float = 10.0

    def __post_init__(self) -> None:
        one_of("marks", self.marks, ("two", "one"))
        positive("time_limit", self.time_limit)

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> TableBounder:
        """Look up the release's rule; nothing is learnt from the shadow worlds."""
        del shadow, rng
        rule = target.mechanism
        if not isinstance(rule, CellSuppression | Rounding | RandomRounding):
            raise UnsupportedMechanismError("cells are bounded in suppressed and rounded tables")
        return TableBounder(rule=rule, marks=self.marks, time_limit=self.time_limit)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableBounder:
    """The attack on one rule of release."""

    rule: CellSuppression | Rounding | RandomRounding
    marks: Marks
    time_limit: float
    progress: Progress | None = None

    def bound(self, releases: Array, margins: IntArray) -> Intervals:
        """Return the feasible interval of every cell of releases ``(n, k, *shape)``.

        Several releases of one table intersect. Equal releases with equal totals are solved once.
        """
        tables = np.asarray(releases, dtype=np.int64)
        shape = tables.shape[2:]
        flat = np.concatenate([tables.reshape(len(tables), -1), margins], axis=1)
        distinct, where = np.unique(flat, axis=0, return_inverse=True)
        found = [
            self.intervals(
                row[: row.size - margins.shape[1]].reshape(tables.shape[1:]),
                row[row.size - margins.shape[1] :],
            )
            for row in distinct
        ]
        at = where.ravel()
        size = (len(tables), int(np.prod(shape)))
        lower, upper, hidden = (
            np.stack([getattr(cells, name) for cells in found])[at].reshape(size)
            for name in ("lower", "upper", "hidden")
        )
        return Intervals(lower=lower.astype(np.float64), upper=upper, hidden=hidden)

    def intervals(self, releases: IntArray, totals: IntArray) -> CellIntervals:
        """Return the intervals of one table's releases ``(k, *shape)`` and its totals."""
        limits = [self._limits(release) for release in releases]
        joint = CellLimits(
            lower=np.max([found.lower for found in limits], axis=0),
            upper=np.min([found.upper for found in limits], axis=0),
            hidden=limits[0].hidden,
        )
        margins = split_margins(totals, releases.shape[1:], self.rule.margins)
        return interval_attack(joint, margins, time_limit=self.time_limit, progress=self.progress)

    def _limits(self, release: IntArray) -> CellLimits:
        if not isinstance(self.rule, CellSuppression):
            return rounded_cells(release, self.rule)
        return suppressed_cells(
            with_one_mark(release) if self.marks == "one" else release,
            threshold=self.rule.threshold,
            publish_zeros=self.rule.publish_zeros,
            structural=self.rule.structural,
        )


def split_margins(
    totals: IntArray, shape: tuple[int, ...], axes: Sequence[Axes]
) -> tuple[Margin, ...]:
    """Return one row of totals as margins, each by the axes that it keeps."""
    shapes = [tuple(shape[axis] for axis in kept) for kept in axes]
    sizes = [int(np.prod(kept, dtype=np.int64)) for kept in shapes]
    if sum(sizes) != totals.size:
        raise ValueError(f"margins must hold {sum(sizes)} totals, got {totals.size}.")
    parts = np.split(totals, np.cumsum(sizes)[:-1]) if sizes else []
    return tuple(
        Margin.exact(kept, part.reshape(form))
        for kept, form, part in zip(axes, shapes, parts, strict=True)
    )
