"""A shift that is noised in one direction only: limits, simulation, order of notions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.answer import GaussianLaw
from mechanisms.leakage.laplace_shift import LaplaceShift, log_density_gaussian_plus_laplace
from mechanisms.leakage.pair import GaussianShift
from mechanisms.leakage.partly_noised import PartlyNoised
from mechanisms.noise.laplace import DirectionalLaplaceNoise

SHAPES = {
    "across": st.floats(0, 3), "distance": st.floats(0.01, 5), "spread": st.floats(0.05, 3),
    "scale": st.floats(0.1, 10),
}  # fmt: skip


@settings(max_examples=10, deadline=None)
@given(**SHAPES, epsilon=st.floats(0, 3))
def test_without_the_other_part_it_is_each_part_alone(across, distance, spread, scale, epsilon):
    noised = PartlyNoised(across=0.0, distance=distance, spread=spread, scale=scale)
    alone = LaplaceShift(distance=distance, spread=spread, scale=scale)
    bracket = noised.delta(epsilon)
    assert bracket.lo - 1e-12 <= alone.delta(epsilon).hi <= bracket.hi + 1e-12
    assert bracket.hi - bracket.lo < 1e-4
    assert noised.renyi(2.0).hi == pytest.approx(alone.renyi(2.0).hi, rel=1e-6, abs=1e-8)
    hidden = PartlyNoised(across=across, distance=distance, spread=spread, scale=1e9)
    gaussian = GaussianShift(across)
    assert hidden.delta(epsilon).hi == pytest.approx(gaussian.delta(epsilon).hi, abs=1e-7)


@settings(max_examples=10, deadline=None)
@given(**SHAPES)
def test_both_parts_leak_more_than_one_and_epsilon_inverts_delta(across, distance, spread, scale):
    both = PartlyNoised(across=across, distance=distance, spread=spread, scale=scale)
    assert both.accuracy().hi >= GaussianShift(across).accuracy().hi - 1e-9
    assert both.delta(0.5).hi - both.delta(0.5).lo < 1e-3
    at = both.epsilon(0.01)
    assert at.lo <= at.hi
    assert both.delta(at.hi).hi <= 0.01 + 1e-9
    assert both.epsilon(0.0).hi == (math.inf if across >= 1e-10 else distance / scale)


def test_the_best_test_reaches_it_and_no_more():
    rng, n = np.random.default_rng(0), 400_000
    covariance = np.array([[1.0, 0.4], [0.4, 2.0]])
    direction, difference = np.array([0.6, 0.8]), np.array([1.0, -0.5])
    noise = DirectionalLaplaceNoise(scale=0.7, direction=direction)
    laws = [GaussianLaw(mean=m, covariance=covariance) for m in (difference, np.zeros(2))]
    pair = noise.leakage(*laws, 1)
    assert isinstance(pair, PartlyNoised)
    scores = []
    for law in laws:
        y = law.sample(n, rng) + noise.sample((n, 2), rng)
        logs = [noise.marginal_log_density(y[:, None], other) for other in laws]
        scores.append(logs[0] - logs[1])
    right = (np.mean(scores[0] > 0) + np.mean(scores[1] <= 0)) / 2
    assert right == pytest.approx(pair.accuracy().hi, abs=4 * 0.5 / math.sqrt(2 * n))


def test_answers_that_do_not_vary_are_told_apart_off_the_direction():
    noise = DirectionalLaplaceNoise(scale=1.0, direction=np.array([1.0, 0.0]))
    still = [GaussianLaw(mean=m, covariance=np.zeros((2, 2)))
             for m in (np.array([1.0, 1.0]), np.zeros(2))]  # fmt: skip
    assert noise.leakage(*still, 1).accuracy().hi == 1
    assert math.isinf(noise.leakage(*still, 1).epsilon(0.001).hi)
    along = [GaussianLaw(mean=m, covariance=np.zeros((2, 2)))
             for m in (np.array([1.0, 0.0]), np.zeros(2))]  # fmt: skip
    assert noise.leakage(*along, 1).epsilon(0.0).hi == 1


def test_the_density_of_the_noised_part_sums_to_one():
    s, weight = PartlyNoised(across=1.0, distance=2.0, spread=0.3, scale=0.5)._grid(120)
    mass = weight @ np.exp(log_density_gaussian_plus_laplace(s, 0.3, 0.5))
    assert mass == pytest.approx(1, abs=1e-12)
