"""What secondary suppression must achieve: which counts must stay possible for which cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mechanisms.check import FloatArray, IntArray
from mechanisms.deterministic.count_table import (
    Axes,
    BoolArray,
    check_axes,
    counts,
    margin_index,
)
from mechanisms.deterministic.marks import (
    PRIMARY,
    SECONDARY,
    SUPPRESSED,
    Marks,
    limits_of_mark,
)

Progress = Callable[[int, int], None]
Weight = Literal["cells", "counts"]


@dataclass(frozen=True, slots=True)
class Demand:
    """A count that a primary cell must be able to take, given the release.

    Parameters
    ----------
    cell : int
        Flat index.
    up : bool
        Whether the count is the upper end of the cell's protection range.
    count : int
    """

    cell: int
    up: bool
    count: int

    def met(self, count: int) -> bool:
        """Whether a possible count of the cell reaches the demand."""
        return count >= self.count if self.up else count <= self.count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProtectionProblem:
    """A table whose small cells shall stay uncertain when its totals are known.

    Parameters
    ----------
    table : int array of shape (*shape,)
    primary : boolean array of shape (*shape,)
        The cells to protect.
    margins : tuple of tuples of int
        The released totals, each by the axes that it keeps.
    threshold : int
    publish_zeros : bool
    marks : {"two", "one"}
        What the attacker reads off a suppressed cell, see `limits_of_mark`.
    structural : boolean array, optional
        Cells known to be 0, which cannot be complements.
    least, most : int arrays of shape (*shape,), optional
        The protection range of each primary cell: counts as small as `least` and as large as
        `most` must stay possible. By default all that the primary rule leaves open. Entries of
        other cells are not read.
    weight : {"cells", "counts"}
        What complements cost: one each, or their count.
    """

    table: IntArray
    primary: BoolArray
    margins: tuple[Axes, ...]
    threshold: int
    publish_zeros: bool = False
    marks: Marks = "two"
    structural: BoolArray | None = None
    least: IntArray | None = None
    most: IntArray | None = None
    weight: Weight = "cells"
    low: IntArray = field(init=False)
    high: IntArray = field(init=False)

    def __post_init__(self) -> None:
        table = counts("table", self.table)
        check_axes(table.ndim, self.margins)
        if self.primary.shape != table.shape:
            raise ValueError(f"primary must have shape {table.shape}, got {self.primary.shape}.")
        if self.weight not in ("cells", "counts"):
            raise ValueError(f'weight must be "cells" or "counts", got weight={self.weight!r}.')
        low, high = self._limits(table)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def _limits(self, table: IntArray) -> tuple[IntArray, IntArray]:
        """Return what the attacker reads off each cell if it is suppressed, flat."""
        marks = (SUPPRESSED, SUPPRESSED) if self.marks == "one" else (PRIMARY, SECONDARY)
        small, other = (
            limits_of_mark(mark, threshold=self.threshold, publish_zeros=self.publish_zeros)
            for mark in marks
        )
        low = np.where(self.primary, small[0], other[0])
        high = np.where(self.primary, small[1], other[1])
        for axes in self.margins:
            others = tuple(axis for axis in range(table.ndim) if axis not in axes)
            totals = table.sum(axis=others).ravel()
            # No count exceeds a total that it adds to.
            high = np.minimum(high, totals[margin_index(table.shape, axes)])
        return low.ravel(), high.ravel()

    @property
    def flat(self) -> IntArray:
        """The table, flattened."""
        return self.table.ravel()

    def candidates(self) -> BoolArray:
        """Return the cells that may be suppressed for others, flat."""
        free = ~self.primary.ravel()
        if self.structural is not None:
            free &= ~np.asarray(self.structural, dtype=bool).ravel()
        return free

    def costs(self) -> FloatArray:
        """Return what suppressing each cell costs, flat."""
        if self.weight == "cells":
            return np.ones(self.table.size)
        return self.flat.astype(np.float64)

    def demands(self) -> list[Demand]:
        """Return both ends of every primary cell's protection range.

        Raises
        ------
        ValueError
            If a range does not contain the cell's own count.
        """
        rule = limits_of_mark(PRIMARY, threshold=self.threshold, publish_zeros=self.publish_zeros)
        ends = (
            np.full(self.table.shape, rule[end]) if given is None else np.asarray(given)
            for end, given in enumerate((self.least, self.most))
        )
        least, most = (end.ravel() for end in ends)
        if least.size != self.table.size or most.size != self.table.size:
            raise ValueError(f"least and most must have shape {self.table.shape}.")
        found = []
        for cell in np.flatnonzero(self.primary.ravel()):
            own = self.flat[cell]
            if not least[cell] <= own <= most[cell]:
                raise ValueError(
                    "protection ranges must contain the cell's own count, got "
                    f"[{least[cell]}, {most[cell]}] for {own}."
                )
            # Beyond what its mark and totals leave open no cell can be protected.
            found.append(Demand(int(cell), False, int(max(least[cell], self.low[cell]))))
            found.append(Demand(int(cell), True, int(min(most[cell], self.high[cell]))))
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shortfall:
    """A demand that no suppression meets: the released totals alone bind the cell closer."""

    demand: Demand
    attainable: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Suppression:
    """Complements that protect every primary cell as far as the released totals allow.

    Parameters
    ----------
    complements : boolean array of shape (*shape,)
    cost : float
        Their weight, as the problem counts it.
    least_cost : float
        No choice with this protection costs less; 0 where nothing better is known.
    short : tuple of Shortfall
        Demands that suppressing everything would not meet.
    """

    complements: BoolArray
    cost: float
    least_cost: float
    short: tuple[Shortfall, ...]

    @property
    def gap(self) -> float:
        """Largest share of the cost that a better choice could save; 0 is optimal."""
        return 0.0 if self.cost <= self.least_cost else 1 - self.least_cost / self.cost

    @property
    def optimal(self) -> bool:
        """Whether no choice with the same protection costs less."""
        return self.gap == 0.0
