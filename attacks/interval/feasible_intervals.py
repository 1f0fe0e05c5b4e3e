"""The attack: intervals of all hidden cells, and which of them are as good as published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attacks.interval.cell_limits import CellLimits
from attacks.interval.integer_bounds import Progress, integer_intervals
from attacks.interval.propagation import propagate
from attacks.interval.two_way import two_way_intervals
from mechanisms.check import Array, FloatArray, IntArray, within
from mechanisms.deterministic.count_table import (
    BoolArray,
    Margin,
    check_margins,
    counts,
    dominated,
)
from mechanisms.deterministic.marks import UNLIMITED

TWO_WAY = {(0,), (1,), ()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellIntervals:
    """The feasible interval of every cell.

    Parameters
    ----------
    lower, upper : arrays of shape (*shape,)
        Smallest and largest count that the release allows; inf where nothing limits a cell.
    hidden : boolean array of shape (*shape,)
        Cells that the release does not publish.
    exact : boolean array of shape (*shape,)
        Whether both ends are attained by some table; False where integer programming ran out of
        time, and the interval may be too wide, never too narrow.
    """

    lower: IntArray
    upper: FloatArray
    hidden: BoolArray
    exact: BoolArray

    @property
    def revealed(self) -> BoolArray:
        """Hidden cells with a single possible count."""
        return self.hidden & (self.lower == self.upper)

    def approximately_revealed(self, share: float, table: Array | None = None) -> BoolArray:
        """Return hidden cells whose interval is narrower than a share of their count.

        Parameters
        ----------
        share : float in (0, 1)
        table : array of shape (*shape,), optional
            The true counts; without them, as the attacker sees it, the interval's lower end
            stands in, which names fewer cells.

        Returns
        -------
        boolean array
            Revealed cells are among them.
        """
        within("share", share, 0, 1, ends="()")
        value = self.lower if table is None else counts("table", table)
        return self.revealed | (self.hidden & (self.upper - self.lower < share * value))

    def dominated(self, table: Array, largest: Array, *, share: float = 0.8) -> BoolArray:
        """Return the cells that tell one unit's own count, because it holds most of the cell.

        Parameters
        ----------
        table, largest : arrays of shape (*shape,)
            True counts, and those of each cell's largest unit (the curator's knowledge).
        share : float in (0, 1)

        Returns
        -------
        boolean array
            Dominated cells that are published, or revealed though hidden.
        """
        return dominated(table, largest, share=share) & (~self.hidden | self.revealed)


def interval_attack(
    limits: CellLimits,
    margins: Sequence[Margin] = (),
    *,
    time_limit: float = 10.0,
    progress: Progress | None = None,
) -> CellIntervals:
    """Bound every cell by what is public: cells, marks, totals, and that counts are whole.

    Parameters
    ----------
    limits : CellLimits
        What the release says of each cell by itself, see `suppressed_cells`, `rounded_cells`.
    margins : sequence of Margin
        The public totals.
    time_limit : float
        Seconds for each integer program (tables of three or more dimensions).
    progress : callable (done, total), optional
        Called as cells are settled.

    Returns
    -------
    CellIntervals
        Every interval contains the true count. Exact in two dimensions (network flow) and in more
        (integer programming) unless a program runs out of time.

    Raises
    ------
    ValueError
        If the margins do not add up, or no table fits (`InconsistentReleaseError`).

    Examples
    --------
    >>> from attacks.interval.cell_limits import suppressed_cells
    >>> release = np.array([[-1, -1, 7, -1, -1], [-1, -1, -1, 2, 8]])
    >>> rows, columns = Margin.exact((0,), [10, 11]), Margin.exact((1,), [2, 1, 7, 3, 8])
    >>> cells = suppressed_cells(release, threshold=2)
    >>> int(interval_attack(cells, (rows, columns)).revealed.sum())
    7
    """
    shape = limits.lower.shape
    check_margins(shape, margins)
    lower, upper = propagate(limits.lower, limits.upper, margins)
    exact = np.ones(shape, dtype=bool)
    # Totals over no axis are cells, and one set of totals is done by propagation.
    joint = [margin for margin in margins if len(margin.axes) < len(shape)]
    if len(joint) > 1 and (lower < upper).any():
        if len(shape) == 2 and {margin.axes for margin in joint} <= TWO_WAY:
            lower, upper = two_way_intervals(lower, upper, joint, progress)
        else:
            lower, upper, exact = integer_intervals(
                lower, upper, joint, time_limit=time_limit, progress=progress
            )
    return CellIntervals(
        lower=lower,
        upper=np.where(upper >= UNLIMITED, np.inf, upper.astype(np.float64)),
        hidden=limits.hidden,
        exact=exact,
    )
