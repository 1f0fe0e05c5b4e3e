import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace, norm

from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import GaussianShift
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError

COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
KINDS = {"laplace": laplace, "gaussian": norm}


def finite(points, weights):
    support = np.asarray(points, dtype=float)
    support = support[:, None] if support.ndim == 1 else support
    weights = np.asarray(weights, dtype=float)
    return FiniteLaw(atoms=support, weights=weights / weights.sum())


def noise_of(kind, scale):
    if kind == "laplace":
        return LaplaceNoise(scales=np.array([scale]))
    return GaussianNoise(covariance=np.array([[scale**2]]), calibration="analytic")


def on_a_grid(kind, scale, law, grid):
    return KINDS[kind].pdf(grid[:, None], law.atoms[:, 0], scale) @ law.weights


@pytest.mark.parametrize("kind", KINDS)
@given(first=COUNTS, second=COUNTS, scale=st.floats(0.3, 4), epsilon=st.floats(0, 2))
@settings(max_examples=15, deadline=None)
def test_delta_accuracy_and_renyi_are_the_integrals_of_their_definitions(
    kind, first, second, scale, epsilon
):
    p, q = finite(range(4), first), finite(range(4), second)
    grid = np.linspace(-20 * scale, 20 * scale + 3, 200_001)
    f, g = (on_a_grid(kind, scale, law, grid) for law in (p, q))
    step = grid[1] - grid[0]
    pair = noise_of(kind, scale).leakage(p, q, 1)
    worst = max(
        np.maximum(f - math.exp(epsilon) * g, 0).sum(),
        np.maximum(g - math.exp(epsilon) * f, 0).sum(),
    )
    assert pair.delta(epsilon).hi == pytest.approx(worst * step, abs=2e-7)
    assert pair.accuracy().hi == pytest.approx(np.maximum(f, g).sum() * step / 2, abs=2e-7)
    both = max((f * f / g)[g > 1e-290].sum(), (g * g / f)[f > 1e-290].sum())
    if kind == "laplace":
        assert pair.renyi(2.0).hi == pytest.approx(math.log(both * step), abs=2e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_renyi_agrees_with_high_precision_quadrature_in_the_worse_direction(kind):
    p, q = finite([0, 1, 3], [6, 3, 1]), finite([0, 1, 3], [2, 5, 3])
    scale, order = mpmath.mpf("0.8"), 3
    mpmath.mp.dps = 25

    def density(law, x):
        z = [(x - mpmath.mpf(float(a))) / scale for a in law.atoms[:, 0]]
        if kind == "laplace":
            terms = [mpmath.exp(-abs(t)) / 2 for t in z]
        else:
            terms = [mpmath.npdf(t) for t in z]
        return (
            sum(mpmath.mpf(float(w)) * t for w, t in zip(law.weights, terms, strict=True)) / scale
        )

    def divergence(a, b):
        knots = [-25, -6, -2, 0, 0.5, 1, 2, 3, 5, 9, 28]
        total = mpmath.quad(lambda x: density(a, x) ** order * density(b, x) ** (1 - order), knots)
        return float(mpmath.log(total) / (order - 1))

    expected = max(divergence(p, q), divergence(q, p))
    assert noise_of(kind, 0.8).leakage(p, q, 1).renyi(order).hi == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@given(first=COUNTS, second=COUNTS, delta=st.floats(1e-4, 0.5))
@settings(max_examples=15, deadline=None)
def test_epsilon_meets_delta_and_no_smaller_one_does(kind, first, second, delta):
    pair = noise_of(kind, 1.0).leakage(finite(range(4), first), finite(range(4), second), 1)
    epsilon = pair.epsilon(delta)
    assert pair.delta(epsilon.hi).hi <= delta * (1 + 1e-9)
    assert epsilon.exact
    if epsilon.lo > 1e-6:
        assert pair.delta(epsilon.lo - 1e-6).hi > delta


@pytest.mark.parametrize("kind", KINDS)
def test_pure_epsilon_is_renyi_of_order_infinity_and_bounds_every_order(kind):
    pair = noise_of(kind, 1.5).leakage(finite(range(3), [5, 3, 2]), finite(range(3), [2, 3, 5]), 1)
    pure = pair.epsilon(0.0)
    assert pure.exact
    assert pure.hi == pair.renyi(math.inf).hi
    assert pair.renyi(0.5).hi < pair.renyi(2.0).hi < pair.renyi(50.0).hi < pure.lo
    assert pair.delta(pure.hi).hi == pytest.approx(0.0, abs=1e-12)
    assert pair.delta(pure.hi * 0.9).hi > 1e-6


def test_points_are_the_plain_mechanisms():
    zero, one = finite([0], [1]), finite([1], [1])
    gaussian = noise_of("gaussian", 2.0)
    for k in (1, 9):
        pair, shift = gaussian.leakage(zero, one, k), GaussianShift(0.5 * math.sqrt(k))
        assert pair.epsilon(1e-3).hi == pytest.approx(shift.epsilon(1e-3).hi, rel=1e-8)
        assert pair.renyi(3.0).hi == pytest.approx(shift.renyi(3.0).hi, rel=1e-9)
        assert pair.accuracy().hi == pytest.approx(shift.accuracy().hi, rel=1e-9)
    laplace_pair = noise_of("laplace", 2.0).leakage(zero, one, 1)
    assert laplace_pair.epsilon(0.0).hi == pytest.approx(0.5)


def test_vectors_that_differ_along_one_line_reduce_to_it():
    weights = [3, 2, 1], [1, 2, 3]
    positions, corner = np.array([0.0, 1.0, 2.5]), np.array([4.0, -1.0])
    line = finite(positions, weights[0]), finite(positions, weights[1])
    slope = np.array([0.6, -0.8])
    slanted = [finite(corner + np.outer(positions, slope), w) for w in weights]
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    spread = 1 / math.sqrt(slope @ np.linalg.inv(covariance) @ slope)
    noise = GaussianNoise(covariance=covariance, calibration="analytic")
    expected = noise_of("gaussian", spread / 2).leakage(*line, 1)
    found = noise.leakage(*slanted, 4)
    for measured in (lambda x: x.renyi(2.0), lambda x: x.epsilon(0.01), lambda x: x.accuracy()):
        assert measured(found).hi == pytest.approx(measured(expected).hi, rel=1e-8)
    along = DirectionalLaplaceNoise(scale=1.3, direction=slope)
    found = along.leakage(*slanted, 1).renyi(2.0).hi
    assert found == pytest.approx(noise_of("laplace", 1.3).leakage(*line, 1).renyi(2.0).hi)
    second = [finite(corner + np.outer(positions, [0, 1]), w) for w in weights]
    two_scales = LaplaceNoise(scales=np.array([0.1, 1.3]))
    assert two_scales.leakage(*second, 1).renyi(2.0).hi == pytest.approx(found)


def test_what_has_no_one_dimensional_statistic_says_why():
    square = finite([[0, 0], [1, 0], [0, 1]], [1, 1, 1]), finite([[0, 0], [1, 1]], [1, 1])
    slanted = finite([[0, 0], [1, 1]], [1, 2]), finite([[0, 0], [1, 1]], [2, 1])
    halves = finite([[0, 0], [0.5, 1]], [1, 2]), finite([[0, 0], [0.5, 1]], [2, 1])
    plane = GaussianNoise(covariance=np.eye(2), calibration="analytic")
    flat = GaussianNoise(covariance=np.diag([1.0, 0.0]), calibration="analytic")
    pair = LaplaceNoise(scales=np.ones(2))
    one = LaplaceNoise(scales=np.ones(1))
    along = DirectionalLaplaceNoise(scale=1.0, direction=np.array([1.0, 0.0]))
    bell = GaussianLaw(mean=np.zeros(1), covariance=np.eye(1))
    line = finite([0, 1], [1, 2]), finite([0, 1], [2, 1])
    for noise, laws, k, reason in (
        (plane, square, 1, "do not lie on one line"),
        (flat, slanted, 1, "off the noised directions"),
        (pair, halves, 1, "whole-number answers"),
        (along, slanted, 1, "off the noised direction"),
        (one, (line[0], bell), 1, "needs Gaussian answers"),
        (noise_of("gaussian", 1.0), (line[0], bell), 1, "needs Gaussian answers"),
    ):
        with pytest.raises(NotComputableError, match=reason):
            noise.leakage(*laws, k)
