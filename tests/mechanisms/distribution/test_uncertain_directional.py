import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.knowledge import GaussianAnswers
from mechanisms.leakage.gaussian_tradeoff import classical_constant, gaussian_distance
from mechanisms.privacy.budget import EpsilonDelta


def variance_by_bisection(answers, distance):
    """The published search: the least s^2 whose matrix is positive definite, for every pair."""
    direction = answers.common_direction()
    needed = []
    for difference, covariance in zip(
        answers.differences(), answers.shared_covariances(), strict=True
    ):
        across = np.outer(direction, direction)
        alpha = difference @ direction

        def definite(square, alpha=alpha, covariance=covariance, across=across):
            matrix = covariance + (square - (alpha / distance) ** 2) * across
            return np.linalg.eigvalsh(matrix)[0] > 0

        low, high = 0.0, (alpha / distance) ** 2
        if definite(0.0):
            needed.append(0.0)
            continue
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if definite(middle) else (middle, high)
        needed.append(high)
    return max(needed)


@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 5),
    epsilon=st.floats(0.1, 6),
    delta=st.floats(1e-6, 0.1),
)
@settings(max_examples=40, deadline=None)
def test_the_closed_form_is_the_end_of_the_published_bisection(seed, m, epsilon, delta):
    rng = np.random.default_rng(seed)
    heights = np.repeat(rng.uniform(0.5, 3, 3), 2) * np.tile([1, -1], 3)
    roots = rng.standard_normal((3, m, m + 2))
    answers = GaussianAnswers(
        means=np.outer(heights, rng.standard_normal(m)),
        covariances=np.repeat(roots @ roots.transpose(0, 2, 1), 2, axis=0),
        pairs=((0, 1), (3, 2), (4, 5)),
    )
    budget = EpsilonDelta(epsilon=epsilon, delta=delta)
    for calibration, distance in (
        ("classical", epsilon / classical_constant(delta)),
        ("analytic", gaussian_distance(epsilon, delta)),
    ):
        release = UncertainDirectionalGaussian(calibration=calibration).calibrate(
            answers, budget=budget
        )
        expected = variance_by_bisection(answers, distance)
        assert np.trace(release.noise.covariance) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_the_bisections_floor_is_gone():
    """Where the answers' own spread is enough nothing at all is added."""
    answers = GaussianAnswers(
        means=np.array([[0.0, 0.0], [0.1, 0.0]]),
        covariances=np.stack([np.eye(2)] * 2),
        pairs=((0, 1), (1, 0)),
    )
    budget = EpsilonDelta(epsilon=1.0, delta=1e-3)
    release = UncertainDirectionalGaussian().calibrate(answers, budget=budget)
    assert (release.noise.covariance == 0).all()
    x = np.ones((3, 2))
    assert (release.release(x, np.random.default_rng(0)) == x).all()
