"""Exact (epsilon, delta) curves after noise, against brute-force integration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.leakage.hockey_stick import epsilon_for_delta, hockey_stick

SETTINGS = settings(max_examples=30, deadline=None)
NOISES = ("laplace", "gaussian")


@st.composite
def laws(draw):
    size = draw(st.integers(1, 5))
    atoms = draw(st.lists(st.integers(-6, 6).map(float), min_size=size, max_size=size, unique=True))
    weights = np.array(draw(st.lists(st.integers(1, 20), min_size=size, max_size=size)), float)
    return FiniteLaw(atoms=atoms, weights=weights / weights.sum())


GRID = np.linspace(-60.0, 60.0, 240_001)


def densities(p, q, noise, scale):
    def density(law):
        moved = np.abs(GRID[:, None] - law.atoms) / scale
        if noise == "laplace":
            return np.exp(-moved) @ law.weights / (2 * scale)
        return np.exp(-(moved**2) / 2) @ law.weights / (scale * math.sqrt(2 * math.pi))

    return density(p), density(q)


@SETTINGS
@given(
    laws(),
    laws(),
    st.sampled_from([-0.7, 0.0, 0.3, 2.0]),
    st.sampled_from(NOISES),
    st.sampled_from([0.4, 2.0]),
)
def test_delta_agrees_with_brute_force(p, q, epsilon, noise, scale):
    dp, dq = densities(p, q, noise, scale)
    expected = np.trapezoid(np.maximum(dp - math.exp(epsilon) * dq, 0), GRID)
    found = hockey_stick(p, q, epsilon=epsilon, noise=noise, scale=scale)
    assert 0 <= found.lo <= found.hi <= 1
    assert found.hi - found.lo <= 2e-12 * found.hi
    assert found.hi == pytest.approx(expected, abs=2e-7)


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.0, 0.6]), st.sampled_from(NOISES))
def test_the_two_directions_are_dual(p, q, epsilon, noise):
    # (p - e^epsilon q)_+ = p - e^epsilon q + e^epsilon (q - e^-epsilon p)_+.
    there = hockey_stick(p, q, epsilon=epsilon, noise=noise, scale=0.8).hi
    back = hockey_stick(q, p, epsilon=-epsilon, noise=noise, scale=0.8).hi
    expected = 1 - math.exp(epsilon) + math.exp(epsilon) * back
    assert there == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("distance", [0.1, 1.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 3.0])
def test_points_have_closed_forms(distance, epsilon):
    pair = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, distance)]
    found = hockey_stick(*pair, epsilon=epsilon, noise="gaussian", scale=1.0)
    expected = gaussian_delta(epsilon, distance)
    assert found.hi == pytest.approx(expected, rel=1e-9, abs=1e-14)
    found = hockey_stick(*pair, epsilon=epsilon, noise="laplace", scale=1.0)
    expected = max(0.0, 1 - math.exp((epsilon - distance) / 2))
    assert found.hi == pytest.approx(expected, rel=1e-12, abs=1e-15)


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.5, 0.2]), st.sampled_from(NOISES))
def test_the_best_guess_under_any_prior_is_right_as_often_as_the_larger_density_says(
    p, q, prior, noise
):
    dp, dq = densities(p, q, noise, 1.0)
    expected = np.trapezoid(np.maximum(prior * dp, (1 - prior) * dq), GRID)
    odds = math.log(1 - prior) - math.log(prior)
    found = hockey_stick(p, q, epsilon=odds, noise=noise, scale=1.0)
    assert (1 - prior) + prior * found.hi == pytest.approx(expected, abs=1e-6)


@SETTINGS
@given(laws(), laws(), st.sampled_from([1e-6, 1e-2, 0.2]), st.sampled_from(NOISES))
def test_epsilon_meets_delta_in_both_directions_and_no_smaller_one_does(p, q, delta, noise):
    epsilon = epsilon_for_delta(p, q, delta=delta, noise=noise, scale=1.0)
    both = [(p, q), (q, p)]

    def worst(e):
        return max(hockey_stick(*w, epsilon=e, noise=noise, scale=1.0).hi for w in both)

    assert worst(epsilon) <= delta
    if epsilon > 0:
        assert worst(epsilon - 1e-6) > delta


def test_epsilon_at_delta_zero_is_the_largest_log_ratio():
    pair = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0)]
    assert epsilon_for_delta(*pair, delta=0.0, noise="laplace", scale=0.5) == pytest.approx(2)
    assert epsilon_for_delta(*pair, delta=0.0, noise="gaussian", scale=0.5) == math.inf
    assert epsilon_for_delta(*pair, delta=1.0, noise="gaussian", scale=0.5) == 0


def test_equal_laws_leak_nothing():
    law = FiniteLaw(atoms=[0.0, 3.0], weights=[0.5, 0.5])
    for noise in NOISES:
        assert hockey_stick(law, law, epsilon=0.0, noise=noise, scale=1.0).hi <= 1e-15
