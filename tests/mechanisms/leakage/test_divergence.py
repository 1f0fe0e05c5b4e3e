"""Exact Renyi divergences after noise, against quadrature in 30 digits and closed forms."""

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.divergence import noised_divergence, renyi_divergence
from mechanisms.renyi.noise_cost import laplace_divergence

SETTINGS = settings(max_examples=30, deadline=None)
NOISES = ("laplace", "gaussian")


@st.composite
def laws(draw, most=5):
    size = draw(st.integers(1, most))
    atoms = draw(st.lists(st.integers(-6, 6).map(float), min_size=size, max_size=size, unique=True))
    weights = np.array(draw(st.lists(st.integers(1, 20), min_size=size, max_size=size)), float)
    return FiniteLaw(atoms=atoms, weights=weights / weights.sum())


def reference(p, q, order, noise, scale):
    """Integrate on panels of half a unit of noise with 30 digits; trusts nothing above."""
    knots = sorted({*p.atoms.tolist(), *q.atoms.tolist()})
    if noise == "laplace":
        reach, power = 45 * scale, lambda y: abs(y)
    else:
        reach, power = max(order, 1) * (knots[-1] - knots[0]) + 12 * scale, lambda y: y * y / 2

    def density(law, y):
        return sum(
            w * mp.exp(-power((y - t) / scale))
            for t, w in zip(law.atoms.tolist(), law.weights.tolist(), strict=True)
        )

    unit = mp.mpf(2 * scale) if noise == "laplace" else mp.sqrt(2 * mp.pi) * scale

    def integrand(y):
        a, b = density(p, y) / unit, density(q, y) / unit
        return a * mp.log(a / b) if order == 1 else a**order * b ** (1 - order)

    steps = int(2 * (knots[-1] - knots[0] + 2 * reach) / scale / 4) + 1
    edges = np.linspace(knots[0] - reach, knots[-1] + reach, steps + 1)
    edges = sorted({*edges.tolist(), *knots})
    with mp.workdps(20):
        total = mp.fsum(mp.quad(integrand, [a, b], maxdegree=4) for a, b in pairwise(edges))
        return float(total if order == 1 else mp.log(total) / (order - 1))


BERNOULLI = tuple(FiniteLaw(atoms=[0.0, 1.0], weights=[1 - x, x]) for x in (0.3, 0.6))
APART = (
    FiniteLaw(atoms=[0.0, 2.0], weights=[0.5, 0.5]),
    FiniteLaw(atoms=[1.0, 3.5], weights=[0.2, 0.8]),
)


@pytest.mark.parametrize("order", [0.3, 0.5, 1, 1.25, 2, 7.5])
@pytest.mark.parametrize(("pair", "scale"), [(BERNOULLI, 0.25), (BERNOULLI, 2.0), (APART, 1.0)])
@pytest.mark.parametrize("noise", NOISES)
def test_divergence_agrees_with_quadrature_to_1e_8(pair, order, noise, scale):
    expected = reference(*pair, order, noise, scale)
    found = noised_divergence(*pair, order=order, noise=noise, scale=scale)
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("order", [0.3, 0.5, 1, 1.0001, 2, 50, 1e4, math.inf])
@pytest.mark.parametrize("distance", [1e-6, 0.1, 1.0, 30.0])
def test_points_have_the_closed_forms_of_mironov(order, distance):
    pair = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, distance)]
    found = noised_divergence(*pair, order=order, noise="laplace", scale=1.0)
    assert found == pytest.approx(laplace_divergence(distance, order), rel=1e-9)
    found = noised_divergence(*pair, order=order, noise="gaussian", scale=1.0)
    assert found == pytest.approx(order * distance**2 / 2, rel=1e-9)


@pytest.mark.parametrize("order", [0.3, 0.5, 1.0001, 2, 50])
@pytest.mark.parametrize("distance", [1e-3, 0.02, 1.0, 10.0])
def test_laplace_shift_formula_agrees_with_its_integral(order, distance):
    with mp.workdps(40):
        a, t = mp.mpf(order), mp.mpf(distance)
        if order == 0.5:
            total = mp.exp(-t / 2) * (1 + t / 2)
        else:
            total = (a * mp.exp((a - 1) * t) + (a - 1) * mp.exp(-a * t)) / (2 * a - 1)
        expected = float(mp.log(total) / (a - 1))
    assert laplace_divergence(distance, order) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("order", [0.5, 1, 3, 1e4])
def test_atoms_a_million_deviations_apart_are_within_reach(noise, order):
    p = FiniteLaw(atoms=[0.0, 1e6], weights=[0.5, 0.5])
    q = FiniteLaw(atoms=[0.0, 1e6], weights=[0.25, 0.75])
    found = noised_divergence(p, q, order=order, noise=noise, scale=1.0)
    assert found == pytest.approx(renyi_divergence(p, q, order=order), rel=1e-9)


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.4, 1.0, 1.7, 6.0]), st.sampled_from(NOISES))
def test_noise_only_lowers_divergences_and_more_noise_more_so(p, q, order, noise):
    bare = renyi_divergence(p, q, order=order)
    some = noised_divergence(p, q, order=order, noise=noise, scale=0.5)
    more = noised_divergence(p, q, order=order, noise=noise, scale=1.5)
    assert more <= some * (1 + 1e-9) + 1e-15
    assert some <= bare * (1 + 1e-9) + 1e-15


@SETTINGS
@given(laws(), laws(), st.sampled_from(NOISES))
def test_divergence_grows_with_the_order_up_to_infinity(p, q, noise):
    found = [
        noised_divergence(p, q, order=a, noise=noise, scale=1.0)
        for a in (0.2, 0.5, 0.999, 1, 1.001, 3, 40, math.inf)
    ]
    assert all(b >= a * (1 - 1e-9) - 1e-14 for a, b in pairwise(found))


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.3, 0.7]), st.sampled_from(NOISES))
def test_orders_below_1_are_skew_symmetric(p, q, order, noise):
    there = noised_divergence(p, q, order=order, noise=noise, scale=1.0)
    back = noised_divergence(q, p, order=1 - order, noise=noise, scale=1.0)
    assert (1 - order) * there == pytest.approx(order * back, rel=1e-9, abs=1e-15)


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.5, 1.0, 3.0, math.inf]), st.sampled_from([1e-8, 1e8]))
def test_divergence_depends_on_distance_over_scale_only(p, q, order, unit):
    moved = [FiniteLaw(atoms=unit * (law.atoms + 4), weights=law.weights) for law in (p, q)]
    for noise in NOISES:
        here = noised_divergence(p, q, order=order, noise=noise, scale=1.0)
        there = noised_divergence(*moved, order=order, noise=noise, scale=unit)
        assert there == pytest.approx(here, rel=1e-7, abs=1e-13)


def test_bare_divergence_of_known_laws():
    p, q = (FiniteLaw(atoms=[0.0, 1.0], weights=[1 - x, x]) for x in (0.5, 0.25))
    assert renyi_divergence(p, q, order=2) == pytest.approx(math.log(0.25 / 0.75 + 0.25 / 0.25))
    assert renyi_divergence(p, q, order=math.inf) == pytest.approx(math.log(2))
    kl = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(2)
    assert renyi_divergence(p, q, order=1) == pytest.approx(kl)
    assert renyi_divergence(p, q, order=0.5) == pytest.approx(
        -2 * math.log(math.sqrt(0.375) + math.sqrt(0.125))
    )
    point = FiniteLaw(atoms=[0.0], weights=[1.0])
    assert renyi_divergence(p, point, order=1) == math.inf
    assert renyi_divergence(point, p, order=2) == pytest.approx(math.log(2))
    assert renyi_divergence(p, point, order=0.5) == pytest.approx(math.log(2))


def test_tiny_divergences_keep_their_digits():
    p = FiniteLaw(atoms=[0.0, 1.0], weights=[0.5, 0.5])
    q = FiniteLaw(atoms=[0.0, 1.0], weights=[0.5 + 1e-7, 0.5 - 1e-7])
    # D_2 = log(1 + chi^2), chi^2 = (1e-7)^2 (1/q_0 + 1/q_1).
    assert renyi_divergence(p, q, order=2) == pytest.approx(4e-14, rel=1e-6)
    smooth = noised_divergence(p, q, order=2, noise="laplace", scale=1e-3)
    assert smooth == pytest.approx(4e-14, rel=1e-6)


def test_gaussian_order_infinity_needs_common_extremes():
    p = FiniteLaw(atoms=[0.0, 1.0, 2.0], weights=[0.2, 0.6, 0.2])
    q = FiniteLaw(atoms=[0.0, 1.0, 2.0], weights=[0.25, 0.5, 0.25])
    ys = np.linspace(-20, 22, 200_001)
    both = [(law.weights * np.exp(-((ys[:, None] - law.atoms) ** 2) / 2)).sum(1) for law in (p, q)]
    found = noised_divergence(p, q, order=math.inf, noise="gaussian", scale=1.0)
    assert found == pytest.approx(np.log(both[0] / both[1]).max(), abs=1e-8)
    narrow = FiniteLaw(atoms=[1.0], weights=[1.0])
    assert noised_divergence(p, narrow, order=math.inf, noise="gaussian", scale=9.0) == math.inf


@pytest.mark.parametrize("bad", [{"order": 0}, {"scale": 0}, {"scale": math.nan}, {"noise": "x"}])
def test_bad_parameters_are_named(bad):
    good = {"order": 2.0, "scale": 1.0, "noise": "laplace"}
    with pytest.raises(ValueError, match=next(iter(bad))):
        noised_divergence(*BERNOULLI, **{**good, **bad})
