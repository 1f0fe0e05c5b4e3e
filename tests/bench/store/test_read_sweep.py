"""What is recorded is found by its key and read by its id, without reading what is not needed."""

from __future__ import annotations

import shutil

import pytest

from bench.core.code_fingerprint import fingerprint
from bench.store.read_sweep import find_finished, latest_sweep, mean_seconds, table_of
from bench.store.tracking import Store, StoreError
from bench.sweep.engine import Serial
from tests.conftest import experiment
from tests.support.studies import Obedient


class Watched(Store):
    """A store that notes which runs were read, by the sweep that recorded them."""

    def __init__(self, uri):
        super().__init__(uri)
        self.read = []

    def search(self, *arguments, **options):
        for run in super().search(*arguments, **options):
            self.read.append((run.data.tags["kind"], run.data.tags["sweep"]))
            yield run


@pytest.fixture
def store(tmp_path, blank_store):
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    return Watched(f"sqlite:///{tmp_path}/mlflow.db")


def sweep(store, folder, study, *, cells=None, **changes):
    cells = study.cells() if cells is None else cells
    return experiment(study, folder, **changes).run(Serial(), store, cells, resume=True)


def test_resuming_reads_the_own_sweep_alone(store, tmp_path):
    sweep(store, tmp_path, Obedient(size=6, folder="other"))
    own = sweep(store, tmp_path, Obedient(size=3))
    store.read.clear()
    again = sweep(store, tmp_path, Obedient(size=3))
    assert again.computed == 0
    assert again.sweep == own.sweep
    assert {name for _, name in store.read} == {own.sweep}


def test_cells_of_other_sweeps_are_found_by_their_ids(store, tmp_path):
    study = Obedient(size=8)
    first = sweep(store, tmp_path, study, cells=study.cells()[:3])
    store.read.clear()
    whole = sweep(store, tmp_path, study)
    assert whole.computed == 5
    read = [pair for pair in store.read if pair == ("cell", first.sweep)]
    assert len(read) == 2 * 3  # found, and read into the table
    assert whole.table["value"].tolist() == list(range(8))


def test_cells_of_an_interrupted_sweep_are_found(store, tmp_path):
    study = Obedient(size=4)
    cells = study.cells()
    experiment_id = store.experiment_id("test")
    for cell in cells[:2]:
        store.record(experiment_id, "broken off", cell, study.run_cell(cell, None), again=False)
    assert sweep(store, tmp_path, study).computed == 2


def test_runs_that_were_deleted_are_computed_again(store, tmp_path):
    study = Obedient(size=3)
    first = sweep(store, tmp_path, study)
    store._client.delete_run(first.runs[1])
    with pytest.raises(StoreError, match="has lost 1 cells of a sweep"):
        table_of(store, latest_sweep(store, "test"))
    part = sweep(store, tmp_path, study, cells=study.cells()[:2])
    assert part.computed == 1
    assert sweep(store, tmp_path, study).computed == 0


def test_failed_cells_are_shown_and_computed_again(store, tmp_path):
    study = Obedient(size=2, acts={0: "leave"})
    for _ in range(2):
        outcome = sweep(store, tmp_path, study)
        assert outcome.table["metric"].tolist() == ["failed", "m"]
    assert outcome.computed == 1
    assert outcome.summary.unfinished == {("failed", "SystemExit: 3"): ["c0"]}


def test_a_key_alone_counts_not_the_code_of_another_version(store, tmp_path, monkeypatch):
    study = Obedient(size=2)
    sweep(store, tmp_path, study)
    monkeypatch.setattr("bench.core.code_fingerprint._hash_of", lambda stamps: "another")
    assert fingerprint(()) != ""
    assert sweep(store, tmp_path, study).computed == 2


def test_the_time_of_a_cell_is_estimated_from_the_newest(store, tmp_path, monkeypatch):
    assert mean_seconds(store, "test") is None
    sweep(store, tmp_path, Obedient(size=5))
    monkeypatch.setattr("bench.store.read_sweep.NEWEST", 2)
    store.read.clear()
    assert mean_seconds(store, "test") >= 0
    assert len(store.read) == 2


def test_other_experiments_are_not_read(store, tmp_path):
    sweep(store, tmp_path, Obedient(size=2), name="elsewhere")
    store.read.clear()
    sweep(store, tmp_path, Obedient(size=2))
    assert len({name for _, name in store.read}) == 1
    assert find_finished(store, store.experiment_id("test"), "nothing", []) == {}
