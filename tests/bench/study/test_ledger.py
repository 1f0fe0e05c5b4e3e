"""Certificates are sound (null audit), strong (floors) and catch a planted violation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from bench.study.cell_rows import describe_bracket
from bench.study.cross import Cross
from bench.study.ledger import (
    DISPLAY_ERROR,
    VERDICT_ERROR,
    Certificate,
    counted,
    exceeds,
    largest_certifiable,
    verdict,
)
from bench.study.session import Session
from mechanisms.leakage.gaussian_tradeoff import gaussian_distance
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.privacy.bracket import Bracket, NotComputable
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import PURE, Approximate, Renyi
from mechanisms.privacy.notion import PairEvidence
from tests.conftest import node, values

UNKNOWN = NotComputable("nobody knows")
LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
ACCURACY = {"accuracy": {"_target_": "bench.metrics.attack.Accuracy"}}


def two_points(mechanism, **changes):
    settings = {
        "scenarios": {"points": node("Points")},
        "mechanisms": {"m": mechanism},
        "attacks": {"lr": LIKELIHOOD},
        "metrics": ACCURACY,
        "grid": {"epsilon": [1.0]},
        "n_shadow": 10,
        "n_holdout": 5000,
        "n_test": 5000,
    }
    return Cross(**(settings | changes))


def certify(label, odds, held, notion, ways):
    counts = counted(label, odds, held, notion, ways)
    evidence = PairEvidence(tests={"a": (counts,)}, ways=ways)
    bounds = (notion.certify(evidence, error) for error in (DISPLAY_ERROR, VERDICT_ERROR))
    return Certificate(**dict(zip(("display", "verdict"), bounds, strict=True)), n=label.size)


def claim(epsilon):
    return Guarantee(notion=PURE, bound=epsilon, theorem="none")


def test_likelihood_ratio_certifies_at_least_85_percent_of_a_tight_laplace(run):
    laplace = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
    outcome, _ = run(two_points(laplace))
    assert 0.85 <= values(outcome, "certified", attack="lr")["m"] <= 1.0
    assert values(outcome, "exact")["m"] == 1.0
    assert values(outcome, "claimed")["m"] == pytest.approx(1.0, rel=1e-9)
    assert outcome.results[0][1].facts["verdict"] == "holds"


def test_likelihood_ratio_certifies_at_least_7_tenths_of_a_tight_gaussian(run):
    gaussian = {
        "_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian",
        "calibration": "analytic",
    }  # fmt: skip
    study = two_points(
        gaussian, grid={"epsilon": [1.0], "delta": [0.001]}, n_holdout=100_000, n_test=100_000
    )
    outcome, _ = run(study)
    assert 0.7 <= values(outcome, "certified", attack="lr")["m"] <= 1.0
    assert values(outcome, "exact")["m"] == pytest.approx(1.0, abs=1e-9)
    assert outcome.results[0][1].facts["verdict"] == "holds"


def test_a_mechanism_twice_as_leaky_as_its_claim_is_caught_by_the_exact_column(run):
    outcome, _ = run(two_points(node("LyingLaplace")))
    assert values(outcome, "exact")["m"] == pytest.approx(2.0)
    assert values(outcome, "claimed")["m"] == pytest.approx(1.0, rel=1e-9)
    assert outcome.results[0][1].facts["verdict"] == "violated"


def test_a_mechanism_twice_as_leaky_as_its_claim_is_caught_by_the_attack_alone():
    rng = np.random.default_rng(1)
    scale = 0.5
    label = np.repeat([0, 1], 5000)
    scores = [label + rng.laplace(scale=scale, size=label.size) for _ in range(2)]
    certificate = certify(label, scores[0], (label, scores[1]), PURE, ways=1)
    assert 1.0 < certificate.verdict <= certificate.display <= 2.0
    for modelled, expected in ((True, "violated"), (False, "model misfit")):
        told = verdict(
            claim(1.0), Bracket(1.0, 1.0), {"lr": certificate}, worlds_from_model=modelled
        )
        assert told == expected
    assert (
        verdict(claim(2.0), Bracket(2.0, 2.0), {"lr": certificate}, worlds_from_model=True)
        == "holds"
    )


def test_an_exact_number_that_rests_on_a_continuous_model_proves_nothing_but_may_refute():
    told = {
        exact: verdict(
            claim(1.0), Bracket(exact, exact), {}, worlds_from_model=False, model_alone="why"
        )
        for exact in (0.5, 1.0, 2.0)
    }
    assert told == {0.5: "holds (model)", 1.0: "holds (model)", 2.0: "violated"}
    perfect = {"a": certify(*wrongless(), wrongless(), PURE, ways=1)}
    told = verdict(
        claim(1.0), Bracket(0.5, 0.5), perfect, worlds_from_model=False, model_alone="why"
    )
    assert told == "model misfit"


@pytest.mark.parametrize(
    ("worlds", "kind", "expected"),
    [
        ("data", "directional.DirectionalLaplace", "holds (model)"),
        ("model", "directional.DirectionalLaplace", "holds (model)"),
        ("data", "expected_value.ExpectedValueLaplace", "holds (model)"),
        ("data", "expected_value.ExpectedValueGaussian", "holds"),
    ],
)
def test_noise_of_deficient_rank_on_records_is_never_told_to_hold(worlds, kind, expected):
    scenario = {
        "_target_": "bench.scenarios.numeric_table.numeric_table",
        "path": str(Path(__file__).parents[2] / "support" / "people.csv"),
        "column": "job", "value": "yes", "means": ["age"], "counts": {"country": "DE"},
        "size": 4, "gap": 0.5, "worlds": worlds,
    }  # fmt: skip
    study = Cross(
        scenarios={"people": scenario},
        mechanisms={"m": {"_target_": f"mechanisms.distribution.{kind}"}},
        grid={"epsilon": [0.5], "delta": [0.001]}, n_shadow=1, n_holdout=1, n_test=1,
    )  # fmt: skip
    (cell,) = study.cells()
    facts = study.run_cell(cell, Session()).facts
    assert facts["verdict"] == expected
    reason = {
        ("data", True): "noise of rank 1 in 2 coordinates",
        ("model", True): "worlds are drawn from the model",
        ("data", False): "there is no exact number on records, and no attack",
    }[worlds, "directional" in kind]
    assert (f"by the model alone: {reason}" in facts["exact"]) == (expected == "holds (model)")


@pytest.mark.parametrize("measure", [PURE, Approximate(delta=0.001), Renyi(order=2.0)])
def test_null_audits_certify_more_than_0_in_at_most_5_percent(measure):
    rng = np.random.default_rng(7)
    audits, n = 600, 400
    label = np.repeat([0, 1], n // 2)
    certified = sum(
        certify(label, rng.normal(size=n), (label, rng.normal(size=n)), measure, ways=1).display > 0
        for _ in range(audits)
    )
    # More than this would have probability below 1e-6 at a true error of 5 %.
    assert certified <= binom.isf(1e-6, audits, 0.05)
    assert certified / audits <= 0.05


def test_null_audits_of_the_whole_harness_stay_below_5_percent(run):
    """400 cells of a secret that does not touch the answer: 2 attacks, 2 secrets."""
    learner = {
        "_target_": "attacks.meta_classifier.MetaClassifier",
        "estimator": {"_target_": "sklearn.naive_bayes.GaussianNB"},
    }
    study = Cross(
        scenarios={"null": node("SameEitherWay")},
        mechanisms={"m": {"_target_": "tests.support.components.Slow", "seconds": 0.0}},
        attacks={"lr": LIKELIHOOD, "nb": learner},
        grid={"epsilon": np.linspace(0.1, 4.0, 400).tolist(), "delta": [0.001]},
        n_shadow=50, n_holdout=100, n_test=100,
    )  # fmt: skip
    results = [study.run_cell(cell, Session()) for cell in study.cells()]
    best = [
        row["value"]
        for result in results
        for row in result.rows
        if row["metric"] == "certified" and row["attack"] == ""
    ]
    assert len(best) == 400
    assert np.mean(np.array(best) > 0) <= 0.05
    assert {r.facts["verdict"] for r in results} == {"holds"}


def test_rates_near_one_on_both_sides_certify_nothing():
    # TP 487, FN 0, FP 512, TN 1 at delta 1e-5, error .05 (and .1): the bound is 0.
    label = np.repeat([1, 0], [487, 513])
    odds = np.concatenate([np.ones(487), np.ones(512), np.zeros(1)])
    certificate = certify(label, odds, (label, odds), Approximate(delta=1e-5), ways=1)
    assert certificate.display == 0.0


def test_a_perfect_attack_on_5000_worlds_certifies_7_point_2():
    assert largest_certifiable(5000, PURE, ways=1) == pytest.approx(7.2, abs=0.05)


def test_certificates_never_exceed_the_largest_certifiable():
    label = np.repeat([0, 1], 1000)
    odds = label.astype(float)
    certificate = certify(label, odds, (label, odds), PURE, ways=2)
    assert certificate.display == pytest.approx(largest_certifiable(1000, PURE, ways=2))


def test_the_test_may_be_negated_where_the_attack_points_the_wrong_way():
    label = np.repeat([0, 1], 1000)
    odds = -label.astype(float)
    assert certify(label, odds, (label, odds), PURE, ways=1).display > 4


def test_no_claim_is_never_a_violation():
    perfect = certify(*wrongless(), wrongless(), PURE, ways=1)
    told = verdict(NoClaim(reason="none"), UNKNOWN, {"a": perfect}, worlds_from_model=True)
    assert told == "no claim"


def wrongless():
    label = np.repeat([0, 1], 1000)
    return label, label.astype(float)


def test_exceeds_forgives_rounding_and_nothing_more():
    assert not exceeds(1.0 + 1e-9, 1.0)
    assert exceeds(1.0 + 1e-5, 1.0)
    assert not exceeds(math.inf, math.inf)


def test_a_tight_gaussian_has_exactly_the_claimed_leakage():
    distance = gaussian_distance(1.0, 0.001)
    noise = GaussianNoise(covariance=np.eye(1) / distance**2, calibration="analytic")
    epsilon = noise.shift_epsilon(np.ones((1, 1)), 0.001, 1)
    assert epsilon == pytest.approx(1.0, abs=1e-9)


def test_an_exact_number_that_rests_on_draws_says_so_with_its_error():
    assert describe_bracket(Bracket(1.0, 1.0)) == "exact"
    assert describe_bracket(Bracket(0.0, 1.0)) == "bracket"
    assert describe_bracket(Bracket(0.0, 1.0, 2e-9)).endswith("from draws: error 2e-09")
