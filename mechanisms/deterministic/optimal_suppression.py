"""Complements by integer programming: the least cost, or the best found with its gap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, bmat, csr_array

from mechanisms.check import positive, whole
from mechanisms.deterministic.count_table import BoolArray
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.deterministic.moves import Moves, attainable
from mechanisms.deterministic.protection import Demand, ProtectionProblem, Suppression

WHOLE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalSuppression:
    """Choose complements of least cost, for tables with few candidates.

    Parameters
    ----------
    time_limit : float
        Seconds for the integer program. The result depends on the machine where it ends first;
        the greedy choice is returned where nothing better was found.
    max_candidates : int
        Larger tables are refused: the program has a copy of the table for each protection.

    References
    ----------
    Fischetti and Salazar (2001), Solving the cell suppression problem on tabular data with linear
    constraints.
    """

    time_limit: float = 30.0
    max_candidates: int = 100

    def __post_init__(self) -> None:
        positive("time_limit", self.time_limit)
        whole("max_candidates", self.max_candidates)

    def suppress(self, problem: ProtectionProblem) -> Suppression:
        """Choose complements of one table."""
        candidates = problem.candidates()
        if candidates.sum() > self.max_candidates:
            raise ValueError(
                f"integer programming takes up to {self.max_candidates} candidates, got "
                f"{candidates.sum()}: use greedy suppression, or raise max_candidates."
            )
        greedy = GreedySuppression().suppress(problem)
        moves = Moves(problem=problem)
        everything = candidates | problem.primary.ravel()
        lowered = [attainable(moves, demand, everything)[0] for demand in problem.demands()]
        needed = [d for d in lowered if d.count != problem.flat[d.cell]]
        if not needed:
            return Suppression(
                complements=greedy.complements, cost=0.0, least_cost=0.0, short=greedy.short
            )
        chosen, bound = self._solve(problem, moves, needed)
        complements, cost = greedy.complements, greedy.cost
        if chosen is not None and _protects(problem, moves, needed, chosen):
            found = float(problem.costs()[chosen].sum())
            if found < cost:
                complements, cost = chosen.reshape(problem.table.shape), found
        # Costs are whole numbers, and so is their least: the bound may be rounded up.
        least = min(cost, float(math.ceil(bound - WHOLE)))
        return Suppression(
            complements=complements, cost=cost, least_cost=max(0.0, least), short=greedy.short
        )

    def _solve(
        self, problem: ProtectionProblem, moves: Moves, demands: list[Demand]
    ) -> tuple[BoolArray | None, float]:
        """Return the best complements found and a lower bound on every choice's cost.

        One binary variable a candidate, and for each demand one other table (as changes), in
        which a candidate may change only if it is suppressed.
        """
        primary, candidate = problem.primary.ravel(), problem.candidates()
        cells = np.flatnonzero(primary | candidate)
        binary = np.flatnonzero(candidate[cells])
        own = problem.flat[cells]
        down = np.maximum(own - problem.low[cells], 0).astype(np.float64)
        up = np.maximum(problem.high[cells] - own, 0).astype(np.float64)
        copies, n, k = len(demands), cells.size, binary.size

        lower, upper = np.tile(-down, (copies, 1)), np.tile(up, (copies, 1))
        for row, demand in enumerate(demands):
            at = int(np.searchsorted(cells, demand.cell))
            end = lower if demand.up else upper
            end[row, at] = demand.count - own[at]
        picks = csr_array((np.ones(k), (np.arange(k), binary)), shape=(k, n))
        spread = block_diag([picks] * copies, format="csr")
        ups = csr_array(np.tile(np.diag(up[binary]), (copies, 1)))
        downs = csr_array(np.tile(np.diag(down[binary]), (copies, 1)))
        totals = block_diag([moves.sums[:, cells]] * copies, format="csr")
        nothing = csr_array((totals.shape[0], k))
        zeros = np.zeros(copies * k)
        constraints = LinearConstraint(
            bmat([[totals, nothing], [spread, -ups], [spread, downs]], format="csr"),
            np.concatenate([np.zeros(totals.shape[0]), np.full(copies * k, -np.inf), zeros]),
            np.concatenate([np.zeros(totals.shape[0]), zeros, np.full(copies * k, np.inf)]),
        )
        costs = problem.costs()[cells[binary]]
        whole_tables = problem.table.ndim > 2
        result = milp(
            np.concatenate([np.zeros(copies * n), costs]),
            integrality=np.concatenate([np.full(copies * n, int(whole_tables)), np.ones(k)]),
            bounds=Bounds(
                np.concatenate([lower.ravel(), np.zeros(k)]),
                np.concatenate([upper.ravel(), np.ones(k)]),
            ),
            constraints=constraints,
            options={"time_limit": self.time_limit, "mip_rel_gap": 0.0},
        )
        bound = result.get("mip_dual_bound")
        least = 0.0 if bound is None or not math.isfinite(bound) else float(bound)
        if result.x is None:
            return None, least
        chosen = np.zeros(problem.table.size, dtype=bool)
        chosen[cells[binary]] = result.x[copies * n :] > 0.5
        return chosen, least


def _protects(
    problem: ProtectionProblem, moves: Moves, demands: list[Demand], chosen: BoolArray
) -> bool:
    """Check every demand again: a binary variable within 1e-6 of 0 lets large counts move a bit."""
    suppressed = chosen | problem.primary.ravel()
    return all(
        demand.met(int(moves.furthest(demand, suppressed)[demand.cell])) for demand in demands
    )
