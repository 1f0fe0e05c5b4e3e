"""Other tables with the same totals: how far a cell can move, and at what price."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack

from mechanisms.check import FloatArray, IntArray
from mechanisms.deterministic.count_table import BoolArray, margin_matrix
from mechanisms.deterministic.protection import Demand, ProtectionProblem, Shortfall

INFEASIBLE = 2
TIDY = 1e-6  # price of moving a suppressed cell: no detours that change nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moves:
    """Tables that agree with a problem's totals and marks, found by linear programming.

    In two dimensions the programs' corners are whole numbers; in more, whole numbers are asked
    for.
    """

    problem: ProtectionProblem
    sums: csc_array = field(init=False)

    def __post_init__(self) -> None:
        sums = margin_matrix(self.problem.table.shape, self.problem.margins)
        object.__setattr__(self, "sums", csc_array(sums))

    def furthest(self, demand: Demand, allowed: BoolArray) -> IntArray:
        """Return the table in which the demand's cell moves furthest; other cells keep theirs.

        Parameters
        ----------
        demand : Demand
            Only its cell and direction are read.
        allowed : boolean array, flat
            The cells that may change.
        """
        cells = np.flatnonzero(allowed)
        price = np.where(cells == demand.cell, -1.0 if demand.up else 1.0, 0.0)
        moved = self._solve(cells, price, None)
        assert moved is not None  # the table itself is one
        return moved

    def cheapest(
        self, demand: Demand, suppressed: BoolArray, candidates: BoolArray, costs: FloatArray
    ) -> IntArray | None:
        """Return a table that meets the demand with little movement of published cells, or None.

        Parameters
        ----------
        demand : Demand
        suppressed : boolean array, flat
            Cells that may change for nothing.
        candidates : boolean array, flat
            Cells that may change at their cost a unit.
        costs : array, flat
        """
        cells = np.flatnonzero(suppressed | candidates)
        price = np.where(suppressed[cells], TIDY, costs[cells] + TIDY)
        return self._solve(cells, price, demand)

    def _solve(self, cells: IntArray, price: FloatArray, demand: Demand | None) -> IntArray | None:
        """Minimise the price of the changes: signed without a demand, absolute with one."""
        problem = self.problem
        own = problem.flat[cells]
        down, up = own - problem.low[cells], problem.high[cells] - own
        # A published zero below its mark's lower limit stays what it is.
        down, up = np.maximum(down, 0), np.maximum(up, 0)
        columns = self.sums[:, cells]
        if demand is None:
            objective, matrix = price, columns
            bounds = np.stack([-down, up], axis=1)
        else:
            objective = np.concatenate([price, price])
            matrix = csc_array(hstack([columns, -columns]))
            upper = np.concatenate([up, down])
            lower = np.zeros_like(upper)
            at = int(np.searchsorted(cells, demand.cell))
            needed = abs(demand.count - int(own[at]))
            side = at if demand.up else at + cells.size
            lower[side] = needed
            if needed > upper[side]:
                return None
            upper[at + cells.size if demand.up else at] = 0
            bounds = np.stack([lower, upper], axis=1)
        found = linprog(
            objective,
            A_eq=matrix if matrix.shape[0] else None,
            b_eq=np.zeros(matrix.shape[0]) if matrix.shape[0] else None,
            bounds=bounds,
            method="highs",
            integrality=1 if problem.table.ndim > 2 else 0,
        )
        if found.status == INFEASIBLE:
            return None
        if found.x is None:
            raise RuntimeError(f"the linear program ended without a solution: {found.message}")
        change = np.rint(found.x).astype(np.int64)
        if demand is not None:
            change = change[: cells.size] - change[cells.size :]
        if (columns @ change).any():
            raise RuntimeError("the linear program's solution is not whole: totals would change")
        moved = problem.flat.copy()
        moved[cells] += change
        return moved


def attainable(
    moves: Moves, demand: Demand, everything: BoolArray
) -> tuple[Demand, Shortfall | None]:
    """Return the demand, lowered to what suppressing everything would give."""
    reached = int(moves.furthest(demand, everything)[demand.cell])
    if demand.met(reached):
        return demand, None
    lowered = Demand(demand.cell, demand.up, reached)
    return lowered, Shortfall(demand=demand, attainable=reached)
