"""The store loses nothing, doubles nothing, and reads back what was written."""

from __future__ import annotations

import contextlib
import math
import shutil
import sqlite3

import pandas as pd
import pytest

from bench.core.cell import Cell, CellResult, row
from bench.core.labels import legal
from bench.leaderboard.__main__ import main as leaderboard_command
from bench.store.read_sweep import (
    find_finished,
    latest_sweep,
    read_cells,
    table_of,
    told_of_older,
)
from bench.store.run_schema import owner
from bench.store.tag_codec import unpack
from bench.store.tracking import Store, StoreError, sqlite_path, tracking_uri
from tests.bench.study.test_cross import MECHANISMS, study


@pytest.fixture
def store(tmp_path, blank_store):
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    return Store(f"sqlite:///{tmp_path}/mlflow.db")


def cell(i=0, **labels):
    return Cell(
        name=f"m eps={i}", labels={"scenario": "s", "mechanism": "m", "epsilon": float(i)} | labels,
        spec={"i": i}, digest="d",
    )  # fmt: skip


def result(value=1.0, **facts):
    rows = [row("acc", value=value, lower=value, upper=value, n=3, attack="a b@c=d")]
    return CellResult(status="finished", rows=rows, facts=facts)


def test_a_second_run_reads_back_and_computes_nothing(run):
    first, _ = run(study())
    second, store = run(study())
    assert (first.computed, second.computed) == (5, 0)
    pd.testing.assert_frame_equal(first.table, second.table)
    experiment_id = store.experiment_id("test")
    assert len(list(store.search(experiment_id, "tags.kind = 'cell'"))) == 5


def test_resume_false_computes_again_and_the_latest_run_of_a_key_counts(run):
    run(study())
    again, store = run(study(), resume=False)
    assert again.computed == 5
    experiment_id = store.experiment_id("test")
    assert len(list(store.search(experiment_id, "tags.kind = 'cell'"))) == 10
    pd.testing.assert_frame_equal(table_of(store, latest_sweep(store, "test")), again.table)


def test_only_missing_cells_are_computed(run):
    some = {"laplace": MECHANISMS["laplace"]}
    run(study(some))
    whole, _ = run(study())
    assert whole.computed == 3


def test_infinite_and_missing_numbers_survive_and_never_reach_a_metric(store):
    experiment_id = store.experiment_id("e")
    run_id = store.record(experiment_id, "s", cell(), result(math.inf), again=False)
    ((_, back),) = read_cells(store, experiment_id, [run_id])
    assert back.rows[0]["value"] == math.inf
    (run,) = store.search(experiment_id, "tags.kind = 'cell'")
    assert run.data.metrics == {"epsilon": 0.0}


def test_metric_names_are_legal_and_short(store):
    experiment_id = store.experiment_id("e")
    store.record(experiment_id, "s", cell(), result(0.5), again=False)
    (run,) = store.search(experiment_id, "tags.kind = 'cell'")
    assert run.data.metrics["acc/a b_c_d"] == 0.5
    assert legal("acc@10,%=[(") == "acc_10_____"


def test_long_facts_and_parameters_are_not_cut(store):
    experiment_id = store.experiment_id("e")
    long = "ä" * 20_001
    recorded = cell(note=long)
    run_id = store.record(experiment_id, "s", recorded, result(reason=long), again=False)
    ((_, back),) = read_cells(store, experiment_id, [run_id])
    assert back.facts["reason"] == long
    (run,) = store.search(experiment_id, "tags.kind = 'cell'")
    assert run.data.params["note"].endswith("... (20001 characters)")
    assert unpack("labels", run.data.tags)["note"] == long


def test_a_cell_is_recorded_once_by_key(store):
    experiment_id = store.experiment_id("e")
    ids = {store.record(experiment_id, "s", cell(), result(), again=False) for _ in range(3)}
    assert len(ids) == 1
    assert len(list(store.search(experiment_id, "tags.kind = 'cell'"))) == 1


def test_more_than_a_thousand_runs_are_read_back_whole(store):
    experiment_id = store.experiment_id("e")
    store.record(experiment_id, "s", cell(), result(), again=False)
    with contextlib.closing(sqlite3.connect(sqlite_path(store.uri))) as base, base:
        (first,) = base.execute("select run_uuid from runs").fetchone()
        for table, columns in (("runs", "name"), ("tags", "key")):
            names = [r[1] for r in base.execute(f"pragma table_info({table})")]
            assert columns in names
            copied = ", ".join("? || run_uuid" if n == "run_uuid" else n for n in names)
            for i in range(1002):
                base.execute(
                    f"insert into {table} select {copied} from {table} where run_uuid = ?",
                    (f"{i}-", first),
                )
        base.execute("update tags set value = run_uuid where key = 'cell_key'")
    runs = [run.info.run_id for run in store.search(experiment_id, "tags.kind = 'cell'")]
    assert len(set(runs)) == 1003
    assert len(find_finished(store, experiment_id, "s", runs)) == 1003
    assert [c.key for c, _ in read_cells(store, experiment_id, runs)] == runs
    with pytest.raises(StoreError, match="has lost 1 cells of a sweep"):
        list(read_cells(store, experiment_id, [*runs, "nowhere"]))


def test_a_moved_folder_loses_nothing(run, tmp_path):
    home = tmp_path / "before"
    home.mkdir()
    outcome, _ = run(study(), folder=home)
    moved = tmp_path / "after"
    shutil.move(home, moved)
    store = Store(f"sqlite:///{moved}/mlflow.db")
    pd.testing.assert_frame_equal(table_of(store, latest_sweep(store, "test")), outcome.table)


def test_runs_of_a_dead_process_are_closed_and_computed_again(store):
    experiment_id = store.experiment_id("e")
    dead = owner() | {"pid": "999999999", "kind": "cell", "cell_key": cell().key}
    store._client.create_run(experiment_id, tags=dead)
    store._client.create_run(experiment_id, tags=owner() | {"kind": "cell"})
    assert store.close_orphans(experiment_id) == 1
    assert find_finished(store, experiment_id, "s", [cell().key]) == {}


def test_failed_cells_are_not_read_back(store):
    experiment_id = store.experiment_id("e")
    store.record(experiment_id, "s", cell(), CellResult(status="failed"), again=False)
    assert find_finished(store, experiment_id, "s", [cell().key]) == {}


def test_the_address_is_as_asked_else_mlflows_variable_else_sqlite(monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert tracking_uri(None) == "sqlite:///mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    assert tracking_uri(None) == "http://127.0.0.1:1"
    assert tracking_uri("sqlite:///other.db") == "sqlite:///other.db"
    assert sqlite_path("http://127.0.0.1:1") is None


def test_an_unreachable_server_is_one_line(monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(StoreError, match=r"cannot open the store http://127.0.0.1:1: .*") as caught:
        Store("http://127.0.0.1:1")
    assert "\n" not in str(caught.value)


def test_a_missing_folder_is_one_line(tmp_path):
    with pytest.raises(StoreError, match="there is no folder"):
        Store(f"sqlite:///{tmp_path}/nowhere/mlflow.db")


def test_a_store_of_another_schema_is_said_to_be_that_in_one_line(run, tmp_path, capsys):
    first, store = run(study())
    with contextlib.closing(sqlite3.connect(sqlite_path(store.uri))) as base, base:
        base.execute("update tags set value = '1' where key = 'schema'")
    with pytest.raises(StoreError, match=r"written by another version \(schema 1, this one reads"):
        latest_sweep(store, "test")
    assert "schema 1" in told_of_older(store, "test")
    capsys.readouterr()
    assert leaderboard_command(["experiment=test", f"tracking_uri={store.uri}"]) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("error: the store sqlite:///")
    assert "\n" not in error
    again, _ = run(study(seed=1))
    assert again.computed == first.computed
    assert latest_sweep(store, "test").run_id == again.run_id
    assert told_of_older(store, "test") == ""
