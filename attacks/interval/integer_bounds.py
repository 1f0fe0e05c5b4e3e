"""Intervals of tables of any number of dimensions by integer programming."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from attacks.interval.propagation import InconsistentReleaseError
from mechanisms.check import IntArray, positive
from mechanisms.deterministic.count_table import BoolArray, Margin, margin_matrix

Progress = Callable[[int, int], None]
WHOLE = 1e-6
INFEASIBLE = 2


def integer_intervals(
    lower: IntArray,
    upper: IntArray,
    margins: Sequence[Margin],
    *,
    time_limit: float = 10.0,
    progress: Progress | None = None,
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the smallest and largest count of every cell over all tables of whole counts.

    With three or more dimensions the linear relaxation can be wider than the truth, so whole
    numbers are asked for; cells that no free total joins are solved apart.

    Parameters
    ----------
    lower, upper : int arrays of shape (*shape,)
        Finite limits, such as `propagate` returns.
    margins : sequence of Margin
    time_limit : float
        Seconds for each of a cell's two programs.
    progress : callable (done, total), optional
        Called after each program, with the number of cells done.

    Returns
    -------
    lower, upper : int arrays
        Never narrower than the truth.
    exact : boolean array
        False where a program ran out of time: then the limits are proved, maybe too wide.
    """
    positive("time_limit", time_limit)
    matrix = margin_matrix(lower.shape, [margin.axes for margin in margins])
    need = np.concatenate([margin.lower.ravel() for margin in margins])
    room = np.concatenate([margin.upper.ravel() for margin in margins])
    low, high = lower.ravel().copy(), upper.ravel().copy()
    exact = np.ones(low.size, dtype=bool)
    free = np.flatnonzero(low < high)
    fixed = matrix @ np.where(low < high, 0, low)
    done = 0
    for part in _parts(matrix[:, free]):
        cells = free[part]
        columns = matrix[:, cells]
        rows = np.flatnonzero(np.diff(columns.indptr))
        # A total's other free cells lie in the same part, so the rest of it is fixed.
        program = _Program(
            columns=csr_array(columns[rows]),
            need=(need - fixed)[rows],
            room=(room - fixed)[rows],
            low=low[cells],
            high=high[cells],
            time_limit=time_limit,
        )
        for at, cell in enumerate(cells):
            for up in (False, True):
                value, sure = program.extreme(at, up)
                (high if up else low)[cell] = value
                exact[cell] &= sure
            done += 1
            if progress is not None:
                progress(done, free.size)
    shape = lower.shape
    return low.reshape(shape), high.reshape(shape), exact.reshape(shape)


def _parts(columns: csr_array) -> list[IntArray]:
    """Return the groups of cells that totals join."""
    joined = csr_array(abs(columns).T @ abs(columns))
    n, label = connected_components(joined, directed=False)
    return [np.flatnonzero(label == part) for part in range(n)]


@dataclass(slots=True, kw_only=True, eq=False)
class _Program:
    """One group of cells, and the counts seen in tables that fit so far."""

    columns: csr_array
    need: IntArray
    room: IntArray
    low: IntArray
    high: IntArray
    time_limit: float
    seen_low: IntArray | None = None
    seen_high: IntArray | None = None

    def extreme(self, at: int, up: bool) -> tuple[int, bool]:
        """Return a cell's largest or smallest count, and whether it is known to be attained."""
        limit = int((self.high if up else self.low)[at])
        seen = self.seen_high if up else self.seen_low
        if seen is not None and seen[at] == limit:
            return limit, True
        price = np.zeros(self.low.size)
        price[at] = -1.0 if up else 1.0
        found = milp(
            price,
            integrality=1,
            bounds=Bounds(self.low, self.high),
            constraints=LinearConstraint(self.columns, self.need, self.room),
            options={"time_limit": self.time_limit, "mip_rel_gap": 0.0},
        )
        if found.status == INFEASIBLE:
            raise InconsistentReleaseError(
                "totals must fit the cells: no table of whole counts has these totals."
            )
        reached = None
        if found.x is not None:
            table = np.rint(found.x).astype(np.int64)
            sums = self.columns @ table
            if ((sums >= self.need) & (sums <= self.room)).all():
                reached = int(table[at])
                self._record(table)
        bound = found.get("mip_dual_bound")
        if found.status != 0 or reached is None:
            if bound is None or not math.isfinite(bound):
                return limit, False
            proved = math.floor(-bound + WHOLE) if up else math.ceil(bound - WHOLE)
            value = min(limit, proved) if up else max(limit, proved)
            return value, value == reached
        (self.high if up else self.low)[at] = reached
        return reached, True

    def _record(self, table: IntArray) -> None:
        if self.seen_low is None or self.seen_high is None:
            self.seen_low, self.seen_high = table.copy(), table.copy()
        np.minimum(self.seen_low, table, out=self.seen_low)
        np.maximum(self.seen_high, table, out=self.seen_high)
