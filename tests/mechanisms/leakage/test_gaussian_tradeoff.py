import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from mechanisms.leakage.gaussian_tradeoff import (
    classical_constant,
    gaussian_delta,
    gaussian_distance,
    gaussian_epsilon,
)

EPSILONS = st.floats(1e-3, 20)
DELTAS = st.floats(math.log(1e-12), math.log(0.9)).map(math.exp)
DISTANCES = st.floats(math.log(1e-2), math.log(20)).map(math.exp)


def delta_in_high_precision(epsilon, distance):
    with mpmath.workdps(60):
        e, d = mpmath.mpf(epsilon), mpmath.mpf(distance)
        return mpmath.ncdf(d / 2 - e / d) - mpmath.exp(e) * mpmath.ncdf(-d / 2 - e / d)


def delta_by_definition(epsilon, distance):
    """Integrate the positive part of p - e^eps q, the densities of N(d, 1) and N(0, 1)."""

    def excess(x):
        p = math.exp(-((x - distance) ** 2) / 2)
        return max(0.0, p - math.exp(epsilon - x * x / 2)) / math.sqrt(2 * math.pi)

    start = distance / 2 + epsilon / distance
    stop = max(start, distance) + 40
    cuts = [start, max(start, distance), max(start, distance) + 5, stop]
    return sum(quad(excess, a, b, epsabs=1e-15)[0] for a, b in itertools.pairwise(cuts))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("distance", [0.05, 0.7, 1.5, 6.0])
def test_delta_is_the_integral_of_its_definition(epsilon, distance):
    assert gaussian_delta(epsilon, distance) == pytest.approx(
        delta_by_definition(epsilon, distance), rel=1e-7, abs=1e-12
    )


@given(epsilon=EPSILONS, distance=DISTANCES)
@settings(max_examples=60, deadline=None)
def test_delta_agrees_with_sixty_digits(epsilon, distance):
    exact = float(delta_in_high_precision(epsilon, distance))
    assert gaussian_delta(epsilon, distance) == pytest.approx(exact, rel=1e-9, abs=1e-14)


@given(epsilon=EPSILONS, more=st.floats(1e-3, 3), distance=DISTANCES)
@settings(max_examples=60, deadline=None)
def test_delta_falls_in_epsilon_and_rises_in_distance(epsilon, more, distance):
    here = gaussian_delta(epsilon, distance)
    assert gaussian_delta(epsilon + more, distance) <= here + 1e-15
    assert gaussian_delta(epsilon, distance + more) >= here - 1e-15


@given(distance=DISTANCES, delta=DELTAS)
@settings(max_examples=60, deadline=None)
def test_epsilon_meets_delta_and_no_smaller_one_does(distance, delta):
    epsilon = gaussian_epsilon(distance, delta)
    assert gaussian_delta(epsilon, distance) <= delta
    if epsilon > 0:
        assert gaussian_delta(epsilon * (1 - 1e-6), distance) > delta * (1 - 1e-9)


@given(epsilon=EPSILONS, delta=DELTAS)
@settings(max_examples=60, deadline=None)
def test_calibrating_then_accounting_gives_the_budget_and_never_more(epsilon, delta):
    distance = gaussian_distance(epsilon, delta)
    spent = gaussian_epsilon(distance, delta)
    assert epsilon * (1 - 1e-6) <= spent <= epsilon * (1 + 1e-9)
    assert gaussian_delta(epsilon, distance) <= delta


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_distance_is_the_root_of_the_definition_in_many_digits(epsilon, delta):
    def excess(distance):
        """Integrate the positive part of p - e^eps q, the densities of N(d, 1) and N(0, 1)."""
        start = distance / 2 + epsilon / distance
        return mpmath.quad(
            lambda x: mpmath.npdf(x, distance, 1) - mpmath.exp(epsilon) * mpmath.npdf(x),
            [start, start + 1, start + 3, start + 8, start + 40],
        )

    with mpmath.workdps(25):
        found = mpmath.mpf(gaussian_distance(epsilon, delta))
        step = found * mpmath.mpf("1e-9")
        assert excess(found - step) < delta < excess(found + step)


def test_the_ends_of_the_range():
    assert gaussian_delta(1.0, 0.0) == 0.0
    assert gaussian_delta(1.0, math.inf) == 1.0
    assert gaussian_delta(math.inf, 3.0) == 0.0
    assert gaussian_epsilon(1.0, 0.0) == math.inf
    assert gaussian_epsilon(0.0, 0.0) == 0.0
    assert gaussian_epsilon(math.inf, 0.5) == math.inf
    assert gaussian_distance(math.inf, 0.1) == math.inf


@given(epsilon=st.floats(1e-3, 1), delta=st.floats(math.log(1e-12), math.log(0.999)).map(math.exp))
@settings(max_examples=60, deadline=None)
def test_the_classical_constant_holds_up_to_epsilon_one(epsilon, delta):
    assert gaussian_delta(epsilon, epsilon / classical_constant(delta)) <= delta


@pytest.mark.parametrize(("delta", "breaks"), [(1e-2, 6.77), (1e-3, 7.46), (1e-4, 7.99)])
def test_the_classical_constant_fails_above_a_known_epsilon(delta, breaks):
    c = classical_constant(delta)
    root = brentq(lambda e: gaussian_delta(e, e / c) - delta, 1.0, 20.0)
    assert root == pytest.approx(breaks, abs=5e-3)
    assert gaussian_delta(root + 0.1, (root + 0.1) / c) > delta


def test_the_classical_constant_at_epsilon_ten_triples_delta():
    distance = 10 / classical_constant(1e-3)
    assert gaussian_delta(10, distance) == pytest.approx(0.00336, abs=5e-6)
    assert delta_by_definition(10, distance) == pytest.approx(0.00336, abs=5e-6)


@pytest.mark.parametrize("bad", [0, -1, math.nan, "abc", True])
def test_a_bad_epsilon_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match=r"^epsilon must be .*got epsilon="):
        gaussian_distance(bad, 0.1)


def test_epsilon_is_vanishing_for_small_distances_and_quadratic_for_large_ones():
    assert gaussian_epsilon(1e-4, 1e-3) == 0.0
    far = np.array([gaussian_epsilon(d, 0.5) / (d * d / 2) for d in (50.0, 200.0)])
    assert far == pytest.approx(1.0, abs=0.01)
