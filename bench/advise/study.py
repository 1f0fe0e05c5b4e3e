"""The study behind advice: budgets are found, cells measured, and the choice measured again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from bench.advise.advice import Advice
from bench.advise.budgets import Points, budgets_for
from bench.advise.candidate import Candidate, budget_of, in_order
from bench.advise.target import Target
from bench.config.build import ConfigError
from bench.core.cell import FINISHED, AnyCell, Cell, CellResult, Plain
from bench.core.code_fingerprint import code_version, fingerprint
from bench.core.intervals import LEVEL
from bench.core.randomness import rng_for
from bench.scenarios.base import Scenario
from bench.study.cross import Cross, CrossCell, absent_data, cell_name
from bench.study.grid import axis_values
from bench.study.session import Session
from mechanisms.base import NotApplicableError, NotOfferedError
from mechanisms.check import whole
from mechanisms.privacy.indistinguishability import Approximate

APPROXIMATE = "mechanisms.privacy.indistinguishability.Approximate"
SEARCH, FRESH = "search", "fresh"
TRIES = 5


@dataclass(frozen=True, kw_only=True)
class Advise(Cross):
    """Find the mechanism that meets a target at least cost, and measure it on fresh worlds.

    Every mechanism's budget is found from exact numbers (`budgets_for`), and every cell is measured
    as a cell of a cross. The best that meets the target is measured again, on `fresh` times as many
    worlds of a stream of its own; if it fails there the next one is. The upper end that counts errs
    with 2.5 % at the first try and half as much at every further one, 5 % in all.

    Parameters
    ----------
    target : mapping
        Of `bench.advise.target.Target`.
    utility : str
        Name of the metric that ranks.
    fresh : int
        How many times `n_test` worlds the choice is measured on.

    Notes
    -----
    The other parameters are those of `Cross`; of the grid only epsilon, the budgets to try where
    no exact number tells.
    """

    target: Mapping[str, Any] = field(default_factory=dict)
    utility: str = "l2"
    fresh: int = 5

    def __post_init__(self) -> None:
        Cross.__post_init__(self)
        self.wanted  # noqa: B018  (refuses a target that is none)
        whole("fresh", self.fresh)
        if set(self.grid) != {"epsilon"}:
            raise ConfigError(
                f"advice takes grid.epsilon alone, the budgets to try, got {sorted(self.grid)}: "
                "delta and order are the target's, other parameters the scenario's."
            )

    @cached_property
    def wanted(self) -> Target:
        """The target."""
        return Target.of(self.target)

    @property
    def _notion(self) -> Plain:
        return {"_target_": APPROXIMATE, "delta": self.wanted.delta}

    def _scenario_cells(self, label: str, config: Plain, session: Session) -> list[CrossCell]:
        scenario: Scenario = session.build(config, f"scenario {label}")
        absent = absent_data(scenario)
        found: dict[str, CrossCell] = {}
        for name in self.mechanisms:
            points, missing = Points(budgets=[{}], found="no dial"), absent
            if not absent:
                points, missing = self._points(name, scenario, session)
            for point in points.budgets:
                labels = {"scenario": label, "mechanism": name} | point
                labels |= {"budget_by": points.found, "stage": SEARCH}
                cell = self._cell(labels, config, point, missing, "" if absent else scenario.digest)
                found.setdefault(cell.key, cell)
        return list(found.values())

    def _points(self, name: str, scenario: Scenario, session: Session) -> tuple[Points, str]:
        """Return the budgets of a mechanism, or one hole and the reason."""
        calibration = session.build(self.mechanisms[name], f"mechanism {name}")
        ladder = [float(e) for e in axis_values("epsilon", self.grid["epsilon"])]
        try:
            return budgets_for(calibration, scenario, self.wanted, ladder), ""
        except (NotApplicableError, NotOfferedError, ImportError) as reason:
            return Points(budgets=[{}], found="none"), str(reason)

    def _cell(
        self, labels: Plain, config: Plain, point: Plain, missing: str, digest: str
    ) -> CrossCell:
        spec = self._spec(
            str(labels["scenario"]), config, str(labels["mechanism"]), point, 1, missing
        )
        spec = replace(spec, notions=dict(spec.notions) | {"target": self._notion})
        return Cell(
            name=cell_name(labels, qualified=len(self.scenarios) > 1), labels=labels, spec=spec,
            digest=digest, code=fingerprint(spec.components, code_version()),
        )  # fmt: skip

    def follow_up(self, results: Sequence[tuple[AnyCell, CellResult]]) -> list[AnyCell]:
        """Return the next cell to measure on fresh worlds, of each scenario that has one left."""
        return [
            self._again(advice.next.cell)
            for advice in self.advice(results)
            if advice.next is not None
        ]

    def words(self, results: Sequence[tuple[AnyCell, CellResult]], overrides: Sequence[str]) -> str:
        """Return the recommendation for every scenario."""
        return "\n\n".join(advice.text(overrides) for advice in self.advice(results))

    def _again(self, cell: CrossCell) -> CrossCell:
        """Return a cell with more worlds, from streams of their own."""
        spec = cell.spec
        sizes = replace(spec.sizes, test=self.fresh * spec.sizes.test)
        seed = int(rng_for(spec.seed, FRESH).integers(2**31))
        labels = cell.labels | {"stage": FRESH}
        again = replace(spec, sizes=sizes, seed=seed)
        return replace(
            cell, name=cell_name(labels, qualified=len(self.scenarios) > 1), labels=labels,
            spec=again,
        )  # fmt: skip

    def advice(self, results: Sequence[tuple[AnyCell, CellResult]]) -> list[Advice]:
        """Return what is advised in every scenario, as far as it was measured."""
        found = []
        for scenario in self.scenarios:
            here = [(c, r) for c, r in results if c.labels["scenario"] == scenario]
            searched, again = (
                [(c, r) for c, r in here if c.labels["stage"] == stage] for stage in (SEARCH, FRESH)
            )
            found.append(self._advice(scenario, searched, again))
        return found

    def _advice(
        self,
        scenario: str,
        searched: Sequence[tuple[AnyCell, CellResult]],
        again: Sequence[tuple[AnyCell, CellResult]],
    ) -> Advice:
        measured = [self._read(c, r) for c, r in searched if r.status == FINISHED]
        reasons = [
            (str(c.labels["mechanism"]), r.facts.get("reason", r.status))
            for c, r in (*searched, *again)
            if r.status != FINISHED
        ]
        fresh = {place(c): self._read(c, r) if r.status == FINISHED else None for c, r in again}
        shortlist = in_order(measured)[:TRIES]
        tried: list[Candidate] = []
        chosen, following = None, None
        for candidate in shortlist:
            at = place(candidate.cell)
            if at not in fresh:
                following = candidate
                break
            found = fresh[at]
            if found is None:
                continue
            tried.append(found)
            if found.meets(1 - (1 - LEVEL) / 2 ** (len(tried) - 1)):
                chosen = found
                break
        return Advice(
            scenario=scenario, target=self.wanted, chosen=chosen, next=following, tried=tried,
            shortlist=shortlist, searched=measured, reasons=reasons,
        )  # fmt: skip

    def _read(self, cell: AnyCell, result: CellResult) -> Candidate:
        unit = Approximate(delta=self.wanted.delta).unit
        return Candidate(
            cell=cell, result=result, target=self.wanted, unit=unit, utility=self.utility
        )


def place(cell: AnyCell) -> tuple[object, ...]:
    """Return what a cell and its repetition on fresh worlds have in common."""
    return (cell.labels["mechanism"], *budget_of(cell).items())
