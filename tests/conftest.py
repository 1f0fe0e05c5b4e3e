"""Fixtures and helpers to run a study in this process, on a store of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.core.cell import tidy
from bench.store.tracking import Store
from bench.sweep.engine import Serial
from bench.sweep.experiment import Experiment
from tests.support.command import InProcess

SUPPORT = "tests.support.components"


def node(name: str, **parameters: object) -> dict[str, object]:
    """Return the configuration of a test component."""
    return {"_target_": f"{SUPPORT}.{name}", **parameters}


def experiment(study, folder: Path, **changes) -> Experiment:
    settings = {
        "name": "test",
        "title": "",
        "figures": {},
        "config": {"show": ["acc"], "figures": {}},
    }
    return Experiment(study=study, output=folder / "outputs", **(settings | changes))


@pytest.fixture(scope="session")
def blank_store(tmp_path_factory):
    """Return a migrated, empty store to copy: its making takes seconds."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    Store(f"sqlite:///{path}")
    return path


@pytest.fixture
def folder(tmp_path, blank_store):
    """Return a folder with an empty store, to run commands in."""
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    return tmp_path


@pytest.fixture
def refused(monkeypatch, capfd):
    """Return a function that gives the one line with which a command refuses its input."""
    return InProcess(monkeypatch, capfd)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Return an empty folder, the only one in which optional data are looked for."""
    folder = tmp_path / "nowhere"
    folder.mkdir()
    monkeypatch.setenv("BENCH_DATA", str(folder))
    return folder


@pytest.fixture
def run(tmp_path, blank_store):
    """Return a function that runs a study and gives its outcome and its store."""
    stores = {}

    def run_study(study, *, engine=None, resume=True, folder=tmp_path):
        uri = f"sqlite:///{folder}/mlflow.db"
        if uri not in stores:
            shutil.copy(blank_store, folder / "mlflow.db")
        store = stores.setdefault(uri, Store(uri))
        outcome = experiment(study, folder).run(
            engine or Serial(), store, study.cells(), resume=resume
        )
        return outcome, store

    return run_study


def values(outcome, metric, **where):
    """Return the values of a metric as a dict by mechanism."""
    table = tidy(outcome.results)
    rows = table[(table["metric"] == metric) & (table["statistic"] == "")]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return dict(zip(rows["mechanism"], rows["value"], strict=False))
