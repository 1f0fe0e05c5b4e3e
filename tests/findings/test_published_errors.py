"""Errors of Figure 2 and Table 2 of Chen and Ohrimenko (2023) against exact moments."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
import yaml
from scipy.special import gamma

from mechanisms.distribution.directional import DirectionalLaplace
from mechanisms.distribution.eigenvector import EigenvectorGaussian
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.group_privacy import GroupGaussian
from mechanisms.knowledge import Sensitivity
from mechanisms.leakage.gaussian_tradeoff import classical_constant
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from tests.findings.test_distribution_privacy import answers

DELTA, DRAWS = 0.001, 20_000
KINDS = {
    "expected_value_laplace": ExpectedValueLaplace(),
    "directional_laplace": DirectionalLaplace(),
    "expected_value_gaussian": ExpectedValueGaussian(),
    "eigenvector_gaussian": EigenvectorGaussian(),
    "uncertain_directional_gaussian": UncertainDirectionalGaussian(),
}
SCENARIOS = {"income": ("income", 0.1), "work": ("work", 0.04)}
# Outside the 99.9 % interval of a 50-draw mean, each with its reason.
L1_CURVE = "published curves follow the L1 distance"
FLOOR = "the published bisection never returns exactly 0 noise"
INFLATED = "means from 1000 sampled subsets inflate the distance at small gaps"
EXCEPTIONS = {
    ("income", "uncertain_directional_gaussian", 10.0): FLOOR,
    ("work", "uncertain_directional_gaussian", 1.83): FLOOR,
    ("work", "uncertain_directional_gaussian", 4.83): FLOOR,
    ("work", "uncertain_directional_gaussian", 10.0): FLOOR,
    ("work", "expected_value_gaussian", 4.83): INFLATED,
    ("work", "eigenvector_gaussian", 10.0): INFLATED,
}


def published():
    for scenario in SCENARIOS:
        text = (resources.files("conf") / "figure" / f"utility_{scenario}.yaml").read_text()
        for name, points in yaml.safe_load(text)["published"].items():
            for epsilon, value in zip(points["x"], points["y"], strict=True):
                yield scenario, name, epsilon, value


def errors(scenario, name, epsilon):
    model = answers(*SCENARIOS[scenario])
    pure = KINDS[name].accepts is Epsilon
    budget = Epsilon(epsilon=epsilon) if pure else EpsilonDelta(epsilon=epsilon, delta=DELTA)
    noise = KINDS[name].calibrate(model, budget=budget).noise
    return np.linalg.norm(noise.sample((DRAWS, 5), np.random.default_rng(3)), axis=1)


@pytest.mark.parametrize(("scenario", "name", "epsilon", "value"), list(published()))
def test_published_errors_are_those_of_50_draws_but_for_named_exceptions(
    scenario, name, epsilon, value
):
    ours = errors(scenario, name, epsilon)
    half = 3.29 * ours.std() / np.sqrt(50)
    expected = (scenario, name, epsilon) in EXCEPTIONS or name == "directional_laplace"
    assert (abs(value - ours.mean()) > half) == expected


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_errors_over_20000_draws_meet_their_closed_forms_within_2_percent(scenario, epsilon):
    model, c = answers(*SCENARIOS[scenario]), classical_constant(DELTA)
    chi_mean = np.sqrt(2) * gamma(3) / gamma(2.5)
    daum = KINDS["uncertain_directional_gaussian"].calibrate(
        model, budget=EpsilonDelta(epsilon=epsilon, delta=DELTA)
    )
    predicted = {
        "expected_value_gaussian": chi_mean * c * model.distance(2) / epsilon,
        "expected_value_laplace": 2.8656 * model.distance(1) / epsilon,
        "directional_laplace": model.distance(2) / epsilon,
        "uncertain_directional_gaussian": np.sqrt(daum.variances().sum() * 2 / np.pi),
    }
    for name, value in predicted.items():
        assert errors(scenario, name, epsilon).mean() == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("expected_value_gaussian", (172.41, 34.48, 6.90)),
        ("eigenvector_gaussian", (172.31, 34.01, 4.97)),
        ("uncertain_directional_gaussian", (64.61, 12.70, 0.95)),
    ],
)
def test_table_2_with_exact_moments(name, values):
    for epsilon, value in zip((0.2, 1.0, 5.0), values, strict=True):
        assert errors("income", name, epsilon).mean() == pytest.approx(value, rel=0.02)


def test_table_2_group_privacy():
    sensitivity = Sensitivity(l1=3.86, l2=1.87505, unit="record", size=100, dimension=5)
    for epsilon, value in ((0.2, 7533.2), (1.0, 1506.6), (5.0, 301.3)):
        budget = EpsilonDelta(epsilon=epsilon, delta=DELTA)
        noise = GroupGaussian().calibrate(sensitivity, budget=budget).noise
        ours = np.linalg.norm(noise.sample((DRAWS, 5), np.random.default_rng(3)), axis=1)
        assert ours.mean() == pytest.approx(value, rel=0.02)
