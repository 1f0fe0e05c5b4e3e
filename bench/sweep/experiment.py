"""The loop: cells that are missing are measured and recorded; tables and figures come after."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from bench.core.cell import FAILED, Cell, CellResult, Plain, Study, canonical, tidy
from bench.figures.draw import draw_all
from bench.store.tracking import Store
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

    def run(self, engine: Engine, store: Store, cells: list[Cell], *, resume: bool) -> Outcome:
        """Measure what is missing, record each cell as it ends, then draw from the store."""
        sweep = sweep_id(self.name, cells)
        experiment_id = store.experiment_id(self.name)
        assert experiment_id is not None
        store.close_orphans(experiment_id)
        known = store.read_finished(experiment_id, [c.key for c in cells]) if resume else {}
        missing = [c for c in cells if c.key not in known]
        with Progress(len(cells), done=len(cells) - len(missing)) as progress:
            for cell, result in engine.run(self.study, missing):
                store.record(experiment_id, sweep, cell, result, again=not resume)
                known[cell.key] = result
                progress.advance(cell, result)
        results = [(cell, known[cell.key]) for cell in cells]
        table = tidy(results)
        run_id = store.record_sweep(
            experiment_id, sweep=sweep, experiment=self.name, title=self.title,
            keys=[c.key for c in cells], config=self.config, tags=provenance(),
        )  # fmt: skip
        with TemporaryDirectory() as folder:  # another sweep may write to the same output
            drawn = draw_all(table, self.figures, self.title, Path(folder))
            store.attach(run_id, drawn)
            self.output.mkdir(parents=True, exist_ok=True)
            files = [Path(shutil.copy(path, self.output)) for path in drawn]
        return Outcome(
            sweep=sweep, experiment_id=experiment_id, run_id=run_id, results=results,
            table=table, files=files, computed=len(missing),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a sweep ended with."""

    sweep: str
    experiment_id: str
    run_id: str
    results: list[tuple[Cell, CellResult]]
    table: pd.DataFrame
    files: list[Path]
    computed: int

    @property
    def failed(self) -> list[tuple[Cell, CellResult]]:
        """The cells that failed."""
        return [(c, r) for c, r in self.results if r.status == FAILED]


def sweep_id(name: str, cells: list[Cell]) -> str:
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
