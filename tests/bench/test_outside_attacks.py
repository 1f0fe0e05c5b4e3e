"""Attacks that yield guesses and intervals, in a module outside the repository: to the board."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tests" / "support" / "outside" / "my_attacks.py"
EXPERIMENT = """\
# @package _global_
# What do suppressed tables tell?
title: "Tables of six counts"
scenarios: {tables: {_target_: my_attacks.Tables}}
mechanisms:
  suppressed: {_target_: my_attacks.Suppress, threshold: 3}
  harmless: {_target_: my_attacks.Suppress, threshold: 10}
attacks:
  one_hidden: {_target_: my_attacks.OneHidden}
  between: {_target_: my_attacks.BetweenTotals}
  careless: {_target_: my_attacks.BetweenTotals, careless: true}
  first_cell: {_target_: my_attacks.FirstCell}
  trees: {_target_: attacks.meta_classifier.MetaClassifier,
          estimator: {_target_: sklearn.tree.DecisionTreeClassifier, max_depth: 4}}
  likelihood: {_target_: attacks.likelihood_ratio.LikelihoodRatio}
metrics:
  accuracy: {_target_: bench.metrics.attack.Accuracy}
  right: {_target_: my_attacks.RightEntries}
  covered: {_target_: my_attacks.Covered}
  width: {_target_: my_attacks.Width}
  l2: {_target_: bench.metrics.utility.NormError, norm: 2, name: l2}
figures: {}
n_shadow: 300
n_holdout: 300
n_test: 1000
show: [acc, covered, right]
"""


def command(folder, *arguments, module="bench"):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW")}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=folder, capture_output=True, text=True,
        env=kept | {"PYTHONPATH": f"{ROOT}:{folder}", "OMP_NUM_THREADS": "1"}, timeout=240,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory, blank_store):
    folder = tmp_path_factory.mktemp("outside")
    shutil.copy(blank_store, folder / "mlflow.db")
    shutil.copy(OWN, folder / "my_attacks.py")
    (folder / "conf" / "experiment").mkdir(parents=True)
    (folder / "conf" / "experiment" / "mine.yaml").write_text(EXPERIMENT)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    code, _, error = command(folder, "--config-dir", "conf", "+experiment=mine")
    assert code == 0, error
    with (folder / "outputs/mine/table.csv").open() as file:
        return list(csv.DictReader(file))


def numbers(rows, metric, mechanism="suppressed"):
    return {
        r["attack"]: float(r["value"])
        for r in rows
        if (r["metric"], r["mechanism"]) == (metric, mechanism) and r["attack"]
    }


def test_each_metric_meets_the_attacks_that_yield_what_it_needs(rows):
    assert set(numbers(rows, "acc")) == {"first_cell", "trees"}
    assert set(numbers(rows, "right")) == {"one_hidden"}
    assert set(numbers(rows, "covered")) == {"between", "careless"}
    assert set(numbers(rows, "width")) == {"between", "careless"}
    assert not any(r["metric"] == "l2" for r in rows)  # missing entries have no error


def test_guesses_and_intervals_are_as_good_as_they_should_be(rows):
    # Cells are published with probability .7; a single hidden one is found from the total.
    alone = 6 * 0.3 * 0.7**5
    expected = 0.7 + alone / 6
    assert numbers(rows, "right")["one_hidden"] == pytest.approx(expected, abs=0.02)
    covered = numbers(rows, "covered")
    assert covered["between"] == 1.0
    assert covered["careless"] < 0.6
    assert numbers(rows, "width")["between"] > 0


def test_a_guess_of_the_secret_certifies_and_other_guesses_never_do(rows):
    assert set(numbers(rows, "certified")) == {"first_cell", "trees"}
    assert numbers(rows, "acc")["first_cell"] == 1.0
    assert numbers(rows, "certified")["first_cell"] > 4
    # Null control: with every cell suppressed nothing is told.
    harmless = numbers(rows, "certified", "harmless")
    assert harmless["first_cell"] == 0.0
    assert harmless["trees"] < 0.5


def test_missing_cells_reach_a_classifier_as_missing(rows):
    assert numbers(rows, "acc")["trees"] > 0.95


def test_the_leaderboard_shows_them_from_the_store(rows, folder):
    code, out, error = command(
        folder, "experiment=mine", "format=csv", "sort=right", module="bench.leaderboard"
    )
    assert code == 0, error
    board = {line["mechanism"]: line for line in csv.DictReader(out.splitlines())}
    assert set(board) == {"suppressed", "harmless"}
    for metric, attack in (("right", "one_hidden"), ("covered", "between"), ("acc", "first_cell")):
        shown = float(board["suppressed"][metric].split()[0])
        assert shown == pytest.approx(numbers(rows, metric)[attack], rel=1e-3)
