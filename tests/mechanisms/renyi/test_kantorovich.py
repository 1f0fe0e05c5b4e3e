"""Kantorovich calibrations and those beside them against the exact hockey-stick curve."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.coupling import comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.transport import optimal_coupling, pairwise_distances, w_infinity
from mechanisms.leakage.divergence import noised_divergence, worst_noised_divergence
from mechanisms.leakage.hockey_stick import hockey_stick
from mechanisms.renyi.gaussian_prior import (
    gaussian_divergence,
    tight_gaussian_prior_scale,
    wasserstein_gaussian_prior_scale,
)
from mechanisms.renyi.kantorovich import (
    classical_gaussian_scale,
    kantorovich_gaussian_scale,
    kantorovich_laplace_scale,
)
from mechanisms.renyi.low_order import low_order_laplace_optimal_scale, low_order_laplace_scale
from mechanisms.renyi.relaxed_kantorovich import relaxed_kantorovich_scale
from mechanisms.renyi.w_infinity import w_infinity_laplace_scale

SETTINGS = settings(max_examples=30, deadline=None)


@st.composite
def laws(draw):
    size = draw(st.integers(1, 4))
    atoms = draw(st.lists(st.integers(-5, 5).map(float), min_size=size, max_size=size, unique=True))
    counts = draw(st.lists(st.integers(1, 20), min_size=size, max_size=size))
    return FiniteLaw.of_counts(atoms=atoms, counts=counts)


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.1, 0.7, 3.0]))
def test_relaxed_kantorovich_is_pufferfish_private_and_below_w_infinity(p, q, epsilon):
    plan = comonotone(p, q)
    scale = relaxed_kantorovich_scale(plan, epsilon=epsilon)
    assert scale <= w_infinity_laplace_scale(plan, epsilon=epsilon) * (1 + 1e-12)
    if scale > 0:
        found = worst_noised_divergence(p, q, order=math.inf, noise="laplace", scale=scale)
        assert found <= epsilon * (1 + 1e-12)


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.3, 1.0]), st.sampled_from([1e-6, 0.01, 0.2]))
def test_epsilon_delta_scales_hold_on_the_exact_curve(p, q, epsilon, delta):
    plan = comonotone(p, q)
    for noise, scale in (
        ("gaussian", kantorovich_gaussian_scale(plan, epsilon=epsilon, delta=delta)),
        ("gaussian", classical_gaussian_scale(plan, epsilon=epsilon, delta=delta)),
        ("laplace", kantorovich_laplace_scale(plan, epsilon=epsilon, delta=delta)),
    ):
        for pair in ((p, q), (q, p)) if scale > 0 else ():
            found = hockey_stick(*pair, epsilon=epsilon, noise=noise, scale=scale)
            assert found.hi <= delta * (1 + 1e-9)


def test_epsilon_delta_scales_are_tight_on_points():
    points = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0)]
    plan = comonotone(*points)
    for noise, calibrate in (
        ("gaussian", kantorovich_gaussian_scale),
        ("laplace", kantorovich_laplace_scale),
    ):
        scale = calibrate(plan, epsilon=0.5, delta=0.01)
        found = hockey_stick(*points, epsilon=0.5, noise=noise, scale=scale)
        assert found.hi == pytest.approx(0.01, rel=1e-8)
    assert kantorovich_laplace_scale(plan, epsilon=0.5, delta=0.0) == pytest.approx(2)
    assert kantorovich_gaussian_scale(plan, epsilon=0.5, delta=0.0) == math.inf


@SETTINGS
@given(laws(), laws(), st.sampled_from([0.3, 0.5, 0.9]), st.sampled_from([0.05, 0.5]))
def test_low_orders_meet_the_budget_and_the_best_plan_needs_least(p, q, order, epsilon):
    pytest.importorskip("ot")
    plain = low_order_laplace_scale(comonotone(p, q), order=order, epsilon=epsilon)
    best = low_order_laplace_optimal_scale(p, q, order=order, epsilon=epsilon)
    assert best <= plain * (1 + 1e-6)
    for scale in (plain, best):
        found = worst_noised_divergence(p, q, order=order, noise="laplace", scale=scale)
        assert found <= epsilon * (1 + 1e-9)


def test_proposition_1_is_not_served_best_by_the_comonotone_plan():
    pytest.importorskip("ot")
    p = FiniteLaw(atoms=[0.0, 1.0, 2.0, 3.0], weights=[0.25] * 4)
    q = FiniteLaw(atoms=[1.0, 2.0, 3.0, 4.0], weights=[0.25] * 4)
    costs = -np.exp(-0.5 * np.abs(np.subtract.outer(p.atoms, q.atoms)))
    means = [
        plan.weights @ np.exp(-0.5 * plan.distances())
        for plan in (comonotone(p, q), optimal_coupling(p, q, costs=costs))
    ]
    assert means == pytest.approx([0.6065, 0.7838], abs=5.1e-5)


PRIORS = [
    # variance of the second law, order, epsilon, variance by Theorem 2, exact variance
    (1.0, 2, 0.5, 2.0, 1.0),
    (1.0, 5, 0.5, 5.0, 4.0),
    (1.0, 2, 1.0, 1.0, 0.0),
    (2.25, 2, 0.5, 2.9551, 2.5542),
    (2.25, 5, 0.5, 10.9056, 9.2737),
    (2.25, 2, 1.0, 1.7092, 1.4313),
]


@pytest.mark.parametrize(("variance", "order", "epsilon", "theorem", "exact"), PRIORS)
def test_gaussian_priors(variance, order, epsilon, theorem, exact):
    laws = ((0.0, 1.0), (1.0, variance))
    budget = {"order": order, "epsilon": epsilon}
    assert wasserstein_gaussian_prior_scale(*laws, **budget) ** 2 == pytest.approx(
        theorem, abs=5.1e-5
    )
    assert tight_gaussian_prior_scale(*laws, **budget) ** 2 == pytest.approx(exact, abs=5.1e-5)


@pytest.mark.parametrize("order", [0.5, 1, 2, 3.0])
def test_gaussian_prior_divergence_agrees_with_integration(order):
    x = np.linspace(-30, 30, 400_001)
    log_p = -((x - 0.2) ** 2) / (2 * 1.3) - math.log(1.3) / 2 - math.log(2 * math.pi) / 2
    log_q = -((x + 0.5) ** 2) / (2 * 2.1) - math.log(2.1) / 2 - math.log(2 * math.pi) / 2
    if order == 1:
        expected = np.trapezoid(np.exp(log_p) * (log_p - log_q), x)
    else:
        total = np.trapezoid(np.exp(order * log_p + (1 - order) * log_q), x)
        expected = math.log(total) / (order - 1)
    found = gaussian_divergence((0.2, -0.5), (1.0, 1.8), order=order, noise_variance=0.3)
    assert found == pytest.approx(expected, rel=1e-9)


def test_w_infinity_in_the_plane():
    pytest.importorskip("ot")
    p = FiniteLaw(atoms=[[0.0, 0.0], [5.0, 5.0]], weights=[0.5, 0.5])
    q = FiniteLaw(atoms=[[3.0, 4.0], [5.0, 6.0]], weights=[0.5, 0.5])
    assert w_infinity(p, q, norm="l2").distance == 5
    assert w_infinity(p, q, norm="l1").distance == 7
    # Moving a little of the middle atom is enough to make it the bottleneck.
    r = FiniteLaw(atoms=[[3.0, 4.0], [5.0, 6.0]], weights=[0.5 + 1e-6, 0.5 - 1e-6])
    assert w_infinity(p, r, norm="l2").distance == 5
    assert pairwise_distances(p, q, norm="l1")[1].tolist() == [3, 1]


def test_an_atom_of_little_weight_in_the_plane_still_counts_for_w_infinity():
    pytest.importorskip("ot")
    atoms = [[0.0, 0.0], [1.0, 0.0], [100.0, 0.0]]
    p = FiniteLaw(atoms=atoms, weights=[0.5, 0.5 - 5e-13, 5e-13])
    q = FiniteLaw(atoms=atoms, weights=[0.4, 0.6 - 1e-13, 1e-13])
    assert w_infinity(p, q, norm="l1").distance == 99


@SETTINGS
@given(laws(), laws())
def test_w_infinity_by_bisection_agrees_with_the_line(p, q):
    pytest.importorskip("ot")
    found = w_infinity(p, q, norm="l2")
    assert found.distance == comonotone(p, q).distances().max()
    assert found.coupling.weights[found.coupling.distances() > found.distance].sum() <= 1e-12


def test_conditional_laws_within_w_need_no_extra_term():
    # Given |z| <= W both sides are mixtures of laws at most W apart: the shift bound holds.
    p = FiniteLaw(atoms=[0.0, 1.0, 2.0], weights=[0.2, 0.5, 0.3])
    q = FiniteLaw(atoms=[1.0, 2.0, 3.0], weights=[0.2, 0.5, 0.3])
    shift = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0)]
    for noise in ("laplace", "gaussian"):
        bound = noised_divergence(*shift, order=3, noise=noise, scale=0.9)
        assert noised_divergence(p, q, order=3, noise=noise, scale=0.9) <= bound * (1 + 1e-12)


def test_a_missing_transport_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    law = FiniteLaw(atoms=[0.0], weights=[1.0])
    with pytest.raises(ImportError, match=r"privacy-notions-bench\[transport\]"):
        optimal_coupling(law, law, costs=np.zeros((1, 1)))
