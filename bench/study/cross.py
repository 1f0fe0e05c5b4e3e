"""The cross: scenarios x mechanisms x budgets x numbers of releases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attacks.base import YIELDS
from bench.config.build import ConfigError, parameters_of
from bench.core.cell import FINISHED, NOT_APPLICABLE, Cell, CellResult, Plain
from bench.core.code_fingerprint import code_version, fingerprint
from bench.core.labels import check_labels, check_names, check_recorded, format_number
from bench.datasets.source import DataAbsentError
from bench.metrics.base import SERVED_BY
from bench.scenarios.base import Scenario, has_new_data
from bench.study.attack_run import play
from bench.study.cell_rows import ledger_rows
from bench.study.cell_spec import CellSpec
from bench.study.game import Game
from bench.study.grid import RELEASES, budget_points, coordinate, product, sort_axes
from bench.study.metric_rows import metric_rows
from bench.study.session import Session
from bench.study.shared_worlds import Sizes
from bench.study.target import known, matched_rows, target_label
from mechanisms.base import (
    Calibration,
    HasNoiselessForm,
    Mechanism,
    NotApplicableError,
    NotOfferedError,
)
from mechanisms.check import one_of, whole, within
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.sharing import HasSharedCalibration, Share, calibrate, check_share

CrossCell = Cell[CellSpec]


@dataclass(frozen=True, kw_only=True)
class Cross:
    """Cross scenarios with mechanisms, and measure attacks, metrics and notions in each cell.

    Parameters
    ----------
    scenarios, mechanisms, attacks, metrics, notions : mapping of label to configuration
        Plain nodes with ``_target_``; the labels name rows and legends. A cell's ledger has the
        mechanism's own notion first, then `notions`.
    grid : mapping of axis to values
        Budget parameters (epsilon, delta, order), scenario parameters, and n_releases.
    seed : int
        Of worlds, releases and attacks. Streams are named, so no cell depends on another.
    repetitions : int
        Independent repetitions of the game, each with freshly trained attackers.
    n_shadow, n_holdout, n_test : int
        Worlds of each secret in a repetition: for training, for choosing thresholds, for counting.
    delta : float in [0, 1)
        At which the leakage of cells without a claim is measured.
    share : {"each", "together"}
        Whether each of the `n_releases` releases of an answer has the budget, or all together.
    """

    scenarios: Mapping[str, Plain]
    mechanisms: Mapping[str, Plain]
    attacks: Mapping[str, Plain] = field(default_factory=dict)
    metrics: Mapping[str, Plain] = field(default_factory=dict)
    notions: Mapping[str, Plain] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    repetitions: int = 1
    n_shadow: int = 1000
    n_holdout: int = 1000
    n_test: int = 1000
    delta: float = 0.001
    share: Share = "each"

    def __post_init__(self) -> None:
        for name in ("repetitions", "n_shadow", "n_holdout", "n_test"):
            whole(name, getattr(self, name))
        whole("seed", self.seed, low=0)
        within("delta", self.delta, 0, 1, ends="[)")
        check_share(self.share)
        for name in ("scenarios", "mechanisms"):
            if not getattr(self, name):
                raise ConfigError(f"a cross needs {name}, got none.")

    def cells(self, session: Session | None = None) -> list[CrossCell]:
        """List the cells, scenario by scenario and mechanism by mechanism."""
        session = session or Session()
        for kind in ("scenario", "mechanism", "attack", "metric", "notion"):
            check_labels(kind, getattr(self, f"{kind}s"))
        for label, config in self.attacks.items():
            attack = session.build(config, f"attack {label}")
            one_of(f"yields of attack {label}", getattr(attack, "yields", None), YIELDS)
        for label, config in self.notions.items():
            session.build(config, f"notion {label}")
        metrics = {name: session.build(c, f"metric {name}") for name, c in self.metrics.items()}
        for label, metric in metrics.items():
            one_of(f"needs of metric {label}", getattr(metric, "needs", None), tuple(SERVED_BY))
        named = {label: (metric.name, metric.needs) for label, metric in metrics.items()}
        check_recorded(self.grid, list(self.attacks), named)
        cells = [
            cell
            for label, config in self.scenarios.items()
            for cell in self._scenario_cells(label, dict(config), session)
        ]
        check_names((cell.name, cell.labels) for cell in cells)
        return cells

    def _scenario_cells(self, label: str, config: Plain, session: Session) -> list[CrossCell]:
        built = {name: session.build(c, f"mechanism {name}") for name, c in self.mechanisms.items()}
        accepted = [calibration.accepts for calibration in built.values()]
        grid = sort_axes(self.grid, parameters_of(config, f"scenario {label}"), accepted)
        found: dict[str, CrossCell] = {}
        packages = code_version()
        for at in product(grid.scenario):
            placed = config | at
            scenario: Scenario = session.build(placed, f"scenario {label}")
            absent = absent_data(scenario)
            for name, calibration in built.items():
                points, missing = budget_points(grid.budget, calibration.accepts)
                missing = absent or missing
                target = {} if absent else target_label(calibration, scenario)
                for point in points:
                    if not missing:
                        calibration.accepts(**point)
                    for k in grid.n_releases:
                        axes = at | point | ({RELEASES: k} if grid.n_releases != [1] else {})
                        shown = {axis: coordinate(value) for axis, value in axes.items()}
                        labels = {"scenario": label, "mechanism": name} | target | shown
                        spec = self._spec(label, placed, name, point, k, missing)
                        cell = Cell(
                            name=cell_name(labels, qualified=len(self.scenarios) > 1),
                            labels=labels,
                            spec=spec,
                            digest="" if absent else scenario.digest,
                            code=fingerprint(spec.components, packages),
                        )
                        found.setdefault(cell.key, cell)
        return list(found.values())

    def _spec(
        self, label: str, scenario: Plain, name: str, point: Plain, k: int, missing: str
    ) -> CellSpec:
        sizes = Sizes(
            repetitions=self.repetitions, shadow=self.n_shadow, holdout=self.n_holdout,
            test=self.n_test,
        )  # fmt: skip
        return CellSpec(
            scenario=scenario, scenario_label=label, mechanism=self.mechanisms[name],
            mechanism_label=name, budget=point, n_releases=k, missing=missing,
            attacks=self.attacks, metrics=self.metrics, notions=self.notions, sizes=sizes,
            seed=self.seed, delta=self.delta, share=self.share,
        )  # fmt: skip

    def run_cell(self, cell: CrossCell, session: Session) -> CellResult:
        """Calibrate, release, attack and score one cell."""
        spec = cell.spec
        shared = session.worlds(
            spec.scenario_label, spec.scenario, sizes=spec.sizes, seed=spec.seed
        )
        if not spec.missing:
            cell.check_data(shared.scenario.digest)
        try:
            mechanism = calibrate_cell(spec, shared.scenario, session)
        except (NotApplicableError, NotOfferedError) as reason:
            return CellResult(status=NOT_APPLICABLE, facts={"reason": str(reason)})
        except ImportError as reason:  # an extra that may be installed next time
            return CellResult(status=NOT_APPLICABLE, facts={"reason": str(reason), "retry": "yes"})
        game = Game(
            session=session, shared=shared, mechanism=mechanism, n_releases=spec.n_releases,
            release_stream=spec.release_stream,
        )  # fmt: skip
        played = play(game, spec.attacks)
        rows, more = metric_rows(game, played, spec.metrics)
        notions = [session.build(c, f"notion {label}") for label, c in spec.notions.items()]
        delta = spec.budget.get("delta", spec.delta)
        ledger, told = ledger_rows(game, played.scored, delta, notions)
        calibration = session.build(spec.mechanism, f"mechanism {spec.mechanism_label}")
        rows += matched_rows(calibration, mechanism, shared.scenario, spec)
        return CellResult(status=FINISHED, rows=ledger + rows, facts=played.reasons | more | told)


def absent_data(scenario: Scenario) -> str:
    """Check a scenario; return why it is to be skipped where data that may be absent are."""
    try:
        scenario.check()
    except DataAbsentError as reason:
        return str(reason)
    return ""


def calibrate_cell(spec: CellSpec, scenario: Scenario, session: Session) -> Mechanism:
    """Calibrate the cell's mechanism to its budget; an infinite epsilon means no noise."""
    if spec.missing:
        raise NotApplicableError(spec.missing)
    calibration: Calibration = session.build(spec.mechanism, f"mechanism {spec.mechanism_label}")
    if calibration.accepts is NoBudget:
        budget: Any = NoBudget()
    else:
        budget = calibration.accepts(**spec.budget)
    knowledge = [known(scenario, kind) for kind in calibration.requires]
    if getattr(budget, "epsilon", 0.0) == math.inf:
        if isinstance(calibration, HasNoiselessForm):
            return calibration.without_noise(*knowledge)
        return ExactRelease()
    if calibration.accepts is NoBudget and not isinstance(calibration, HasSharedCalibration):
        # There is nothing to share.
        return calibration.calibrate(*knowledge, budget=budget)
    if spec.share == "together" and spec.n_releases > 1 and has_new_data(scenario):
        raise NotApplicableError(
            "releases of new data share no budget here: share=each gives every one its own"
        )
    return calibrate(
        calibration, knowledge, budget=budget, n_releases=spec.n_releases, share=spec.share
    )


def cell_name(labels: Plain, *, qualified: bool = False) -> str:
    """Return a readable name: the mechanism, its coordinates, the scenario if there are several."""
    short = {"epsilon": "eps", "n_releases": "k"}
    rest = [
        f"{short.get(name, name)}={format_number(value)}"
        for name, value in labels.items()
        if name not in ("scenario", "mechanism")
    ]
    place = [f"@{labels['scenario']}"] if qualified else []
    return " ".join([str(labels["mechanism"]).replace("_", "-"), *rest, *place])
