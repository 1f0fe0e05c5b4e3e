"""Units, orders near 1, far atoms and extreme budgets: where arithmetic used to decide."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.divergence import renyi_divergence, worst_noised_divergence
from mechanisms.leakage.laplace_shift import LaplaceShift
from mechanisms.leakage.log_excess import log_excess
from mechanisms.leakage.pair import finite_renyi
from mechanisms.privacy.budget import Epsilon, EpsilonDelta, RenyiEpsilon
from mechanisms.renyi.tight_noise import tight_scale


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-6, 1e6, 1e9])
def test_the_units_of_the_query_change_no_leakage(unit):
    one = LaplaceShift(distance=1.0, spread=0.7, scale=1.3)
    other = LaplaceShift(distance=unit, spread=0.7 * unit, scale=1.3 * unit)
    assert other.delta(0.3).hi == pytest.approx(one.delta(0.3).hi, rel=1e-12)
    assert other.epsilon(0.01).hi == pytest.approx(one.epsilon(0.01).hi, rel=1e-12)


def exact_divergence(p, q, order):
    """D_order in 60 digits."""
    with mp.workdps(60):
        a = mp.mpf(order)
        total = mp.fsum(mp.mpf(x) ** a * mp.mpf(y) ** (1 - a) for x, y in zip(p, q, strict=True))
        return float(mp.log(total) / (a - 1))


@given(
    counts=st.tuples(
        st.lists(st.integers(1, 50), min_size=3, max_size=3),
        st.lists(st.integers(1, 50), min_size=3, max_size=3),
    ),
    gap=st.sampled_from([1e-3, 1e-6, 1e-9, 1e-12, 2**-52]),
    side=st.sampled_from([1, -1]),
)
@settings(max_examples=60, deadline=None)
def test_divergences_of_orders_near_one_keep_their_digits(counts, gap, side):
    p, q = ([Fraction(c, sum(side)) for c in side] for side in counts)
    order = 1 + side * gap
    found = finite_renyi(np.array(p, dtype=float), np.array(q, dtype=float), order)
    exact = exact_divergence([float(x) for x in p], [float(x) for x in q], order)
    # Weights that sum to 1 within an ulp leave an error of that size over |order - 1| in `exact`.
    kl = sum(float(x) * math.log(x / y) for x, y in zip(p, q, strict=True))
    assert found == pytest.approx(kl, rel=10 * gap + 1e-9, abs=1e-14)
    if gap >= 1e-6:
        assert found == pytest.approx(exact, rel=1e-8, abs=1e-9)


def test_orders_near_one_agree_with_the_discrete_laws_and_with_one():
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.25, 0.45, 0.3])
    laws = [FiniteLaw(atoms=[0.0, 1.0, 2.0], weights=w) for w in (p, q)]
    for order in (1 - 1e-9, 1.0, 1 + 1e-9, 1.3, 0.7):
        assert finite_renyi(p, q, order) == pytest.approx(
            renyi_divergence(*laws, order=order), rel=1e-6
        )
    assert finite_renyi(p, q, 1 + 1e-9) == pytest.approx(finite_renyi(p, q, 1.0), rel=1e-8)
    # Mass that only one side has: infinite from order 1 on, a divergence below it.
    lost = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.5])
    assert finite_renyi(*lost, 1.0) == finite_renyi(*lost, 2.0) == math.inf
    assert finite_renyi(*lost, 0.5) == pytest.approx(2 * math.log(2))
    little = np.array([1 - 1e-6, 1e-6]), np.array([1.0, 0.0])
    assert finite_renyi(*little, 0.5) == pytest.approx(-2 * math.log(math.sqrt(1 - 1e-6)), rel=1e-9)


@pytest.mark.parametrize("order", [0.2, 0.5, 0.9])
def test_a_far_atom_is_no_obstacle_below_order_one(order):
    """Two groups of 1,000 rows, 2 % of the second at 50: NaN in the log excess before."""
    rng = np.random.default_rng(0)
    near = [rng.integers(0, 5, 1000).astype(float) for _ in range(2)]
    near[1][:20] = 50
    p, q = (FiniteLaw.of_sample(x) for x in near)
    scale = tight_scale(p, q, order=order, epsilon=0.01, noise="gaussian")
    assert 0 < scale < 50
    divergence = worst_noised_divergence(p, q, order=order, noise="gaussian", scale=scale)
    assert divergence == pytest.approx(0.01, rel=1e-6)
    # Independent route: the Hellinger integral on a grid.
    grid = np.linspace(-150, 200, 70_001)
    sides = [
        np.exp(-0.5 * ((grid[:, None] - law.atoms) / scale) ** 2) @ law.weights for law in (p, q)
    ]
    f, g = (side / side.sum() for side in sides)
    worst = max(
        math.log((a**order * b ** (1 - order)).sum()) / (order - 1) for a, b in ((f, g), (g, f))
    )
    assert worst == pytest.approx(0.01, rel=1e-5)


@pytest.mark.parametrize("order", [0.05, 0.2, 0.9, 0.999])
def test_the_excess_of_small_ratios_is_finite_and_right(order):
    ratios = np.array([-1e6, -800.0, -100.0, -31.0, -29.0, -5.0])
    found = log_excess(ratios, order)
    with mp.workdps(60):
        a = mp.mpf(order)
        exact = [
            float(mp.log((mp.exp(a * r) - a * mp.exp(r)) / (a - 1) + 1)) for r in ratios.tolist()
        ]
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "build",
    [
        lambda e: Epsilon(epsilon=e),
        lambda e: EpsilonDelta(epsilon=e, delta=1e-3),
        lambda e: RenyiEpsilon(order=2.0, epsilon=e),
    ],
)
def test_budgets_beyond_double_precision_are_one_line_with_the_limit(build):
    for bad in (1e-7, 9.9e-7, 1.1e6, 1e300):
        with pytest.raises(ValueError, match=r"^epsilon must be in \[1e-06, 1e\+06\] or inf"):
            build(bad)
    for good in (1e-6, 1.0, 1e6, math.inf):
        assert build(good).epsilon == good
