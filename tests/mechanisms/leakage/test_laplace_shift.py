import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace, norm

from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.leakage.laplace_shift import (
    LaplaceShift,
    VectorLaplaceShift,
    log_density_gaussian_plus_laplace,
    survival_gaussian_plus_laplace,
    upper_mean,
)
from mechanisms.leakage.pair import PostProcessed
from mechanisms.privacy.bracket import Bracket

SCALES = st.floats(math.log(0.05), math.log(20)).map(math.exp)
SPREADS = st.one_of(st.just(0.0), st.floats(math.log(0.05), math.log(20)).map(math.exp))
SHIFTS = st.builds(
    lambda d, s, b: LaplaceShift(distance=d, spread=s, scale=b),
    st.floats(0.05, 10),
    SPREADS,
    SCALES,
)


def density_by_convolution(x, spread, scale):
    def integrand(z):
        return laplace.pdf(z, scale=scale) * norm.pdf(x - z, scale=spread)

    centre = sorted({0.0, float(x)})
    reach = 12 * spread
    cuts = sorted({x - reach, *[c for c in centre if x - reach < c < x + reach], x + reach})
    return sum(
        quad(integrand, a, b, epsabs=0, epsrel=1e-10, limit=200)[0]
        for a, b in itertools.pairwise(cuts)
    )


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_density_is_the_convolution(spread, scale):
    for x in (-3.0, 0.0, 0.4, 6.0):
        got = log_density_gaussian_plus_laplace(np.array([x]), spread, scale)[0]
        assert got == pytest.approx(math.log(density_by_convolution(x, spread, scale)), abs=1e-8)


@pytest.mark.parametrize("spread", [0.0, 0.2, 2.0])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_survival_is_the_integral_of_the_density(spread, scale):
    def density(t):
        return math.exp(log_density_gaussian_plus_laplace(np.array([t]), spread, scale)[0])

    for x in (-2.0, 0.0, 1.7):
        top = x + 50 * (scale + spread)
        cuts = sorted({x, max(x, 0.0), max(x, 0.0) + scale + 5 * spread, top})
        tail = sum(quad(density, a, b)[0] for a, b in itertools.pairwise(cuts))
        assert survival_gaussian_plus_laplace(x, spread, scale) == pytest.approx(tail, abs=1e-8)


def delta_by_definition(shift, epsilon):
    grid = np.linspace(-1, 1, 100_001)
    reach = 30 * (shift.spread + shift.scale) + shift.distance
    x = shift.distance / 2 + grid * reach
    p = np.exp(log_density_gaussian_plus_laplace(x - shift.distance, shift.spread, shift.scale))
    q = np.exp(log_density_gaussian_plus_laplace(x, shift.spread, shift.scale))
    return np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0])


@given(shift=SHIFTS, share=st.floats(0, 0.99))
@settings(max_examples=40, deadline=None)
def test_delta_is_the_integral_of_its_definition(shift, share):
    epsilon = share * shift.distance / shift.scale
    if epsilon < 300:
        assert shift.delta(epsilon).hi == pytest.approx(
            delta_by_definition(shift, epsilon), abs=3e-3 if shift.spread == 0 else 1e-4
        )


@given(shift=SHIFTS, delta=st.floats(1e-6, 0.5))
@settings(max_examples=40, deadline=None)
def test_epsilon_meets_delta_and_no_smaller_one_does(shift, delta):
    epsilon = shift.epsilon(delta).hi
    assert 0 <= epsilon <= shift.epsilon(0.0).hi
    assert shift.delta(epsilon).hi <= delta * (1 + 1e-9)
    if epsilon > 1e-6:
        assert shift.delta(epsilon * (1 - 1e-6)).hi > delta * (1 - 1e-3)


@given(shift=SHIFTS)
@settings(max_examples=40, deadline=None)
def test_delta_at_zero_is_twice_the_advantage_of_the_midpoint_test(shift):
    assert (1 + shift.delta(0.0).hi) / 2 == pytest.approx(shift.accuracy().hi, abs=1e-10)


@given(shift=SHIFTS)
@settings(max_examples=30, deadline=None)
def test_the_log_ratio_never_exceeds_the_pure_epsilon(shift):
    x = np.linspace(-5, 5, 2001) * (shift.distance + shift.scale + shift.spread)
    p = log_density_gaussian_plus_laplace(x - shift.distance, shift.spread, shift.scale)
    q = log_density_gaussian_plus_laplace(x, shift.spread, shift.scale)
    top = shift.epsilon(0.0).hi
    assert np.abs(p - q).max() <= top * (1 + 1e-9) + 1e-9
    assert shift.delta(top).hi == 0.0


def renyi_by_grid(shift, order):
    """Sum p^a q^(1-a) on a grid that covers the tilted law's centre, order * distance."""
    reach = 60 * (shift.scale + shift.spread) + shift.distance
    right = min(order * shift.distance, shift.spread**2 / shift.scale + shift.distance) + reach
    x = np.linspace(-reach, right, 400_001)
    p = log_density_gaussian_plus_laplace(x - shift.distance, shift.spread, shift.scale)
    q = log_density_gaussian_plus_laplace(x, shift.spread, shift.scale)
    step = x[1] - x[0]
    if order == 1:
        return float((np.exp(p) * (p - q)).sum() * step)
    logs = order * p + (1 - order) * q
    peak = logs.max()
    return float((peak + math.log(np.exp(logs - peak).sum() * step)) / (order - 1))


@pytest.mark.parametrize("order", [0.3, 0.5, 1.0, 1.5, 4.0, 100.0])
@pytest.mark.parametrize(
    ("distance", "spread", "scale"),
    [(1.0, 0.0, 1.0), (1.0, 0.5, 2.0), (3.0, 2.0, 0.4), (10.0, 10.0, 0.1), (0.2, 4.0, 0.05)],
)
def test_renyi_is_the_integral_of_its_definition(distance, spread, scale, order):
    shift = LaplaceShift(distance=distance, spread=spread, scale=scale)
    assert shift.renyi(order).hi == pytest.approx(renyi_by_grid(shift, order), rel=1e-5, abs=1e-9)


def test_renyi_of_laplace_noise_alone_is_mironovs_formula():
    d, b, a = 1.2, 0.7, 3.0
    formula = math.log(
        a / (2 * a - 1) * math.exp((a - 1) * d / b) + (a - 1) / (2 * a - 1) * math.exp(-a * d / b)
    ) / (a - 1)
    assert LaplaceShift(distance=d, spread=0, scale=b).renyi(a).hi == pytest.approx(formula)


@given(shift=SHIFTS)
@settings(max_examples=8, deadline=None)
def test_renyi_rises_in_the_order_up_to_the_pure_epsilon(shift):
    values = [shift.renyi(order).hi for order in (0.5, 1.0, 2.0, 32.0, math.inf)]
    assert all(a <= b * (1 + 1e-7) + 1e-9 for a, b in itertools.pairwise(values))


def test_a_vanishing_scale_leaves_the_gaussian_tradeoff():
    shift = LaplaceShift(distance=1.0, spread=0.8, scale=1e-3)
    assert shift.delta(0.5).hi == pytest.approx(gaussian_delta(0.5, 1 / 0.8), rel=1e-4)


@functools.cache
def grid_masses(vector):
    """Brute force in the plane: both densities, integrated over the Gaussian answer, on a grid."""
    axis = np.linspace(-24, 24, 401)
    root = np.linalg.cholesky(vector.covariance)
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    u, v = (grid.ravel() for grid in np.meshgrid(nodes, nodes))
    mass = np.outer(weights, weights).ravel() / (2 * math.pi)
    answers = np.stack([u, v], axis=1) @ root.T

    def masses(shift):
        # Given the answer, the Laplace part is a product over the two coordinates.
        columns = [
            laplace.pdf(axis[:, None] - shift[k] - answers[:, k], scale=vector.scales[k])
            for k in (0, 1)
        ]
        return (columns[0] * mass) @ columns[1].T * (axis[1] - axis[0]) ** 2

    return masses(vector.difference), masses(np.zeros(2))


def grid_delta(vector, epsilon):
    p, q = grid_masses(vector)
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


VECTORS = [
    VectorLaplaceShift(
        difference=np.array([1.0, -0.5]),
        covariance=np.array([[1.0, 0.4], [0.4, 0.6]]),
        scales=np.array([1.2, 0.9]),
    ),
    VectorLaplaceShift(
        difference=np.array([2.0, 2.0]),
        covariance=np.array([[0.5, -0.3], [-0.3, 0.5]]),
        scales=np.array([1.0, 2.0]),
    ),
]


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_the_vector_bracket_contains_the_brute_force_delta(vector, epsilon):
    bracket, brute = vector.delta(epsilon), grid_delta(vector, epsilon)
    assert bracket.lo <= brute + 2e-3
    assert brute <= bracket.hi + 2e-3
    assert bracket.hi < 1.0
    if epsilon == 0:
        accuracy = vector.accuracy()
        assert accuracy.lo - 1e-3 <= (1 + brute) / 2 <= accuracy.hi + 1e-3


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("delta", [0.02, 0.1, 0.3])
def test_the_vector_bracket_of_epsilon_contains_the_brute_force_value(vector, delta):
    bracket = vector.epsilon(delta)
    assert grid_delta(vector, bracket.hi) <= delta + 2e-3
    assert bracket.lo == 0 or grid_delta(vector, bracket.lo) >= delta - 2e-3
    if delta >= 0.3:
        assert bracket.hi < 0.9 * vector.epsilon(0.0).hi


def test_told_the_mixing_variables_an_attacker_knows_at_least_as_much():
    """In one dimension the bracket's upper end must dominate the exact value."""
    vector = VectorLaplaceShift(
        difference=np.array([1.5]), covariance=np.array([[0.7]]), scales=np.array([1.1])
    )
    exact = LaplaceShift(distance=1.5, spread=math.sqrt(0.7), scale=1.1)
    for epsilon in (0.0, 0.3, 0.9):
        bracket = vector.delta(epsilon)
        assert bracket.lo == pytest.approx(exact.delta(epsilon).lo)
        assert exact.delta(epsilon).hi <= bracket.hi


def test_the_pure_epsilon_of_a_vector_is_approached_in_the_far_orthant():
    vector = VECTORS[0]
    top = vector.epsilon(0.0).hi
    assert top == pytest.approx(1 / 1.2 + 0.5 / 0.9)
    assert vector.renyi(math.inf).lo == top
    rng = np.random.default_rng(7)
    answers = rng.standard_normal((4000, 2)) @ np.linalg.cholesky(vector.covariance).T
    far = 40 * np.sign(vector.difference)

    def log_density(shift):
        z = far - shift - answers
        return np.logaddexp.reduce((-np.abs(z) / vector.scales).sum(axis=1))

    assert log_density(vector.difference) - log_density(np.zeros(2)) == pytest.approx(top)


def test_the_mean_bound_is_above_the_mean_and_close_for_many_values():
    rng = np.random.default_rng(3)
    values = rng.beta(2, 5, size=1 << 16)
    bounds = [upper_mean(values, failure) for failure in (1e-2, 1e-9, 1e-12)]
    assert 2 / 7 <= bounds[0] < bounds[1] < bounds[2] <= 2 / 7 + 0.01


@pytest.mark.parametrize("values", [np.arange(2.0), np.repeat([0.0, 1.0], [99, 1])])
def test_the_mean_bound_fails_no_more_often_than_stated(values):
    rng, failure = np.random.default_rng(4), 0.05
    draws = rng.choice(values, size=(2000, 400))
    failed = np.mean([upper_mean(row, failure) < values.mean() for row in draws])
    assert failed <= failure


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("delta", [0.3, 0.4])
def test_the_search_for_epsilon_shares_its_error_over_its_steps(vector, delta):
    found = vector.epsilon(delta)
    assert found.error == 1e-9
    told = [gaussian_delta(found.hi, d) for d in vector._conditional_distances().tolist()]
    assert upper_mean(np.array(told), 1e-9 / 14) <= delta


def test_brackets_say_whether_they_rest_on_draws():
    vector = VECTORS[0]
    assert vector.epsilon(0.0).error == 0.0
    assert vector.delta(0.5).error == vector.accuracy().error == 1e-9
    assert vector.delta(0.5).join(vector.delta(0.6)).error == 2e-9
    assert LaplaceShift(distance=1.0, spread=1.0, scale=1.0).delta(0.5).error == 0.0
    processed = PostProcessed(vector)
    assert processed.delta(0.5) == Bracket(0.0, vector.delta(0.5).hi, 1e-9)
    assert processed.accuracy().error == processed.epsilon(0.1).error == 1e-9


@pytest.mark.parametrize("epsilon", [1e-17, 1e-9, 900.0, 933.05])
def test_delta_survives_extreme_epsilons(epsilon):
    shift = LaplaceShift(distance=12.6, spread=178.5, scale=0.0098)
    expected = gaussian_delta(epsilon, 12.6 / 178.5) if epsilon < 1 else 0.0
    assert shift.delta(epsilon).hi == pytest.approx(expected, rel=1e-3, abs=1e-12)
