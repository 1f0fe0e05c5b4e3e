"""Complements chosen one protection after the other, then thinned out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechanisms.check import FloatArray, IntArray
from mechanisms.deterministic.count_table import BoolArray
from mechanisms.deterministic.moves import Moves, attainable
from mechanisms.deterministic.protection import (
    Demand,
    Progress,
    ProtectionProblem,
    Shortfall,
    Suppression,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedySuppression:
    """Protect one cell after the other by the cheapest move through published cells.

    For each end of each protection range, the cells of the cheapest other table that reaches it
    are suppressed; at the end complements that turned out to be needless are published again,
    dearest first.

    Parameters
    ----------
    thin_out : bool
        Whether to do the last step, most of the time.
    """

    thin_out: bool = True

    def suppress(self, problem: ProtectionProblem, progress: Progress | None = None) -> Suppression:
        """Choose complements of one table.

        Parameters
        ----------
        problem : ProtectionProblem
        progress : callable (done, total), optional
            Called after each protection, and each trial of the last step.
        """
        search = _Search(moves=Moves(problem=problem), costs=problem.costs())
        demands = problem.demands()
        # Wide ranges first: their moves protect many others on the way.
        demands.sort(key=lambda d: -abs(d.count - int(problem.flat[d.cell])))
        for done, demand in enumerate(demands, start=1):
            search.protect(demand)
            if progress is not None:
                progress(done, len(demands))
        if self.thin_out:
            search.thin_out(progress)
        complements = search.suppressed & ~problem.primary.ravel()
        return Suppression(
            complements=complements.reshape(problem.table.shape),
            cost=float(search.costs[complements].sum()),
            least_cost=0.0,
            short=tuple(search.short),
        )


@dataclass(slots=True, kw_only=True, eq=False)
class _Search:
    """The suppressed cells so far, and for each demand a table that proves it met."""

    moves: Moves
    costs: FloatArray
    suppressed: BoolArray = field(init=False)
    proofs: dict[Demand, IntArray] = field(default_factory=dict)
    tables: list[IntArray] = field(default_factory=list)
    short: list[Shortfall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.suppressed = self.moves.problem.primary.ravel().copy()
        self.tables.append(self.moves.problem.flat)

    def protect(self, demand: Demand) -> None:
        """Suppress what the demand needs, if no table found so far meets it."""
        candidates = self.moves.problem.candidates()
        if not self._proved(demand):
            moved = self.moves.cheapest(demand, self.suppressed, candidates, self.costs)
            if moved is None:
                everything = self.suppressed | candidates
                demand, shortfall = attainable(self.moves, demand, everything)
                assert shortfall is not None
                self.short.append(shortfall)
                if self._proved(demand):
                    return
                moved = self.moves.cheapest(demand, self.suppressed, candidates, self.costs)
                assert moved is not None
            self.suppressed |= moved != self.moves.problem.flat
            self.tables.append(moved)
            self.proofs[demand] = moved

    def _proved(self, demand: Demand) -> bool:
        for table in self.tables:
            if demand.met(int(table[demand.cell])):
                self.proofs[demand] = table
                return True
        return False

    def thin_out(self, progress: Progress | None) -> None:
        """Publish complements again whose demands can be met without them, dearest first."""
        problem = self.moves.problem
        complements = np.flatnonzero(self.suppressed & ~problem.primary.ravel())
        order = complements[np.argsort(-self.costs[complements], kind="stable")]
        for done, cell in enumerate(order, start=1):
            self._without(int(cell))
            if progress is not None:
                progress(done, order.size)

    def _without(self, cell: int) -> None:
        problem = self.moves.problem
        fewer = self.suppressed.copy()
        fewer[cell] = False
        found: dict[Demand, IntArray] = {}
        for demand, table in self.proofs.items():
            if table[cell] == problem.flat[cell]:
                continue  # the proof does not use the cell
            other = next((o for o in found.values() if demand.met(int(o[demand.cell]))), None)
            if other is not None:
                found[demand] = other
                continue
            moved = self.moves.furthest(demand, fewer)
            if not demand.met(int(moved[demand.cell])):
                return
            found[demand] = moved
        self.proofs |= found
        self.suppressed = fewer
