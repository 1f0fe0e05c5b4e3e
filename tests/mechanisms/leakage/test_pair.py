import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from mechanisms.leakage.pair import FinitePair, GaussianShift, PostProcessed

WEIGHTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def laws(first, second):
    p, q = np.array(first, dtype=float), np.array(second, dtype=float)
    return p / p.sum(), q / q.sum()


@given(first=WEIGHTS, second=WEIGHTS, epsilon=st.floats(0, 4))
@settings(max_examples=60, deadline=None)
def test_delta_of_a_finite_pair_is_the_worst_event_in_either_direction(first, second, epsilon):
    p, q = laws(first, second)
    events = [np.array([s >> i & 1 for i in range(4)], dtype=bool) for s in range(16)]
    worst = max(
        max(a[e].sum() - math.exp(epsilon) * b[e].sum() for e in events)
        for a, b in ((p, q), (q, p))
    )
    assert FinitePair(p, q).delta(epsilon).hi == pytest.approx(max(0.0, worst), abs=1e-12)


@given(first=WEIGHTS, second=WEIGHTS, delta=st.floats(0, 0.9))
@settings(max_examples=60, deadline=None)
def test_epsilon_of_a_finite_pair_meets_delta_and_no_smaller_one_does(first, second, delta):
    pair = FinitePair(*laws(first, second))
    epsilon = pair.epsilon(delta).hi
    if epsilon < math.inf:
        assert pair.delta(epsilon).hi <= delta + 1e-12
    if epsilon > 1e-6:
        below = min(epsilon * (1 - 1e-6), 50.0)
        assert pair.delta(below).hi > delta - 1e-12
    if epsilon == math.inf:
        assert pair.delta(30.0).hi > delta - 1e-9


@given(first=WEIGHTS, second=WEIGHTS)
@settings(max_examples=60, deadline=None)
def test_accuracy_of_a_finite_pair_guesses_the_likelier_side(first, second):
    p, q = laws(first, second)
    assert FinitePair(p, q).accuracy().hi == pytest.approx(np.maximum(p, q).sum() / 2)


@pytest.mark.parametrize("order", [0.4, 1.0, 2.0, 8.0])
def test_renyi_of_a_gaussian_shift_is_the_integral_of_its_definition(order):
    d = 1.3

    def integrand(x):
        p, q = norm.logpdf(x, d), norm.logpdf(x)
        if order == 1:
            return math.exp(p) * (p - q)
        return math.exp(order * p + (1 - order) * q)

    total = quad(integrand, -30, 40, limit=300, points=[0, d, order * d])[0]
    expected = total if order == 1 else math.log(total) / (order - 1)
    assert GaussianShift(d).renyi(order).hi == pytest.approx(expected, rel=1e-8)


def test_accuracy_of_a_gaussian_shift_is_that_of_the_midpoint_test():
    assert GaussianShift(2.0).accuracy().hi == pytest.approx(norm.cdf(1.0))
    assert GaussianShift(0.0).accuracy().hi == 0.5
    assert GaussianShift(math.inf).accuracy().hi == 1.0


def test_half_of_one_plus_delta_at_zero_is_the_accuracy():
    for pair in (GaussianShift(0.8), FinitePair(np.array([0.7, 0.3]), np.array([0.2, 0.8]))):
        assert (1 + pair.delta(0.0).hi) / 2 == pytest.approx(pair.accuracy().hi, rel=1e-12)


@given(d=st.floats(0.05, 5), epsilon=st.floats(0.01, 8))
@settings(max_examples=60, deadline=None)
def test_accuracy_never_exceeds_the_ceiling_of_the_guarantee(d, epsilon):
    pair = GaussianShift(d)
    delta = pair.delta(epsilon).hi
    ceiling = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
    assert pair.accuracy().hi <= ceiling + 1e-12


def test_the_pure_epsilon_of_a_gaussian_shift_is_infinite():
    assert GaussianShift(1e-3).epsilon(0.0).lo == math.inf
    assert GaussianShift(0.0).epsilon(0.0).hi == 0.0
    assert GaussianShift(1.0).renyi(math.inf).lo == math.inf
    assert GaussianShift(0.0).renyi(math.inf).hi == 0.0


@given(first=WEIGHTS, second=WEIGHTS, epsilon=st.floats(0, 3))
@settings(max_examples=60, deadline=None)
def test_merging_outputs_stays_inside_the_post_processed_bracket(first, second, epsilon):
    p, q = laws(first, second)
    bound = PostProcessed(FinitePair(p, q))
    merged = FinitePair(np.array([p[:2].sum(), p[2:].sum()]), np.array([q[:2].sum(), q[2:].sum()]))
    for asked in (
        lambda x: x.delta(epsilon),
        lambda x: x.epsilon(0.1),
        lambda x: x.renyi(2.0),
        lambda x: x.renyi(math.inf),
        lambda x: x.accuracy(),
    ):
        assert asked(bound).lo <= asked(merged).lo + 1e-12
        assert asked(merged).hi <= asked(bound).hi + 1e-12


@pytest.mark.parametrize("epsilon", [700.0, 1e4, math.inf])
def test_a_huge_epsilon_leaves_what_only_one_side_can_output(epsilon):
    p, q = np.array([0.25, 0.75, 0.0]), np.array([0.0, 0.5, 0.5])
    assert FinitePair(p, q).delta(epsilon).hi == 0.5
    assert FinitePair(p[1:] / 0.75, np.array([1.0, 0.0])).delta(epsilon).hi == 0.0


def test_a_tiny_weight_gives_a_large_finite_epsilon():
    for exponent in (300, 310):
        p, q = np.array([0.5, 0.5]), np.array([10.0**-exponent, 1.0])
        expected = math.log(0.5) + exponent * math.log(10)
        assert FinitePair(p, q).epsilon(0.0).hi == pytest.approx(expected)
