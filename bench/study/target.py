"""Cells whose mechanism is calibrated to an exact number: what is matched, and what was met."""

from __future__ import annotations

from bench.core.cell import Plain
from bench.scenarios.base import HasDatabaseLaw, K, Scenario
from bench.study.cell_rows import exact_row
from bench.study.cell_spec import CellSpec
from mechanisms.base import Calibration, HasTarget, Mechanism, NotOfferedError
from mechanisms.knowledge import AnswerLaws

TARGET = "target"
MATCHED = "matched"
FEW = 2  # pairs that a name lists


def known(scenario: Scenario, kind: type[K]) -> K:
    """Return one typed fact of a scenario, its laws among them, or raise NotOfferedError."""
    if kind is not AnswerLaws:
        return scenario.knowledge(kind)
    laws = answer_laws(scenario)
    assert isinstance(laws, kind)
    return laws


def answer_laws(scenario: Scenario) -> AnswerLaws:
    """Return the laws of answers and of records that a scenario knows."""
    secrets = range(len(scenario.secrets))
    databases = None
    if isinstance(scenario, HasDatabaseLaw):
        databases = tuple(scenario.database_law(s) for s in secrets)
    try:
        answers = tuple(scenario.law(s) for s in secrets)
    except NotOfferedError:
        if databases is None:
            raise
        answers = None
    return AnswerLaws(
        answers=answers,
        databases=databases,
        pairs=scenario.pairs,
        worlds_from_model=scenario.worlds_from_model,
    )


def target_label(calibration: Calibration, scenario: Scenario) -> dict[str, str]:
    """Return a matched cell's further coordinate: number, value, secret pairs and adversary."""
    if not isinstance(calibration, HasTarget):
        return {}
    secrets, pairs = scenario.secrets, scenario.pairs
    listed = " or ".join(f"{secrets[i]} | {secrets[j]}" for i, j in pairs[:FEW])
    named = listed if len(pairs) <= FEW else f"the worst of {len(pairs)} pairs"
    place = "in the model" if scenario.worlds_from_model else "on records"
    return {TARGET: f"{calibration.target_name}: {named}, known laws, {place}"}


def matched_rows(
    calibration: Calibration, mechanism: Mechanism, scenario: Scenario, spec: CellSpec
) -> list[Plain]:
    """Return the exact number that was matched: its upper end stands at the target."""
    if not isinstance(calibration, HasTarget):
        return []
    together = spec.n_releases if spec.share == "together" else 1
    return [exact_row(MATCHED, calibration.achieved(mechanism, answer_laws(scenario), together))]
