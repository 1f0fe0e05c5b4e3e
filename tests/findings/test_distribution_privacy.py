"""The numbers of docs/findings/distribution_privacy.md."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bench.datasets.table.adult import Adult
from bench.scenarios.statistics import Count, Mean
from bench.scenarios.subsets import subset_moments
from bench.study.cross import Cross
from bench.study.session import Session
from mechanisms.base import NotApplicableError
from mechanisms.distribution.directional import DirectionalGaussian
from mechanisms.distribution.eigenvector import EigenvectorGaussian
from mechanisms.distribution.expected_value import ExpectedValueGaussian
from mechanisms.distribution.minimum_noise import MinimumNoiseGaussian
from mechanisms.distribution.relaxed import ApproximateModel
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.distribution.unequal_pair import UnequalPairGaussian
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.noise.gaussian import gaussian_leakage
from mechanisms.privacy.budget import EpsilonDelta

DELTA = 0.001
STATISTICS = (
    Mean(column="age"), Mean(column="education-num"),
    Count(column="marital-status", value="Never-married"),
    Count(column="sex", value="Female"), Mean(column="hours-per-week"),
)  # fmt: skip
PROPERTY = {"income": ("income", ">50K"), "work": ("workclass", "Private")}
PUBLISHED_KINDS = (ExpectedValueGaussian, EigenvectorGaussian, UncertainDirectionalGaussian)


@cache
def halves(secret):
    """Features of the rows without the property, and of those with it."""
    table = Adult().records
    features = np.stack([s.feature(table) for s in STATISTICS], axis=1)
    column, value = PROPERTY[secret]
    has = table.labels(column).are(value)
    return features[~has], features[has]


@cache
def answers(secret, gap):
    """Exact moments over all 45,222 rows."""
    without, having = halves(secret)
    weights = np.array([s.weight(100) for s in STATISTICS])
    moments = [
        subset_moments(without, having, round(100 * share), 100, weights)
        for share in (0.5 - gap / 2, 0.5 + gap / 2)
    ]
    return GaussianAnswers(
        means=np.stack([m for m, _ in moments]),
        covariances=np.stack([c for _, c in moments]),
        pairs=((0, 1),),
    )


def laws(model, *, own):
    shared = model.shared_covariances()[0]
    return [
        GaussianLaw(mean=model.means[i], covariance=model.covariances[i] if own else shared)
        for i in (0, 1)
    ]


def leakage(kind, secret, gap, epsilon, *, own, calibration="classical"):
    model = answers(secret, gap)
    budget = EpsilonDelta(epsilon=epsilon, delta=DELTA)
    mechanism = kind(calibration=calibration).calibrate(model, budget=budget)
    return mechanism, mechanism.leakage(*laws(model, own=own), 1)


@pytest.mark.parametrize("gap", [0.2, 0.3, 0.4])
def test_the_classical_constant_fails_at_epsilon_10_for_daum_and_never_for_expected_value(gap):
    _, daum = leakage(UncertainDirectionalGaussian, "income", gap, 10.0, own=False)
    assert daum.delta(10.0).lo == pytest.approx(0.00336, abs=5e-6)
    _, expected = leakage(ExpectedValueGaussian, "income", gap, 10.0, own=False)
    assert expected.delta(10.0).hi < 0.2 * DELTA


def test_the_analytic_calibration_repairs_it():
    _, daum = leakage(
        UncertainDirectionalGaussian, "income", 0.3, 10.0, own=False, calibration="analytic"
    )
    assert 0.999 * DELTA < daum.delta(10.0).hi <= DELTA * (1 + 1e-9)


def test_published_curves_of_directional_laplace_follow_the_l1_distance():
    model = answers("income", 0.1)
    published = {0.1: 71.8, 0.264: 25.7, 0.696: 10.8, 1.83: 3.61, 4.83: 1.45, 10.0: 0.746}
    # Mean |Lap(b)| = b: the theorem's scale is Delta_{E,2}/eps, the curve is near Delta_{E,1}/eps.
    ratios = np.array([y * eps for eps, y in published.items()])
    assert model.distance(2) == pytest.approx(4.291, abs=1e-3)
    assert model.distance(1) == pytest.approx(7.355, abs=1e-3)
    assert np.abs(ratios.mean() / model.distance(1) - 1) < 0.06
    assert ratios.mean() / model.distance(2) > 1.55


@pytest.mark.parametrize(
    ("gap", "epsilon", "true"),
    [(0.1, 0.1, 0.00712), (0.3, 0.1, 0.0507), (0.3, 1.0, 0.00291), (0.2, 10.0, 0.0112)],
)
def test_with_each_sides_own_covariance_daum_leaks_several_times_its_delta(gap, epsilon, true):
    _, pair = leakage(UncertainDirectionalGaussian, "income", gap, epsilon, own=True)
    assert pair.delta(epsilon).lo == pytest.approx(true, rel=5e-3)
    assert pair.delta(epsilon).lo > 2.5 * DELTA


def test_directional_and_least_noise_break_with_own_covariances_too():
    _, directional = leakage(DirectionalGaussian, "income", 0.1, 0.1, own=True)
    assert directional.delta(0.1).lo == pytest.approx(0.00712, rel=5e-3)
    _, least = leakage(MinimumNoiseGaussian, "income", 0.1, 5.0, own=True)
    assert least.delta(5.0).lo == pytest.approx(0.00118, rel=5e-3)


def test_eigenvector_breaks_with_own_covariances_at_gap_2_and_epsilon_5():
    _, pair = leakage(EigenvectorGaussian, "income", 0.2, 5.0, own=True)
    assert pair.delta(5.0).lo == pytest.approx(0.00121, rel=5e-3)


@pytest.mark.parametrize(("gap", "epsilon"), [(0.1, 0.1), (0.3, 0.1), (0.3, 1.0)])
def test_no_noise_along_the_direction_restores_the_claim(gap, epsilon):
    budget = EpsilonDelta(epsilon=epsilon, delta=DELTA)
    with pytest.raises(NotApplicableError, match="no directional noise hides"):
        UnequalPairGaussian(shape="directional").calibrate(answers("income", gap), budget=budget)


@pytest.mark.parametrize(("gap", "epsilon"), [(0.1, 0.1), (0.3, 0.1), (0.3, 1.0), (0.3, 5.0)])
def test_isotropic_noise_on_the_unequal_pair_restores_it_for_a_few_percent(gap, epsilon):
    model, budget = answers("income", gap), EpsilonDelta(epsilon=epsilon, delta=DELTA)
    mechanism = UnequalPairGaussian().calibrate(model, budget=budget)
    exact = mechanism.leakage(*laws(model, own=True), 1)
    assert 0.999 * DELTA < exact.delta(epsilon).hi <= DELTA
    analytic, _ = leakage(
        ExpectedValueGaussian, "income", gap, epsilon, own=True, calibration="analytic"
    )
    ratio = mechanism.variances().sum() / analytic.variances().sum()
    assert 0.9 < ratio < 1.02


def test_theorem_4_6_restores_the_claim_by_widening_it():
    """Each side is within (lam, eta) of the shared model; the widened claim then holds."""
    model, epsilon, lam = answers("income", 0.1), 0.1, 0.3
    pairs = zip(laws(model, own=True), laws(model, own=False), strict=True)
    zero = np.zeros_like(model.covariances[0])
    eta = max(gaussian_leakage(true, assumed, zero).delta(lam).hi for true, assumed in pairs)
    assert eta == pytest.approx(1.26e-4, rel=1e-2)
    wrapped = ApproximateModel(
        calibration=UncertainDirectionalGaussian(calibration="classical"), divergence=lam, eta=eta
    )
    mechanism = wrapped.calibrate(model, budget=EpsilonDelta(epsilon=epsilon, delta=DELTA))
    claim = mechanism.guarantee
    assert claim.bound == pytest.approx(0.7)
    assert claim.notion.delta == pytest.approx(0.00166, rel=1e-2)
    exact = mechanism.leakage(*laws(model, own=True), 1)
    assert exact.delta(claim.bound).hi <= claim.notion.delta


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
def test_at_epsilon_up_to_1_all_gaussian_variants_leak_the_same_to_the_best_attacker(epsilon):
    ceilings = [
        leakage(kind, "income", 0.1, epsilon, own=False)[1].accuracy().hi
        for kind in (*PUBLISHED_KINDS, MinimumNoiseGaussian, DirectionalGaussian)
    ]
    assert max(ceilings) - min(ceilings) < 0.002


def test_at_epsilon_5_a_real_difference_remains():
    expected, eigenvector, daum = (
        leakage(kind, "income", 0.1, 5.0, own=False)[1].accuracy().hi for kind in PUBLISHED_KINDS
    )
    assert (expected, eigenvector, daum) == pytest.approx((0.6580, 0.6955, 0.7460), abs=2e-4)


@pytest.mark.parametrize(
    ("secret", "gap", "epsilon", "daum", "least"),
    [
        ("income", 0.1, 1.0, 253.5, 244.8),
        ("income", 0.1, 5.0, 1.404, 0.02736),
        ("income", 0.2, 5.0, 32.92, 24.48),
    ],
)  # fmt: skip
def test_how_much_variance_the_least_noise_saves(secret, gap, epsilon, daum, least):
    for kind, trace in ((UncertainDirectionalGaussian, daum), (MinimumNoiseGaussian, least)):
        mechanism, _ = leakage(kind, secret, gap, epsilon, own=False)
        assert mechanism.variances().sum() == pytest.approx(trace, rel=1e-3)


def test_the_published_attack_understates_the_leakage_of_expected_value_noise():
    study = Cross(
        scenarios={"adult": ADULT},
        mechanisms={
            "m": {"_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian"}
        },
        attacks={
            "published": META | {"adaptive": False, "estimator": LOGISTIC},
            "adaptive": META | {"estimator": {"_target_": "sklearn.pipeline.make_pipeline",
                                              "_args_": [SCALER, LOGISTIC]}},
            "optimal": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"},
        },
        metrics={"accuracy": {"_target_": "bench.metrics.attack.Accuracy"}},
        grid={"epsilon": [5.0], "delta": [DELTA]},
        repetitions=30, n_shadow=100, n_holdout=50, n_test=100,
    )  # fmt: skip
    (cell,) = study.cells()
    rows = study.run_cell(cell, Session()).rows
    accuracy = {r["attack"]: r for r in rows if r["metric"] == "acc"}
    assert accuracy["published"]["upper"] + 0.04 < accuracy["adaptive"]["lower"]
    assert accuracy["optimal"]["lower"] <= 0.6580 <= accuracy["optimal"]["upper"]


LOGISTIC = {"_target_": "sklearn.linear_model.LogisticRegression"}
SCALER = {"_target_": "sklearn.preprocessing.StandardScaler"}
META = {"_target_": "attacks.meta_classifier.MetaClassifier"}
ADULT = {
    "_target_": "bench.scenarios.property_subsets.PropertySubsets",
    "data": {"_target_": "bench.datasets.table.adult.Adult"},
    "statistics_of": [
        {"_target_": "bench.scenarios.statistics.Mean", "column": "age"},
        {"_target_": "bench.scenarios.statistics.Mean", "column": "education-num"},
        {"_target_": "bench.scenarios.statistics.Count", "column": "marital-status",
         "value": "Never-married"},
        {"_target_": "bench.scenarios.statistics.Count", "column": "sex", "value": "Female"},
        {"_target_": "bench.scenarios.statistics.Mean", "column": "hours-per-week"},
    ],
    "properties": {"income": {"_target_": "bench.scenarios.statistics.Count", "column": "income",
                              "value": ">50K"}},
    "secret": "income",
    "gap": 0.1,
    "model": "exact",
}  # fmt: skip
