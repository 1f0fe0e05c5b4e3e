"""The main job: no defence as published, ceilings respected, no violated cell under the model."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from scipy.stats import t

from bench.study.cross import Cross
from bench.study.ledger import VIOLATED
from bench.study.session import Session
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from tests.findings.test_distribution_privacy import (
    ADULT,
    DELTA,
    LOGISTIC,
    META,
    SCALER,
    leakage,
)

KINDS = {
    "noiseless": "noise.identity.Noiseless",
    "expected_value_gaussian": "distribution.expected_value.ExpectedValueGaussian",
    "expected_value_laplace": "distribution.expected_value.ExpectedValueLaplace",
    "eigenvector_gaussian": "distribution.eigenvector.EigenvectorGaussian",
    "uncertain_directional_gaussian": (
        "distribution.uncertain_directional.UncertainDirectionalGaussian"
    ),
    "minimum_noise_gaussian": "distribution.minimum_noise.MinimumNoiseGaussian",
    "directional_gaussian": "distribution.directional.DirectionalGaussian",
    "directional_laplace": "distribution.directional.DirectionalLaplace",
    "group_gaussian": "group_privacy.GroupGaussian",
    "group_laplace": "group_privacy.GroupLaplace",
}
ADAPTIVE = META | {
    "estimator": {"_target_": "sklearn.pipeline.make_pipeline", "_args_": [SCALER, LOGISTIC]}
}
REPETITIONS = 50


def results(**changes):
    settings = {
        "scenarios": {"adult": ADULT | {"model": "sampled"}},
        "mechanisms": {k: {"_target_": f"mechanisms.{v}"} for k, v in KINDS.items()},
        "attacks": {
            "published": META | {"adaptive": False, "estimator": LOGISTIC},
            "adaptive": ADAPTIVE,
            "optimal": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"},
        },
        "metrics": {"accuracy": {"_target_": "bench.metrics.attack.Accuracy"}},
        "grid": {"epsilon": [1.13], "delta": [DELTA]},
        "repetitions": REPETITIONS,
        "n_shadow": 100,
        "n_holdout": 50,
        "n_test": 100,
    }
    study, session = Cross(**(settings | changes)), Session()
    return {c.labels["mechanism"]: study.run_cell(c, session) for c in study.cells()}


@pytest.fixture(scope="module")
def on_records():
    return results()


def accuracy(result, attack):
    (row,) = [r for r in result.rows if r["metric"] == "acc" and r["attack"] == attack]
    return row


def test_without_defence_the_published_attack_is_right_in_73_to_79_percent(on_records):
    row = accuracy(on_records["noiseless"], "published")
    assert 0.73 <= row["value"] <= 0.79
    assert row["n"] == 200 * REPETITIONS


@pytest.mark.parametrize("mechanism", KINDS)
def test_the_adaptive_attacks_interval_meets_chance_to_bayes_ceiling(on_records, mechanism):
    result = on_records[mechanism]
    (ceiling,) = [r["upper"] for r in result.rows if r["metric"] == "ceiling"]
    row = accuracy(result, "adaptive")
    # 95 % over all the mechanisms together, instead of each.
    wider = t.ppf(1 - 0.025 / len(KINDS), REPETITIONS - 1) / t.ppf(0.975, REPETITIONS - 1)
    low = row["value"] - wider * (row["value"] - row["lower"])
    high = row["value"] + wider * (row["upper"] - row["value"])
    assert low <= ceiling
    assert high >= 0.5


def test_under_the_model_no_cell_is_violated():
    found = results(scenarios={"adult": ADULT | {"model": "exact", "worlds": "model"}})
    assert {k for k, r in found.items() if r.facts["verdict"] == VIOLATED} == set()


@pytest.mark.parametrize(("secret", "crossing"), [("income", 0.1178), ("work", 0.2914)])
def test_record_level_privacy_crosses_daums_error_where_published(secret, crossing):
    """Closed forms: DauM sd sqrt(2/pi) against DP(G) 15.07, linear between gaps .02 apart."""

    def cost(gap):
        mechanism, _ = leakage(UncertainDirectionalGaussian, secret, gap, 1.0, own=False)
        return (mechanism.variances().sum() * 2 / math.pi) ** 0.5 - 15.07

    gaps = [round(0.02 * i, 2) for i in range(4, 20)]
    steps = pairwise((gap, cost(gap)) for gap in gaps)
    found = next(a + 0.02 * low / (low - high) for (a, low), (_, high) in steps if high >= 0)
    assert found == pytest.approx(crossing, abs=0.001)
