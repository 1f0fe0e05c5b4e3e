"""The loop: cells that are missing are measured and recorded; tables and figures come after."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from bench.core.cell import (
    FAILED,
    NOT_APPLICABLE,
    AnyCell,
    CellResult,
    Plain,
    RecordedCell,
    canonical,
    tidy,
)
from bench.figures.draw import draw_all
from bench.store.read_sweep import find_finished, read_cells
from bench.store.run_schema import LONGEST_TAG
from bench.store.tracking import Store
from bench.study.ledger import HOLDS_MODEL
from bench.study.session import HasFollowUp, Session, Study
from bench.sweep.engine import Engine
from bench.sweep.progress import Progress

VERSIONED = ("numpy", "scipy", "scikit-learn", "pandas", "mlflow", "hydra-core")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One question: a study, the figures that answer it, and where it is recorded.

    Parameters
    ----------
    name, title : str
    study : Study
    figures : mapping of label to configuration
    config : mapping
        The resolved configuration, recorded with the sweep.
    output : Path
        Folder of figures and tables.
    """

    name: str
    title: str
    study: Study
    figures: Mapping[str, Plain]
    config: Plain
    output: Path

    def run(
        self,
        engine: Engine,
        store: Store,
        cells: Sequence[AnyCell],
        session: Session | None = None,
        *,
        resume: bool,
    ) -> Outcome:
        """Measure what is missing, record each cell as it ends, then draw from the store.

        Results go to the store as they come; what is kept here are the ids of their runs.
        """
        sweep = sweep_id(self.name, cells)
        experiment_id = store.experiment_id(self.name)
        assert experiment_id is not None
        store.close_orphans(experiment_id)
        session = session or Session()
        listed: list[AnyCell] = []
        runs: dict[str, str] = {}
        computed = 0
        following = list(cells)
        while following:
            keys = [cell.key for cell in following]
            known = find_finished(store, experiment_id, sweep, keys) if resume else {}
            missing = [cell for cell in following if cell.key not in known]
            results = engine.run(self.study, missing, session)
            progress = Progress(len(following), done=len(following) - len(missing))
            with progress, closing(results):
                for cell, result in results:
                    told = store.clean(result)
                    known[cell.key] = store.record(
                        experiment_id, sweep, cell, told, again=not resume
                    )
                    progress.advance(cell, told)
            computed += len(missing)
            listed += following
            runs |= {key: known[key] for key in keys}
            following = self._following(store, experiment_id, listed, runs)
        summary = Summary()
        table = tidy(summary.watch(read_cells(store, experiment_id, list(runs.values()))))
        run_id = store.record_sweep(
            experiment_id, sweep=sweep, experiment=self.name, title=self.title, runs=runs,
            config=self.config, tags=provenance() | summary.notes_tag,
        )  # fmt: skip
        with TemporaryDirectory() as folder:  # another sweep may write to the same output
            drawn = draw_all(table, self.figures, self.title, Path(folder))
            store.attach(run_id, drawn)
            self.output.mkdir(parents=True, exist_ok=True)
            files = [Path(shutil.copy(path, self.output)) for path in drawn]
        return Outcome(
            store=store, sweep=sweep, experiment_id=experiment_id, run_id=run_id,
            cells=listed, runs=list(runs.values()), table=table, summary=summary, files=files,
            computed=computed,
        )  # fmt: skip

    def _following(
        self, store: Store, experiment_id: str, cells: list[AnyCell], runs: Mapping[str, str]
    ) -> list[AnyCell]:
        """Return the cells that the results ask for next, if the study reads them at all."""
        if not isinstance(self.study, HasFollowUp):
            return []
        results = read_cells(store, experiment_id, list(runs.values()))
        read = zip(cells, results, strict=True)
        return self.study.follow_up([(cell, result) for cell, (_, result) in read])


@dataclass(slots=True)
class Summary:
    """What is told of all cells together: units, assumptions, suspect cells, missing numbers."""

    units: set[str] = field(default_factory=set)
    synthetic: bool = False
    notes: set[tuple[str, str]] = field(default_factory=set)
    suspect: list[tuple[str, str]] = field(default_factory=list)
    model_alone: dict[str, list[str]] = field(default_factory=dict)
    assumed: dict[str, dict[str, None]] = field(default_factory=dict)
    unfinished: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many cells failed."""
        return sum(len(names) for (status, _), names in self.unfinished.items() if status == FAILED)

    @property
    def notes_tag(self) -> dict[str, str]:
        """The notes of all readings as a tag of the summary run; cells hold them in full."""
        told = " | ".join(f"{name}: {notes}" for name, notes in sorted(self.notes))
        return {"ingestion_notes": told[:LONGEST_TAG]} if told else {}

    def watch(
        self, results: Iterable[tuple[RecordedCell, CellResult]]
    ) -> Iterator[tuple[RecordedCell, CellResult]]:
        """Pass cells on, and note what they tell."""
        for cell, result in results:
            facts = result.facts
            if "unit" in facts:
                self.units.add(facts["unit"])
            for key, told in facts.items():
                if key == "advice":
                    self.suspect.append((cell.name, told))
                elif key.endswith(": advice"):  # of a notion that was asked for
                    self.suspect.append((f"{cell.name}, {key.removesuffix(': advice')}", told))
            if facts.get("verdict") == HOLDS_MODEL and facts.get("model_alone"):
                told = f"{HOLDS_MODEL}, {facts['model_alone']}"
                self.model_alone.setdefault(told, []).append(cell.name)
            for line in filter(None, facts.get("assumed", "").split("\n")):
                mechanism = str(cell.labels.get("mechanism", cell.name))
                self.assumed.setdefault(f"assumed, {line}", {})[mechanism] = None
            self.synthetic = self.synthetic or facts.get("data") == "synthetic"
            if facts.get("ingestion_notes"):
                name = cell.labels.get("scenario") or cell.labels["mechanism"]
                self.notes.add((str(name), facts["ingestion_notes"]))
            if result.status in (FAILED, NOT_APPLICABLE):
                reason = (result.status, facts.get("reason", ""))
                self.unfinished.setdefault(reason, []).append(cell.name)
            yield cell, result


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a sweep ended with; its cells are in the store."""

    store: Store
    sweep: str
    experiment_id: str
    run_id: str
    cells: list[AnyCell]
    runs: list[str]
    table: pd.DataFrame
    summary: Summary
    files: list[Path]
    computed: int

    @property
    def results(self) -> list[tuple[RecordedCell, CellResult]]:
        """All cells with their results, in order, read from the store."""
        return list(read_cells(self.store, self.experiment_id, self.runs))

    @property
    def listed(self) -> list[tuple[AnyCell, CellResult]]:
        """The cells as they were listed, with their results."""
        read = zip(self.cells, self.results, strict=True)
        return [(cell, result) for cell, (_, result) in read]


def sweep_id(name: str, cells: Sequence[AnyCell]) -> str:
    """Return the identity of a sweep: the same cells in the same order by the same code."""
    text = canonical([name, [c.key for c in cells]])
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def provenance() -> dict[str, str]:
    """Return the versions and the commit under which a sweep ran."""
    tags = {f"version.{name}": version(name) for name in VERSIONED}
    tags |= {"version.python": platform.python_version(), "platform": platform.platform()}
    commit = git_commit()
    return tags | ({"git_commit": commit} if commit else {})


def git_commit() -> str | None:
    """Return the commit of the checkout that this package runs from, if it is one."""
    folder = Path(__file__).resolve().parent
    try:
        answer = subprocess.run(
            ["git", "-C", os.fspath(folder), "rev-parse", "HEAD"],
            capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
