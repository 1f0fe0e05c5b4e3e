"""Several releases as cells: of the same data, and of data drawn anew at every release."""

import math

import pytest

from bench.study.cross import Cross
from bench.study.session import Session

DATABASES = {
    "_target_": "bench.scenarios.listed_databases.ListedDatabases",
    "databases": [[0, 0], [0, 1], [1, 0], [1, 1]], "prior": [0.3, 0.2, 0.3, 0.2],
    "secret": [0, 0, 1, 1],
}  # fmt: skip
COLLAPSE = "mechanisms.collapse.calibrate"
DECOY = {"_target_": f"{COLLAPSE}.Decoy"}
CASES = {"_target_": f"{COLLAPSE}.Cases", "share_if_true": [0.3, 0.6], "share_if_false": [0.4, 0.7]}
ATTACKS = {
    "runs": {"_target_": "attacks.reconstruction.guesses.RepeatedRuns"},
    "posterior": {"_target_": "attacks.reconstruction.guesses.ExactPosterior"},
    "likelihood": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"},
}
METRIC = "bench.metrics.reconstruction"
METRICS = {
    "whole": {"_target_": f"{METRIC}.WholeDatabase"},
    "runs": {"_target_": f"{METRIC}.RunsUntilCertain"},
    "odds": {"_target_": f"{METRIC}.OddsGained", "quantile": 0.9},
    "l1": {"_target_": "bench.metrics.utility.NormError", "norm": 1, "name": "l1"},
}


def numbers(mechanism, n_releases, scenario=DATABASES, grid=None, **settings):
    study = Cross(
        scenarios={"s": scenario}, mechanisms={"m": mechanism}, attacks=ATTACKS, metrics=METRICS,
        grid={"n_releases": n_releases} | (grid or {}), delta=0.0, n_shadow=50, n_holdout=1000,
        n_test=1000, **settings,
    )  # fmt: skip
    session, found = Session(), {}
    for cell in study.cells(session):
        result = study.run_cell(cell, session)
        rows = {(r["metric"], r["attack"], r["statistic"]): r["value"] for r in result.rows}
        found[cell.spec.n_releases] = rows | result.facts | {"status": result.status}
    return found


@pytest.mark.parametrize(("mechanism", "claimed"), [(DECOY, 0.0), (CASES, 0.8473)])
def test_what_collapses_leaks_little_once_and_without_bound_twice(mechanism, claimed):
    found = numbers(mechanism, [1, 2, 10])
    assert found[1]["claimed", "", ""] == pytest.approx(claimed, abs=5e-5)
    assert found[1]["certified", "", ""] <= found[1]["exact", "", ""] <= claimed + 5e-5
    assert found[1]["verdict"] == "holds"
    assert found[1]["whole_database", "runs", ""] == 0
    for k in (2, 10):
        assert found[k]["exact", "", ""] == math.inf == found[k]["claimed", "", ""]
        assert found[k]["verdict"] == "no claim"
        assert found[k]["certified", "", ""] > 4
    assert found[10]["whole_database", "runs", ""] > 0.98
    assert found[10]["odds", "likelihood", ""] == math.inf
    assert 2 <= found[10]["runs", "runs", ""] <= 3


def test_new_data_at_every_release_keep_a_decoy_from_leaking():
    found = numbers(DECOY, [1, 2, 10], DATABASES | {"data": "new"})
    for k in (1, 2, 10):
        assert found[k]["exact", "", ""] == found[k]["claimed", "", ""] == 0
        assert found[k]["certified", "", ""] == 0
        assert found[k]["verdict"] == "holds"
        assert "the data are new at every release" in found[k]["attack runs"]
    assert "have no one answer to be compared with" in found[2]["metric l1"]
    assert "new data, independent given the secret" in found[10]["notes"]


def test_new_data_add_up_what_one_release_leaks_and_the_attack_nears_it():
    found = numbers(CASES, [1, 2, 20], DATABASES | {"data": "new"})
    once = found[1]["exact", "", ""]
    assert once == pytest.approx(math.log(1.5))
    for k in (2, 20):
        assert found[k]["exact", "", ""] == pytest.approx(k * once)
        assert found[k]["claimed", "", ""] == pytest.approx(k * found[1]["claimed", "", ""])
        assert found[k]["certified", "", ""] <= found[k]["exact", "", ""]
        assert found[k]["odds", "likelihood", ""] <= found[k]["exact", "", ""] + 1e-9
    assert found[20]["certified", "", ""] > once


def test_releases_of_new_data_share_no_budget():
    chain = {"_target_": "bench.quantities.binary_column.BinaryColumn"}
    counts = {"_target_": "bench.scenarios.subset_counts.SubsetCounts", "column": chain,
              "rows": 4, "queries": 3, "data": "new"}  # fmt: skip
    laplace = {"_target_": "mechanisms.influence.calibrate.InfluenceLaplace"}
    found = numbers(laplace, [2], counts, {"epsilon": [1.0]}, share="together")
    assert found[2]["status"] == "not applicable"
    assert "share=each" in found[2]["reason"]
