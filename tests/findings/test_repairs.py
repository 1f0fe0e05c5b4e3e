"""What repairing noise in a subspace costs on Adult, income, gap .1."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bench.config.build import build
from bench.core.randomness import rng_for
from mechanisms.distribution.directional import DirectionalLaplace
from mechanisms.distribution.repair import Repaired
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.knowledge import GaussianAnswers
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from tests.findings.test_distribution_privacy import ADULT

WORLDS = 4000


@cache
def scenario():
    return build(ADULT | {"model": "exact"}, "scenario adult")


@cache
def answers():
    return scenario().draw(np.repeat([0, 1], WORLDS), "test", rng_for(0, "repairs")).answers


def error(kind, repair, epsilon):
    """Mean L2 error over 8,000 worlds."""
    if kind == "laplace":
        calibration, budget, share = DirectionalLaplace(), Epsilon(epsilon=epsilon), 0.25
    else:
        budget = EpsilonDelta(epsilon=epsilon, delta=0.001)
        calibration, share = UncertainDirectionalGaussian(), 0.2
    mechanism = Repaired(calibration=calibration, repair=repair, share=share).calibrate(
        scenario().knowledge(GaussianAnswers), budget=budget
    )
    released = mechanism.release(answers(), rng_for(1, kind, repair))
    return float(np.linalg.norm(released - answers(), axis=1).mean())


@pytest.mark.parametrize(
    ("kind", "repair", "expected"),
    [
        ("laplace", "none", (42.7, 4.3, 0.85)),
        ("laplace", "projection", (43.0, 6.3, 3.9)),
        ("laplace", "floor", (156, 15.5, 3.1)),
        ("gaussian", "none", (128, 12.7, 0.96)),
        ("gaussian", "projection", (129, 13.6, 3.9)),
        ("gaussian", "floor", (274, 27.6, 5.1)),
    ],
)
def test_the_projection_costs_less_than_the_floor(kind, repair, expected):
    found = [error(kind, repair, epsilon) for epsilon in (0.1, 1.0, 5.0)]
    assert found == pytest.approx(expected, rel=0.035)


def test_at_epsilon_5_the_error_of_a_projection_is_nearly_all_spread():
    assert error("laplace", "projection", 100.0) > 0.9 * error("laplace", "projection", 5.0)
