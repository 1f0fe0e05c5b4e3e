import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import chi2, multivariate_normal, norm

from mechanisms.leakage.gaussian_log_ratio import LogRatio
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.leakage.unequal_gaussian import UnequalGaussians, diagonalise


def random_pair(seed, m, scale=0.5):
    rng = np.random.default_rng(seed)
    roots = [np.eye(m) + scale * rng.standard_normal((m, m)) for _ in range(2)]
    first, second = (root @ root.T + 0.05 * np.eye(m) for root in roots)
    return scale * rng.standard_normal(m), first, np.zeros(m), second


def exact(*args) -> UnequalGaussians:
    pair = diagonalise(*(np.asarray(a, dtype=float) for a in args))
    assert pair is not None
    return pair


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(("mean", "first", "second"), [(0, 4, 1), (1, 1.2, 1), (-2, 0.3, 2)])
def test_one_coordinate_is_the_integral_of_the_definition(mean, first, second, epsilon):
    def excess(x, sides):
        (m, s), (n, t) = sides
        return max(0.0, norm.pdf(x, m, s) - math.exp(epsilon) * norm.pdf(x, n, t))

    sides = [(mean, math.sqrt(first)), (0, math.sqrt(second))]
    grid = np.linspace(-25, 25, 101)
    worst = max(
        sum(quad(excess, a, b, args=(order,))[0] for a, b in itertools.pairwise(grid))
        for order in (sides, sides[::-1])
    )
    bracket = exact([mean], [[first]], [0], [[second]]).delta(epsilon)
    assert bracket.lo - 1e-8 <= worst <= bracket.hi + 1e-8
    assert bracket.exact


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("m", [2, 4])
def test_equal_means_and_a_common_ratio_leave_a_chi_square(m, epsilon):
    """With S_0 = r S_1 everything depends on the radius, a chi-square variable."""
    ratio = 2.5
    cut = (epsilon + m / 2 * math.log(ratio)) / (1 - 1 / ratio) * 2
    forward = chi2.sf(cut / ratio, m) - math.exp(epsilon) * chi2.sf(cut, m)
    back = max(0.0, m / 2 * math.log(ratio) - epsilon) / (1 - 1 / ratio) * 2
    backward = chi2.cdf(back, m) - math.exp(epsilon) * chi2.cdf(back / ratio, m)
    bracket = exact(np.zeros(m), ratio * np.eye(m), np.zeros(m), np.eye(m)).delta(epsilon)
    expected = max(forward, backward)
    assert bracket.lo - 1e-12 <= expected <= bracket.hi + 1e-12
    assert bracket.hi - bracket.lo < 1e-7


@pytest.mark.parametrize(("seed", "m"), [(0, 2), (1, 3), (2, 5)])
def test_delta_agrees_with_sampling(seed, m):
    mean, first, other, second = random_pair(seed, m)
    pair = exact(mean, first, other, second)
    rng = np.random.default_rng(seed)
    laws = multivariate_normal(mean, first), multivariate_normal(other, second)
    n = 200_000
    for epsilon in (0.0, 0.5, 2.0):
        sampled = 0.0
        for p, q in (laws, laws[::-1]):
            x = p.rvs(n, random_state=rng)
            gain = np.maximum(0, -np.expm1(epsilon + q.logpdf(x) - p.logpdf(x)))
            sampled = max(sampled, gain.mean())
        bracket = pair.delta(epsilon)
        assert bracket.lo <= bracket.hi
        assert bracket.hi - bracket.lo < 1e-8
        # Six standard errors of a mean of values in [0, 1].
        assert sampled == pytest.approx(bracket.lo, abs=6 * 0.5 / math.sqrt(n))


@pytest.mark.parametrize("order", [0.5, 1.0, 1.2])
def test_renyi_agrees_with_quadrature(order):
    mean, first, second = 0.7, 1.5, 0.9

    def divergence(p, q):
        def integrand(x):
            a, b = p.logpdf(x), q.logpdf(x)
            return math.exp(a) * (a - b) if order == 1 else math.exp(order * a + (1 - order) * b)

        total = quad(integrand, -40, 40, limit=400, points=[0, mean, 2])[0]
        return total if order == 1 else math.log(total) / (order - 1)

    p, q = norm(mean, math.sqrt(first)), norm(0, math.sqrt(second))
    expected = max(divergence(p, q), divergence(q, p))
    assert exact([mean], [[first]], [0], [[second]]).renyi(order).hi == pytest.approx(expected)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 4), distance=st.floats(0.1, 3))
@settings(max_examples=20, deadline=None)
def test_equal_covariances_give_the_gaussian_tradeoff(seed, m, distance):
    _, covariance, _, _ = random_pair(seed, m)
    direction = np.linalg.cholesky(covariance)[:, 0]
    pair = exact(distance * direction, covariance, np.zeros(m), covariance)
    for epsilon in (0.0, 0.7):
        assert pair.delta(epsilon).hi == pytest.approx(gaussian_delta(epsilon, distance), abs=1e-9)
    assert pair.renyi(3.0).hi == pytest.approx(1.5 * distance**2, rel=1e-6)


@given(seed=st.integers(0, 10**6), scale=st.floats(0.001, 0.3))
@settings(max_examples=10, deadline=None)
def test_nearly_equal_covariances_approach_the_gaussian_tradeoff(seed, scale):
    mean, covariance, other, _ = random_pair(seed, 3)
    twisted = covariance * (1 + 1e-7)
    pair = exact(scale * mean, covariance, other, twisted)
    distance = scale * math.sqrt(mean @ np.linalg.solve(covariance, mean))
    assert pair.delta(0.05).lo <= gaussian_delta(0.05, distance) + 1e-5
    assert gaussian_delta(0.05, distance) <= pair.delta(0.05).hi + 1e-5


@given(seed=st.integers(0, 10**6), m=st.integers(1, 4), epsilon=st.floats(0, 3))
@settings(max_examples=10, deadline=None)
def test_delta_falls_in_epsilon_and_under_processing(seed, m, epsilon):
    mean, first, other, second = random_pair(seed, m)
    pair = exact(mean, first, other, second)
    here = pair.delta(epsilon)
    assert pair.delta(epsilon + 0.5).lo <= here.hi
    one = exact(mean[:1], first[:1, :1], other[:1], second[:1, :1])
    assert one.delta(epsilon).lo <= here.hi
    noised = exact(mean, first + np.eye(m), other, second + np.eye(m))
    assert noised.delta(epsilon).lo <= here.hi


@given(seed=st.integers(0, 10**6), m=st.integers(1, 4), delta=st.floats(1e-6, 0.2))
@settings(max_examples=6, deadline=None)
def test_epsilon_meets_delta_and_no_smaller_one_does(seed, m, delta):
    pair = exact(*random_pair(seed, m, scale=0.3))
    bracket = pair.epsilon(delta)
    assert pair.delta(bracket.hi).lo <= delta
    if bracket.lo > 0:
        assert pair.delta(bracket.lo * (1 - 1e-6)).hi > delta


def test_units_do_not_matter():
    mean, first, other, second = random_pair(4, 3)
    units = np.array([1e-7, 1.0, 1e9])
    scaled = exact(
        units * mean, first * np.outer(units, units), other, second * np.outer(units, units)
    )
    plain = exact(mean, first, other, second)
    assert scaled.delta(0.4).lo == pytest.approx(plain.delta(0.4).lo, abs=1e-8)


def test_pure_epsilon_is_finite_in_one_direction_only_where_the_first_law_varies_less():
    narrow = LogRatio(shift=np.array([0.4]), variances=np.array([0.5]))
    x = np.linspace(-30, 30, 200_001)
    ratio = norm.logpdf(x, 0.4, math.sqrt(0.5)) - norm.logpdf(x)
    assert narrow.renyi(math.inf) == pytest.approx(ratio.max(), abs=1e-8)
    for variances, shift in (([2.0], [0.0]), ([0.5, 1.0], [0.0, 0.1]), ([0.5, 1.1], [0.0, 0.0])):
        wide = LogRatio(shift=np.array(shift), variances=np.array(variances))
        assert wide.renyi(math.inf) == math.inf
    still = LogRatio(shift=np.array([0.0, 0.0]), variances=np.array([0.5, 1.0]))
    assert still.renyi(math.inf) == pytest.approx(math.log(2) / 2)


def test_pure_epsilon_of_both_directions_is_infinite_unless_the_laws_are_equal():
    assert exact([0.0], [[1.1]], [0.0], [[1.0]]).epsilon(0.0).lo == math.inf
    assert exact([0.1], [[1.0]], [0.0], [[1.0]]).epsilon(0.0).lo == math.inf
    assert exact([0.1], [[1.0]], [0.1], [[1.0]]).epsilon(0.0).hi == 0.0


def test_renyi_is_infinite_from_the_order_at_which_the_integral_diverges():
    pair = exact([0.0], [[2.0]], [0.0], [[1.0]])
    assert pair.renyi(1.99).hi < math.inf
    assert pair.renyi(2.0).lo == math.inf


def test_an_infinite_epsilon_leaves_nothing():
    assert exact(*random_pair(0, 3)).delta(math.inf).hi == 0.0


def test_supports_that_differ_are_told_apart_surely():
    flat, full = np.diag([1.0, 0.0]), np.eye(2)
    zero = np.zeros(2)
    assert diagonalise(zero, flat, zero, full) is None
    assert diagonalise(np.array([0.0, 1.0]), flat, zero, flat) is None
    inside = exact([1.0, 0.0], np.diag([2.0, 0.0]), zero, flat)
    line = exact([1.0], [[2.0]], [0.0], [[1.0]])
    assert inside.delta(0.5) == line.delta(0.5)
    nothing = exact(zero, np.zeros((2, 2)), zero, np.zeros((2, 2)))
    assert nothing.delta(0.0).hi == 0.0


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.1, 4))
@settings(max_examples=12, deadline=None)
def test_accuracy_stays_below_the_ceiling_of_every_epsilon_and_delta(seed, epsilon):
    pair = exact(*random_pair(seed, 3))
    ceiling = (math.exp(epsilon) + pair.delta(epsilon).hi) / (1 + math.exp(epsilon))
    assert pair.accuracy().lo <= ceiling + 1e-9
    assert pair.accuracy().lo >= 0.5


@pytest.mark.parametrize("order", [0.5, 1, 2.0, 7.0])
def test_renyi_of_nearly_equal_variances_keeps_its_digits(order):
    variance = 1 + 2.0**-20
    with mpmath.workdps(50):
        v, a = mpmath.mpf(variance), mpmath.mpf(order)
        if order == 1:
            expected = (v - 1 - mpmath.log(v)) / 2
        else:
            expected = (mpmath.log(1 + (1 - a) * (v - 1)) / (1 - a) - mpmath.log(v)) / 2
    found = LogRatio(shift=np.zeros(1), variances=np.array([variance])).renyi(order)
    assert found == pytest.approx(float(expected), rel=1e-8)
