"""The study that publishes: one release of one mechanism, to a file, once."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from bench.advise.release_file import beside, on_grid, refuse_second, release_text, write_once
from bench.config.build import ConfigError
from bench.core.cell import FINISHED, NOT_APPLICABLE, AnyCell, Cell, CellResult, Plain
from bench.core.code_fingerprint import code_version, fingerprint
from bench.scenarios.base import HasClaim, HasNotes, HasTrueAnswer, Scenario
from bench.study.cell_rows import claimed_row
from bench.study.cross import absent_data, cell_name
from bench.study.session import Session
from bench.study.target import known
from mechanisms.base import Calibration, Mechanism, NotApplicableError
from mechanisms.check import NotPossibleError
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSpec:
    """What is released, and where to."""

    scenario: Plain
    scenario_label: str
    mechanism: Plain
    mechanism_label: str
    budget: Plain
    file: str

    @property
    def components(self) -> tuple[Plain, ...]:
        """The configuration of everything that is built."""
        return (self.scenario, self.mechanism)


@dataclass(frozen=True, kw_only=True)
class Publish:
    """Release the answer of the recorded data once, its guarantee beside it.

    All chance, of the noise and of which records are taken, comes from the operating system's
    entropy: no seed can repeat it.

    Parameters
    ----------
    scenarios, mechanisms : mapping of label to configuration
        One of each.
    grid : mapping of name to float
        The budget.
    file : str
        Where the release goes; an existing one is refused.
    """

    scenarios: Mapping[str, Plain]
    mechanisms: Mapping[str, Plain]
    grid: Mapping[str, Any]
    file: str

    def __post_init__(self) -> None:
        for name in ("scenarios", "mechanisms"):
            if len(getattr(self, name)) != 1:
                got = ", ".join(getattr(self, name)) or "none"
                raise ConfigError(f"one release takes one of {name}, got {got}.")
        for name, value in self.grid.items():
            if isinstance(value, list | tuple):
                raise ConfigError(f"one release takes one budget, got grid.{name}={value!r}.")

    def cells(self, session: Session | None = None) -> list[Cell[PublishSpec]]:
        """List the one release; refuse an output that holds one."""
        session = session or Session()
        refuse_second(Path(self.file))
        (label, config), (name, mechanism) = (
            *self.scenarios.items(), *self.mechanisms.items()
        )  # fmt: skip
        scenario: Scenario = session.build(config, f"scenario {label}")
        if absent := absent_data(scenario):
            raise ConfigError(absent)
        calibration: Calibration = session.build(mechanism, f"mechanism {name}")
        wanted = [field.name for field in fields(calibration.accepts)]
        budget = {n: float(self.grid[n]) for n in wanted if n in self.grid}
        calibration.accepts(**budget)
        if math.inf in budget.values():
            raise ConfigError(
                "an infinite budget means no noise: the answer itself is not released."
            )
        labels = {"scenario": label, "mechanism": name} | budget
        spec = PublishSpec(
            scenario=dict(config), scenario_label=label, mechanism=mechanism, mechanism_label=name,
            budget=budget, file=str(Path(self.file).absolute()),
        )  # fmt: skip
        return [
            Cell(
                name=f"publish {cell_name(labels)}", labels=labels, spec=spec,
                digest=scenario.digest, code=fingerprint(spec.components, code_version()),
            )
        ]  # fmt: skip

    def run_cell(self, cell: Cell[PublishSpec], session: Session) -> CellResult:
        """Release once, and write it."""
        spec = cell.spec
        scenario: Scenario = session.build(spec.scenario, f"scenario {spec.scenario_label}")
        scenario.check()
        cell.check_data(scenario.digest)
        try:
            facts = self._release(spec, scenario, session)
        except NotPossibleError as reason:
            return CellResult(status=NOT_APPLICABLE, facts={"reason": str(reason)})
        guarantee = facts.pop("guarantee")
        rows = [claimed_row(guarantee) | {"notion": guarantee.name, "unit": guarantee.notion.unit}]
        return CellResult(status=FINISHED, rows=rows, facts=facts)

    def _release(self, spec: PublishSpec, scenario: Scenario, session: Session) -> Plain:
        calibration: Calibration = session.build(
            spec.mechanism, f"mechanism {spec.mechanism_label}"
        )
        if not isinstance(scenario, HasTrueAnswer):
            raise NotApplicableError("the scenario has no recorded answer to release")
        knowledge = [known(scenario, kind) for kind in calibration.requires]
        mechanism = calibration.calibrate(*knowledge, budget=calibration.accepts(**spec.budget))
        if mechanism.sees != "answers":
            raise NotApplicableError("it works on records, of which no answer is released")
        claim = claimed_by(mechanism, scenario, spec.budget.get("delta", 0.0))
        if isinstance(claim, NoClaim) or claim.unbounded:
            reason = claim.reason if isinstance(claim, NoClaim) else "its claim is unbounded"
            raise NotApplicableError(f"nothing is promised: {reason}")
        rng = np.random.default_rng(secrets.randbits(256))
        recorded = scenario.true_answer(rng)
        released, grid = on_grid(mechanism.release(recorded.answer, rng), recorded, mechanism)
        text = release_text(
            released, scenario.statistics, recorded,
            ranked=np.issubdtype(released.dtype, np.integer),
        )  # fmt: skip
        notes = scenario.notes if isinstance(scenario, HasNotes) else ()
        beside_it = {
            "mechanism": spec.mechanism_label,
            "budget": ", ".join(f"{k}={v!r}" for k, v in spec.budget.items()),
            "guarantee": f"{claim.name}: {claim.notion.unit} <= {claim.bound:.6g}",
            "theorem": claim.theorem,
            "assumptions": str(claim.assumptions),
            "notes": "; ".join(claim.notes) or "none",
            "secrets": ", ".join(scenario.secrets),
            "released": recorded.note,
            "grid": grid,
            "chance": "from the operating system's entropy",
            "data": "synthetic" if scenario.synthetic else "; ".join(notes) or "as read",
            "once": "another release of these data composes with this one, whatever its output; a "
            "choice of mechanism or budget that read these data is not covered",
        }
        lines = "".join(f"{name}: {told}\n" for name, told in beside_it.items())
        write_once(Path(spec.file), text, lines)
        told = {k: v for k, v in beside_it.items() if k != "guarantee"}
        return {"guarantee": claim, "unit": claim.notion.unit} | told

    def words(self, results: Sequence[tuple[AnyCell, CellResult]], overrides: Sequence[str]) -> str:
        """Return where the release is."""
        del overrides
        ((cell, result),) = results
        path = Path(cell.spec.file)
        if result.status != FINISHED:
            return "Nothing was released."
        if not path.exists():
            return (
                f"Nothing was released: the store has this release already, and its file {path} is "
                "gone. A second one would compose with it."
            )
        return f"Released once: {path}\nIts guarantee: {beside(path)}"


def claimed_by(mechanism: Mechanism, scenario: Scenario, delta: float) -> Guarantee | NoClaim:
    """Return what one release guarantees about the scenario's secrets."""
    if isinstance(scenario, HasClaim):
        return scenario.claim(mechanism, 1, delta)
    return mechanism.guarantee
