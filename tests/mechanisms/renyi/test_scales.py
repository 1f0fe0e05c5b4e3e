"""Every calibration meets its budget by the true divergence, in both directions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from mechanisms.laws.coupling import Coupling, comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.transport import optimal_coupling
from mechanisms.leakage.divergence import worst_noised_divergence
from mechanisms.renyi.alpha_wasserstein import wasserstein_gaussian_scale, wasserstein_laplace_scale
from mechanisms.renyi.best_published import best_gaussian_scale, best_laplace_scale
from mechanisms.renyi.joint_convex import joint_convex_laplace_scale
from mechanisms.renyi.power_noise import exponential_rate
from mechanisms.renyi.shift_reduction import shift_gaussian_scale, shift_laplace_scale
from mechanisms.renyi.tight_noise import tight_scale
from mechanisms.renyi.w_infinity import w_infinity_laplace_scale

SETTINGS = settings(max_examples=30, deadline=None)
orders = st.sampled_from([1.0, 1.01, 1.5, 2.0, 5.0, 40.0])
epsilons = st.sampled_from([0.05, 0.5, 2.0])


@st.composite
def laws(draw):
    size = draw(st.integers(1, 4))
    atoms = draw(st.lists(st.integers(-5, 5).map(float), min_size=size, max_size=size, unique=True))
    counts = draw(st.lists(st.integers(1, 20), min_size=size, max_size=size))
    return FiniteLaw.of_counts(atoms=atoms, counts=counts)


@SETTINGS
@given(laws(), laws(), orders, epsilons)
def test_laplace_bounds_are_ordered_and_meet_the_budget(p, q, order, epsilon):
    plan, budget = comonotone(p, q), {"order": order, "epsilon": epsilon}
    largest = plan.distances().max()
    exact = tight_scale(p, q, **budget, noise="laplace")
    joint = joint_convex_laplace_scale(plan, **budget)
    theorem = wasserstein_laplace_scale(plan, **budget)
    shift = shift_laplace_scale(largest, **budget)
    slack = 1 + 1e-9
    assert exact <= joint * slack
    assert joint <= min(theorem, shift, w_infinity_laplace_scale(plan, epsilon=epsilon)) * slack
    assert joint <= best_laplace_scale(plan, **budget).scale * slack
    for scale in (exact, joint, min(theorem, 1e9)):
        found = worst_noised_divergence(p, q, order=order, noise="laplace", scale=scale)
        assert found <= epsilon * (1 + 1e-9)
    if exact > 0:
        less = worst_noised_divergence(p, q, order=order, noise="laplace", scale=exact * 0.999)
        assert less > epsilon


@SETTINGS
@given(laws(), laws(), orders, epsilons)
def test_gaussian_bounds_are_ordered_and_meet_the_budget(p, q, order, epsilon):
    plan, budget = comonotone(p, q), {"order": order, "epsilon": epsilon}
    exact = tight_scale(p, q, **budget, noise="gaussian")
    theorem = wasserstein_gaussian_scale(plan, **budget)
    shift = shift_gaussian_scale(plan.distances().max(), **budget)
    assert exact <= theorem * (1 + 1e-9)
    assert theorem <= shift * (1 + 1e-9)
    assert best_gaussian_scale(plan, **budget).scale == theorem or math.isclose(theorem, shift)
    for scale in (exact, theorem):
        found = worst_noised_divergence(p, q, order=order, noise="gaussian", scale=scale)
        assert found <= epsilon * (1 + 1e-9)
    if exact > 0:
        less = worst_noised_divergence(p, q, order=order, noise="gaussian", scale=exact * 0.999)
        assert less > epsilon


@SETTINGS
@given(laws(), laws(), st.sampled_from([1.2, 2.0, 7.0]), epsilons)
def test_roots_solve_the_equations_of_the_theorems(p, q, order, epsilon):
    plan = comonotone(p, q)
    z, w = plan.distances(), plan.weights
    budget = (order - 1) * epsilon
    if z.max() == 0:
        assert wasserstein_laplace_scale(plan, order=order, epsilon=epsilon) == 0
        return
    b = wasserstein_laplace_scale(plan, order=order, epsilon=epsilon)
    # Theorem 1, at the root: the mean equals the budget, from below.
    value = math.log(w @ np.exp(order * z / b))
    assert value == pytest.approx(budget, rel=1e-10)
    sigma = wasserstein_gaussian_scale(plan, order=order, epsilon=epsilon)
    value = math.log(w @ np.exp(order * (order - 1) * z**2 / (2 * sigma**2)))
    assert value == pytest.approx(budget, rel=1e-10)

    def cost(b):
        front = order * np.exp((order - 1) * z / b) + (order - 1) * np.exp(-order * z / b)
        return math.log(w @ front / (2 * order - 1)) - budget

    b = joint_convex_laplace_scale(plan, order=order, epsilon=epsilon)
    assert b == pytest.approx(brentq(cost, b / 3, 3 * b, xtol=1e-14), rel=1e-8)


@SETTINGS
@given(laws(), laws(), orders, epsilons, st.sampled_from([1e-8, 3.0, 1e8]))
def test_scales_follow_the_units_of_the_query(p, q, order, epsilon, unit):
    plan = comonotone(p, q)
    moved = Coupling(left=plan.left * unit, right=plan.right * unit, weights=plan.weights)
    for calibrate in (
        wasserstein_laplace_scale,
        joint_convex_laplace_scale,
        wasserstein_gaussian_scale,
    ):
        here = calibrate(plan, order=order, epsilon=epsilon)
        there = calibrate(moved, order=order, epsilon=epsilon)
        assert there == pytest.approx(here * unit, rel=1e-11)


@SETTINGS
@given(laws(), laws(), orders, epsilons)
def test_the_pair_and_its_mirror_get_the_same_scale(p, q, order, epsilon):
    for calibrate in (
        wasserstein_laplace_scale,
        joint_convex_laplace_scale,
        wasserstein_gaussian_scale,
    ):
        there = calibrate(comonotone(p, q), order=order, epsilon=epsilon)
        back = calibrate(comonotone(q, p), order=order, epsilon=epsilon)
        assert there == pytest.approx(back, rel=1e-12)


@SETTINGS
@given(laws(), laws(), st.sampled_from([1.5, 3.0]))
def test_comonotone_coupling_is_best_for_convex_costs(p, q, order):
    pytest.importorskip("ot")
    plan, budget = comonotone(p, q), {"order": order, "epsilon": 0.5}
    b = wasserstein_laplace_scale(plan, **budget)
    if b == 0:
        return
    costs = np.exp(order * np.abs(np.subtract.outer(p.atoms, q.atoms)) / b)
    other = optimal_coupling(p, q, costs=costs)
    assert wasserstein_laplace_scale(other, **budget) >= b * (1 - 1e-6)


@pytest.mark.parametrize("calibrate", [wasserstein_laplace_scale, joint_convex_laplace_scale])
def test_order_infinity_is_w_infinity_over_epsilon_and_large_orders_tend_to_it(calibrate):
    plan = comonotone(
        FiniteLaw(atoms=[0.0, 1.0], weights=[0.7, 0.3]),
        FiniteLaw(atoms=[0.0, 1.0], weights=[0.4, 0.6]),
    )
    assert calibrate(plan, order=math.inf, epsilon=0.5) == pytest.approx(2, rel=1e-14)
    assert calibrate(plan, order=1e4, epsilon=0.5) == pytest.approx(2, rel=1e-3)
    assert calibrate(plan, order=math.inf, epsilon=0.5) >= 2


def test_order_1_has_its_limits():
    plan = comonotone(
        FiniteLaw(atoms=[0.0], weights=[1.0]), FiniteLaw(atoms=[0.0, 2.0], weights=[0.5, 0.5])
    )
    assert wasserstein_laplace_scale(plan, order=1, epsilon=0.5) == math.inf
    assert wasserstein_laplace_scale(plan, order=1 + 1e-9, epsilon=0.5) > 1e8
    for calibrate in (joint_convex_laplace_scale, wasserstein_gaussian_scale):
        near = calibrate(plan, order=1 + 1e-9, epsilon=0.5)
        assert calibrate(plan, order=1, epsilon=0.5) == pytest.approx(near, rel=1e-7)


def test_equal_laws_and_infinite_budgets_need_no_noise():
    law = FiniteLaw(atoms=[0.0, 4.0], weights=[0.5, 0.5])
    far = FiniteLaw(atoms=[9.0], weights=[1.0])
    for plan, epsilon in ((comonotone(law, law), 0.1), (comonotone(law, far), math.inf)):
        for order in (1, 2, math.inf):
            budget = {"order": order, "epsilon": epsilon}
            assert wasserstein_laplace_scale(plan, **budget) == 0
            assert joint_convex_laplace_scale(plan, **budget) == 0
            assert wasserstein_gaussian_scale(plan, **budget) == 0
    assert tight_scale(law, law, order=2, epsilon=0.1, noise="gaussian") == 0
    assert (
        shift_gaussian_scale(0.0, order=2, epsilon=0.1)
        == shift_laplace_scale(0.0, order=2, epsilon=0.1)
        == 0
    )


def test_extreme_orders_budgets_and_distances_stay_finite():
    plan = comonotone(
        FiniteLaw(atoms=[0.0, 1e8], weights=[0.5, 0.5]),
        FiniteLaw(atoms=[1e-3, 3e8], weights=[0.5, 0.5]),
    )
    for order in (1 + 1e-9, 2, 1e4):
        for epsilon in (1e-9, 1e3):
            budget = {"order": order, "epsilon": epsilon}
            for calibrate in (
                wasserstein_laplace_scale,
                joint_convex_laplace_scale,
                wasserstein_gaussian_scale,
            ):
                assert 0 < calibrate(plan, **budget) < 1e30


def test_corollary_1_with_another_metric_needs_its_own_plan():
    p = FiniteLaw(atoms=[0.0, 1.0, 2.0, 3.0], weights=[0.25] * 4)
    q = FiniteLaw(atoms=[1.0, 2.0, 3.0, 4.0], weights=[0.25] * 4)
    order, epsilon = 2.0, 0.5
    budget = {"order": order, "epsilon": epsilon}

    def metric(z):
        return np.minimum(np.abs(z), 1)

    plan = comonotone(p, q)
    by_order = exponential_rate(metric(plan.left - plan.right), plan.weights, **budget)
    assert by_order == pytest.approx((order - 1) * epsilon / order)
    pytest.importorskip("ot")
    best = optimal_coupling(p, q, costs=metric(np.subtract.outer(p.atoms, q.atoms)))
    eta = exponential_rate(metric(best.left - best.right), best.weights, **budget)
    # Three quarters of the mass stay: 3/4 + 1/4 e^(2 eta) = e^(1/2).
    assert eta == pytest.approx(math.log(4 * math.exp(0.5) - 3) / 2)
    assert eta > by_order
    infinite = exponential_rate(
        metric(plan.left - plan.right), plan.weights, order=math.inf, epsilon=epsilon
    )
    assert infinite == pytest.approx(epsilon)


@pytest.mark.parametrize("bad", [{"order": 0.5}, {"epsilon": 0}, {"epsilon": math.nan}])
def test_bad_budgets_are_named(bad):
    plan = comonotone(FiniteLaw(atoms=[0.0], weights=[1.0]), FiniteLaw(atoms=[1.0], weights=[1.0]))
    for calibrate in (
        wasserstein_laplace_scale,
        joint_convex_laplace_scale,
        wasserstein_gaussian_scale,
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            calibrate(plan, **{"order": 2, "epsilon": 0.5, **bad})


@SETTINGS
@given(st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=8), st.randoms())
def test_scales_do_not_depend_on_the_order_of_a_sample(values, random):
    shuffled = random.sample(values, len(values))
    other = FiniteLaw.of_sample([0.0, 1.0, 1.0])
    for calibrate in (
        wasserstein_laplace_scale,
        joint_convex_laplace_scale,
        wasserstein_gaussian_scale,
    ):
        here, there = (
            calibrate(comonotone(FiniteLaw.of_sample(v), other), order=2, epsilon=0.5)
            for v in (values, shuffled)
        )
        assert here == there
