"""What later families bring goes through the spine to the store and back."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from bench.store.read_sweep import latest_sweep, table_of
from bench.study.cross import Cross
from bench.study.curve import Curve
from mechanisms.leakage.gaussian_tradeoff import gaussian_epsilon
from tests.conftest import node, values

LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
LEARNER = {
    "_target_": "attacks.meta_classifier.MetaClassifier",
    "estimator": {"_target_": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 5},
}
METRICS = {
    "accuracy": {"_target_": "bench.metrics.attack.Accuracy"},
    "l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"},
}
HISTOGRAMS = {"supports": [[[9.0, 2, 1]], [[1.0, 2, 9]]], "weights": [[1.0], [1.0]]}


def cross(scenario, mechanism, **changes):
    settings = {
        "scenarios": {"made_up": scenario},
        "mechanisms": {"m": mechanism},
        "attacks": {"knn": LEARNER},
        "metrics": METRICS,
        "n_shadow": 100,
        "n_holdout": 100,
        "n_test": 200,
    }
    return Cross(**(settings | changes))


def read_back(outcome, store):
    """The table from the store equals the table of the run, to the last bit."""
    table = table_of(store, latest_sweep(store, "test"))
    pd.testing.assert_frame_equal(table, outcome.table)
    return table


def test_a_ranking_goes_through(run):
    study = cross(
        node("Points", **HISTOGRAMS), node("NoisyTopK", k=2), grid={"epsilon": [1.0, 200.0]}
    )
    outcome, store = run(study)
    table = read_back(outcome, store)
    assert set(table["status"]) == {"finished"}
    accuracy = table[table["metric"] == "acc"].set_index("epsilon")["value"]
    assert accuracy[200.0] > 0.99 > accuracy[1.0]
    reasons = [r.facts["metric l2"] for _, r in outcome.results]
    assert all("not applicable" in reason for reason in reasons)


def test_a_masked_table_goes_through(run):
    outcome, store = run(cross(node("Points", **HISTOGRAMS), node("Suppression", threshold=3)))
    read_back(outcome, store)
    assert values(outcome, "acc") == {"m": 1.0}
    (_, result), *_ = outcome.results
    assert result.facts["verdict"] == "no claim"
    assert result.facts["exact"].startswith("not computable")


def test_a_mechanism_on_whole_databases_leaks_nothing_once_and_much_by_repetition(run):
    study = cross(
        node("ThreeBits"), node("XorOrParity"), metrics={"accuracy": METRICS["accuracy"]},
        grid={"n_releases": [1, 2]}, n_shadow=2000, n_test=2000,
    )  # fmt: skip
    outcome, store = run(study)
    table = read_back(outcome, store).set_index(["n_releases", "metric", "attack"])["value"]
    assert table[1, "exact", ""] == 0.0
    assert table[1, "ceiling", ""] == 0.5
    assert abs(table[1, "acc", "knn"] - 0.5) < 0.05
    assert table[2, "exact", ""] == math.inf
    # Two runs of different type reveal the secret; that happens half of the time.
    assert table[2, "ceiling", ""] == pytest.approx(0.75)
    assert table[2, "acc", "knn"] == pytest.approx(0.75, abs=0.03)
    verdicts = {r.facts["verdict"] for _, r in outcome.results}
    assert verdicts == {"holds", "no claim"}  # one release claims 0; two have no theorem


def test_repeated_releases_are_prefixes_of_one_sequence_and_pay_k_times(run):
    laplace = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
    study = cross(
        node("Points"), laplace, attacks={"lr": LIKELIHOOD},
        grid={"epsilon": [0.5], "n_releases": [1, 4]}, n_test=2000,
    )  # fmt: skip
    outcome, store = run(study)
    table = read_back(outcome, store)
    claimed = table[table["metric"] == "claimed"].set_index("n_releases")["value"]
    assert claimed.to_dict() == pytest.approx({1: 0.5, 4: 2.0}, rel=1e-9)  # and the grid's slack
    accuracy = table[table["metric"] == "acc"].set_index("n_releases")["value"]
    assert accuracy[4] > accuracy[1] + 0.05


def test_three_secrets_go_through(run):
    scenario = node("Points", supports=[[0.0], [2.0], [4.0]], weights=[[1.0]] * 3)
    laplace = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
    study = cross(
        scenario, laplace, attacks={"lr": LIKELIHOOD}, grid={"epsilon": [8.0]}, n_test=2000,
        metrics={"accuracy": METRICS["accuracy"], "auc": {"_target_": "bench.metrics.attack.AUC"}},
    )  # fmt: skip
    outcome, store = run(study)
    table = read_back(outcome, store)
    # Scale 4/8: the middle secret is missed in both tails, the outer ones in one.
    tail = 0.5 * math.exp(-1 / 0.5)
    assert values(outcome, "acc")["m"] == pytest.approx(1 - 4 * tail / 3, abs=0.02)
    assert values(outcome, "exact")["m"] == pytest.approx(8.0)
    pairs = set(table.loc[table["metric"] == "auc", "statistic"])
    assert pairs == {"s0 | s1", "s0 | s2", "s1 | s2"}


def test_a_curve_goes_through(run):
    study = Curve(
        quantities={"gaussian": node("EpsilonOfDistance")},
        x=[0.1, 1.0, 2.0],
        grid={"delta": [1e-5, 1e-2]},
    )
    outcome, store = run(study)
    table = read_back(outcome, store)
    assert len(table) == 6
    rows = table[table["delta"] == 1e-2].set_index("x")["value"]
    assert rows[2.0] == gaussian_epsilon(2.0, 1e-2)


def test_a_mechanism_without_its_knowledge_is_not_applicable_with_the_reason(run):
    laplace = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
    outcome, store = run(cross(node("ThreeBits"), laplace, grid={"epsilon": [1.0]}))
    table = read_back(outcome, store)
    assert table["metric"].tolist() == ["not applicable"]
    (_, result), *_ = outcome.results
    assert result.facts["reason"] == "the scenario offers nothing, not GaussianAnswers"
    assert outcome.summary.failed == 0


def test_a_failing_cell_is_recorded_and_the_sweep_goes_on(run):
    study = cross(
        node("Points"), node("Failing"),
        mechanisms={
            "bad": node("Failing"),
            "good": {"_target_": "mechanisms.noise.identity.Noiseless"},
        },
    )  # fmt: skip
    outcome, store = run(study)
    read_back(outcome, store)
    ((failed, result),) = [(c, r) for c, r in outcome.results if r.status == "failed"]
    assert failed.labels["mechanism"] == "bad"
    assert "planted failure" in result.facts["traceback"]
    assert outcome.summary.failed == 1
    assert values(outcome, "acc")["good"] == 1.0


def test_infinite_epsilon_means_no_noise(run):
    laplace = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
    outcome, _ = run(cross(node("Points"), laplace, grid={"epsilon": [math.inf]}))
    assert values(outcome, "l2") == {"m": 0.0}
    assert outcome.results[0][1].facts["claim"] == "no claim: the release is exact"
