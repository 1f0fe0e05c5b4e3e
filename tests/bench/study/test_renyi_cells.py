"""Renyi mechanisms as a user runs them: on an own table, against every attack, from the command."""

import csv

import pytest

from bench.study.cross import Cross
from bench.study.session import Session
from tests.support.command import bench

LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
TREES = {
    "_target_": "attacks.meta_classifier.MetaClassifier",
    "estimator": {
        "_target_": "sklearn.ensemble.HistGradientBoostingClassifier",
        "max_iter": 20,
        "max_leaf_nodes": 8,
    },
}
MINE = [
    "scenario=numeric_column", "scenario.value=x", "scenario.secret=s", "scenario.pairs=[[a,b]]",
    "+experiment=renyi_ledger", "mechanism=[w_alpha_laplace,tight_laplace]",
    "attack=[likelihood_ratio]", "n_shadow=50", "n_holdout=50", "n_test=50", "grid.epsilon=[0.5]",
]  # fmt: skip


@pytest.fixture
def points(tmp_path):
    """A table whose column is 0 on one side and 1 on the other: nothing but noise protects."""
    path = tmp_path / "points.csv"
    path.write_text("s,x\na,0\nb,1\n")
    return str(path)


def run_one_cell(path, mechanism, attack, **changes):
    scenario = {
        "_target_": "bench.scenarios.numeric_column.NumericColumn", "path": path, "value": "x",
        "secret": "s", "pairs": [["a", "b"]],
    }  # fmt: skip
    settings = {
        "scenarios": {"points": scenario}, "mechanisms": {"m": mechanism},
        "attacks": {"attack": attack}, "grid": {"epsilon": [0.5], "order": [2.0], "delta": [0.01]},
        "n_shadow": 2000, "n_holdout": 6000, "n_test": 15_000,
    }  # fmt: skip
    study = Cross(**(settings | changes))
    (cell,) = study.cells()
    result = study.run_cell(cell, Session())
    numbers = {r["metric"]: r["value"] for r in result.rows if not r["attack"]}
    return numbers, result.facts


@pytest.mark.parametrize("attack", [LIKELIHOOD, TREES], ids=["likelihood", "trees"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_attacks_certify_most_of_a_tight_renyi_claim(points, noise, attack):
    mechanism = {"_target_": "mechanisms.renyi.tight_noise.TightNoise", "noise": noise}
    numbers, facts = run_one_cell(points, mechanism, attack)
    assert facts["verdict"] == "holds (model)"  # its laws were counted in the protected records
    assert facts["unit"] == "Renyi epsilon at order=2"
    assert numbers["claimed"] == pytest.approx(0.5)
    assert numbers["exact"] == pytest.approx(0.5, rel=1e-6)
    assert 0.2 < numbers["certified"] < 0.5


def test_noise_of_half_the_scale_behind_a_claims_back_is_caught(points):
    mechanism = {"_target_": "tests.support.components.LyingLaplace"}
    numbers, facts = run_one_cell(points, mechanism, LIKELIHOOD)
    assert facts["verdict"] == "violated"
    assert numbers["exact"] == pytest.approx(2 * numbers["claimed"])


def test_a_users_table_runs_from_the_command_line(folder, points):
    code, _, error = bench(folder, *MINE, f"scenario.path={points}")
    assert code == 0, error
    with (folder / "outputs/renyi_ledger/table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["verdict"] for row in rows if row["unit"]} == {"holds (model)"}
    assert {row["scenario"] for row in rows} == {"numeric_column"}
    claimed = [float(row["value"]) for row in rows if row["metric"] == "claimed"]
    assert claimed == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([], "scenario.path must name a CSV, TSV or parquet file"),
        (["scenario.path=/nowhere.csv"], "no file /nowhere.csv."),
        (["scenario.path=POINTS", "scenario.value=y"], "unknown column 'y'"),
        (["scenario.path=POINTS", "scenario.pairs=[[a,c]]"], "unknown value 'c'"),
        (["scenario.path=POINTS", "grid.order=[0]"], "order must be in (0, inf], got order=0."),
    ],
)
def test_bad_input_is_one_clear_line(folder, refused, points, changes, said):
    words = [c.replace("POINTS", points) for c in changes]
    assert said in refused(folder, *MINE, *words)
