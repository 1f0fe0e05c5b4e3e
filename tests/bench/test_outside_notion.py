"""A notion and a budget in a module outside the repository, from command line to leaderboard."""

from __future__ import annotations

import contextlib
import csv
import math
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tests" / "support" / "outside" / "my_notion.py"
EXPERIMENT = """\
# @package _global_
# How much does a receiver gain?
title: "Receivers of one bit"
scenarios: {bits: {_target_: my_notion.Bits}}
mechanisms:
  honest: {_target_: my_notion.Persuading}
  lying: {_target_: my_notion.Persuading, noise: 0.3}
notions:
  persuasion: {_target_: my_notion.Persuasion, delta: 0.05}
  strict: {_target_: my_notion.Persuasion, delta: 0.4}
  pure: {_target_: mechanisms.privacy.indistinguishability.Approximate, delta: 0.0}
figures: {ledger: {_target_: bench.figures.ledger.Ledger, axis: kappa, split: priors}}
n_shadow: 1
n_holdout: 1
n_test: 4000
show: []
grid: {kappa: [0.3, 0.6], priors: [[0.2, 0.5, 0.7], [0.5]]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, blank_store):
    folder = tmp_path_factory.mktemp("outside")
    shutil.copy(blank_store, folder / "mlflow.db")
    shutil.copy(OWN, folder / "my_notion.py")
    (folder / "conf" / "experiment").mkdir(parents=True)
    (folder / "conf" / "experiment" / "mine.yaml").write_text(EXPERIMENT)
    return folder


def command(folder, *arguments, module="bench"):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW")}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=folder, capture_output=True, text=True,
        env=kept | {"PYTHONPATH": f"{ROOT}:{folder}", "OMP_NUM_THREADS": "1"}, timeout=240,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def ran(folder):
    code, out, error = command(folder, "--config-dir", "conf", "+experiment=mine")
    assert code == 0, error
    with (folder / "outputs/mine/table.csv").open() as file:
        return out, list(csv.DictReader(file))


def pick(rows, mechanism, metric, unit="nats of score at delta=0.05", priors="[0.2,0.5,0.7]"):
    return [
        float(r["value"] or math.nan)
        for r in rows
        if (r["mechanism"], r["metric"], r["unit"], r["priors"])
        == (mechanism, metric, unit, priors)
    ]


def test_the_notion_claims_computes_and_certifies_in_its_own_unit(ran):
    _, rows = ran
    for kappa, exact, certified in zip(
        pick(rows, "honest", "claimed"), pick(rows, "honest", "exact"),
        pick(rows, "honest", "certified"), strict=True,
    ):  # fmt: skip
        assert certified == pytest.approx(exact)
        assert exact <= kappa * (1 + 1e-9)
    assert pick(rows, "honest", "claimed") == [0.3, 0.6]
    own = [r for r in rows if r["unit"] == "nats of score at delta=0.05"]
    assert {r["notion"] for r in own} == {"persuasive privacy"}
    verdicts = {(r["mechanism"], r["verdict"]) for r in own if r["priors"] == "[0.2,0.5,0.7]"}
    assert verdicts == {("honest", "holds"), ("lying", "violated")}


def test_other_notions_are_asked_for_and_say_what_they_cannot(ran):
    _, rows = ran
    pure = [r for r in rows if r["unit"] == "epsilon"]
    assert {r["verdict"] for r in pure} == {"not comparable"}
    told = {r["metric"]: r["method"] for r in pure}
    assert (
        told["claimed"] == "not comparable: no theorem turns persuasive privacy into pure privacy"
    )
    assert told["exact"].startswith("not computable: the scenario has no pair")
    strict = [r for r in rows if r["unit"] == "nats of score at delta=0.4"]
    assert any(r["metric"] == "exact" and float(r["value"]) >= 0 for r in strict)


def test_lists_are_values_of_an_axis_in_tables_and_figures(ran, folder):
    out, rows = ran
    assert {r["priors"] for r in rows} == {"[0.2,0.5,0.7]", "[0.5]"}
    assert "honest kappa=0.3 priors=[0.2,0.5,0.7]" in {r["cell"] for r in rows}
    assert (folder / "outputs/mine/ledger.pdf").stat().st_size > 0
    assert "[0.2,0.5,0.7]" in out
    with contextlib.closing(sqlite3.connect(folder / "mlflow.db")) as base:
        recorded = base.execute("select distinct value from params where key = 'priors'").fetchall()
        keys = base.execute("select distinct value from tags where key = 'cell_key'").fetchall()
    assert {value for (value,) in recorded} == {"[0.2,0.5,0.7]", "[0.5]"}
    assert len(keys) == 8


def test_the_leaderboard_shows_it_from_the_store(ran, folder):
    words = ["experiment=mine", "format=csv"]
    code, out, error = command(folder, *words, module="bench.leaderboard")
    assert code == 0, error
    lines = list(csv.DictReader(out.splitlines()))
    assert len(lines) == 8
    assert {line["claimed"] for line in lines} == {"0.3", "0.6"}
    code, out, error = command(
        folder, *words, "notion=nats of score at delta=0.4", module="bench.leaderboard"
    )
    assert code == 0, error
    assert {line["claimed"] for line in csv.DictReader(out.splitlines())} == {"not comparable"}
    code, _, error = command(folder, *words, "notion=kappa", module="bench.leaderboard")
    assert (code, error.count("\n")) == (2, 1)
    assert "unknown notion 'kappa'" in error


def test_the_axes_are_those_of_the_budgets_of_the_chosen_mechanisms(ran, folder):
    code, _, error = command(
        folder, "--config-dir", "conf", "+experiment=mine", "+grid.kapa=[1]", "dry_run=true"
    )
    assert code == 2
    assert "unknown axis 'kapa'; did you mean kappa" in error
    code, out, error = command(
        folder, "--config-dir", "conf", "+experiment=mine", "dry_run=true", "grid.priors=[[0.5]]"
    )
    assert code == 0, error
    assert "4 cells" in out
