"""Every conversion against direct computation on finite pairs; every unsound one is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from mechanisms.leakage.gaussian_tradeoff import gaussian_distance
from mechanisms.leakage.pair import FinitePair, GaussianShift, finite_renyi
from mechanisms.privacy.conversions import RULES, convert
from mechanisms.privacy.guarantee import Guarantee, NotComparable
from mechanisms.privacy.indistinguishability import (
    PURE,
    Approximate,
    DeltaApproximateRenyi,
    Probabilistic,
    Renyi,
)

ORDERS = [0.4, 1.0, 1.3, 2.0, 5.0, 30.0, math.inf]
DELTAS = [0.0, 1e-6, 1e-3, 0.05, 0.3]
few = settings(max_examples=80, deadline=None)


@st.composite
def finite_pairs(draw, positive=True):
    size = draw(st.integers(2, 6))
    counts = st.lists(st.integers(1 if positive else 0, 9), min_size=size, max_size=size)
    sides = [np.array(draw(counts.filter(any)), dtype=float) for _ in range(2)]
    return FinitePair(*(side / side.sum() for side in sides))


def said(notion, bound):
    return Guarantee(notion=notion, bound=bound, theorem="t")


def true(notion, pair):
    """Return the exact number of a finite pair, computed from its probabilities."""
    if isinstance(notion, Probabilistic):
        return worst_tail(pair, notion.delta)
    return notion.of_pair(pair).hi


def worst_tail(pair, delta):
    """Return the smallest epsilon >= 0 that the loss exceeds with probability <= delta."""
    found = 0.0
    for p, q in ((pair.first, pair.second), (pair.second, pair.first)):
        with np.errstate(divide="ignore"):
            loss = np.log(p[p > 0]) - np.log(q[p > 0])
        mass = p[p > 0]
        candidates = [0.0, *loss[loss > 0]]
        found = max(found, min(e for e in candidates if mass[loss > e].sum() <= delta + 1e-15))
    return found


NOTIONS = [
    *(Approximate(delta=d) for d in DELTAS),
    *(Renyi(order=a) for a in ORDERS),
    *(Probabilistic(delta=d) for d in DELTAS),
]


@given(
    pair=finite_pairs(), start=st.sampled_from(NOTIONS),
    goal=st.sampled_from([*NOTIONS, DeltaApproximateRenyi(order=2.0, delta=0.05)]),
)  # fmt: skip
@settings(max_examples=600, deadline=None)
def test_a_conversion_holds_for_every_pair_that_meets_the_guarantee(pair, start, goal):
    found = convert(said(start, true(start, pair)), goal)
    if isinstance(found, NotComparable):
        return
    assert found.notion == goal
    assert true(goal, pair) <= found.bound * (1 + 1e-9) + 1e-9


@given(pair=finite_pairs(), data=st.data())
@few
def test_what_is_left_after_dropping_events_converts(pair, data):
    """Laws of which events of mass .9 have a known divergence, the rest may be anywhere."""
    delta, order = 0.1, data.draw(st.sampled_from([1.3, 2.0, 8.0]))
    size = pair.first.size
    sides = []
    for side in (pair.first, pair.second):
        rest = np.array(
            data.draw(st.lists(st.integers(0, 5), min_size=size + 2, max_size=size + 2))
        )
        rest = rest / rest.sum() if rest.any() else np.eye(size + 2)[0]
        sides.append(0.9 * np.append(side, [0.0, 0.0]) + delta * rest)
    kept = max(
        finite_renyi(pair.first, pair.second, order), finite_renyi(pair.second, pair.first, order)
    )
    start = said(DeltaApproximateRenyi(order=order, delta=delta), kept)
    for goal in (Approximate(delta=0.12), Approximate(delta=0.5)):
        found = convert(start, goal)
        inner = Approximate(delta=(goal.delta - delta) / (1 - delta))
        assert found.bound == convert(said(Renyi(order=order), kept), inner).bound
        assert FinitePair(*sides).epsilon(goal.delta).hi <= found.bound + 1e-9
    assert isinstance(convert(start, Approximate(delta=0.1)), NotComparable)


@given(epsilon=st.floats(0.01, 6), delta=st.sampled_from(DELTAS), more=st.floats(0, 0.9))
@few
def test_the_dominating_pair_attains_a_larger_delta(epsilon, delta, more):
    goal = Approximate(delta=delta + (1 - delta) * more)
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    worst = FinitePair(
        np.array([delta, (1 - delta) * p, (1 - delta) * (1 - p), 0.0]),
        np.array([0.0, (1 - delta) * (1 - p), (1 - delta) * p, delta]),
    )
    found = convert(said(Approximate(delta=delta), epsilon), goal).bound
    assert found == pytest.approx(worst.epsilon(goal.delta).hi, abs=1e-9)


@given(epsilon=st.floats(0.001, 8), order=st.sampled_from(ORDERS))
@few
def test_randomised_response_attains_its_renyi_bound(epsilon, order):
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    exact = finite_renyi(np.array([p, 1 - p]), np.array([1 - p, p]), order)
    assert convert(said(PURE, epsilon), Renyi(order=order)).bound == pytest.approx(exact, rel=1e-9)


def test_large_pure_budgets_stay_finite():
    assert convert(said(PURE, 1e5), Renyi(order=2.0)).bound == pytest.approx(1e5, rel=1e-9)
    assert convert(said(PURE, 1e5), Approximate(delta=0.5)).bound == pytest.approx(1e5, rel=1e-4)
    assert convert(said(PURE, math.inf), Renyi(order=2.0)).unbounded


def test_renyi_becomes_approximate_as_stated():
    a, r, delta = 8.0, 0.5, 1e-5
    expected = r + math.log((a - 1) / a) - (math.log(delta) + math.log(a)) / (a - 1)
    found = convert(said(Renyi(order=a), r), Approximate(delta=delta))
    assert found.bound == pytest.approx(expected, rel=1e-12)
    # Never above the older bound r + log(1/delta)/(a - 1) (Mironov, 2017, Proposition 3).
    assert found.bound < r + math.log(1 / delta) / (a - 1)
    assert "Canonne" in found.theorem
    assert found.theorem.endswith("on t")


@pytest.mark.parametrize(
    ("start", "goal", "reason"),
    [
        (Approximate(delta=0.1), PURE, "does not shrink"),
        (Approximate(delta=0.1), Renyi(order=2.0), "no Renyi divergence is bounded"),
        (Approximate(delta=0.1), Probabilistic(delta=0.1), "ask for more than delta=0.1"),
        (Approximate(delta=0.1), DeltaApproximateRenyi(order=2.0, delta=0.1), "mixtures"),
        (DeltaApproximateRenyi(order=2.0, delta=0.1), Renyi(order=2.0), "may tell everything"),
        (DeltaApproximateRenyi(order=2.0, delta=0.1), Approximate(delta=0.1), "does not shrink"),
        (DeltaApproximateRenyi(order=2.0, delta=0.1), Probabilistic(delta=0.2), "no theorem"),
        (Renyi(order=2.0), PURE, "bounds no largest ratio"),
        (Renyi(order=2.0), Renyi(order=3.0), "larger order 3"),
        (Renyi(order=0.5), Renyi(order=1.0), "larger order 1"),
        (Renyi(order=1.0), Approximate(delta=0.1), "not above 1"),
        (Renyi(order=0.5), Probabilistic(delta=0.1), "not above 1"),
        (Probabilistic(delta=0.1), Probabilistic(delta=0.01), "does not shrink"),
        (Probabilistic(delta=0.1), Renyi(order=2.0), "no theorem"),
    ],
)
def test_what_is_not_sound_is_refused_with_its_reason(start, goal, reason):
    found = convert(said(start, 1.0), goal)
    assert isinstance(found, NotComparable)
    assert reason in found.reason


def test_approximate_is_not_probabilistic_at_the_same_numbers():
    """Pairs with (eps, delta) whose loss exceeds eps with probability above delta."""
    record = GaussianShift(gaussian_distance(0.633906, 0.001))  # the classical claim of 1
    distance = record.distance
    above = float(ndtr(distance / 2 - 0.633906 / distance))
    assert above == pytest.approx(0.011863, abs=1e-5)
    assert record.loss_quantile(0.001).hi == pytest.approx(0.853343, abs=1e-5)
    p = np.array([0.5, 0.45, 0.05])
    q = np.array([0.5, 0.48, 0.02])
    pair = FinitePair(p, q)
    epsilon = math.log(2.4)
    delta = pair.delta(epsilon).hi
    assert delta == pytest.approx(0.05 - 2.4 * 0.02)
    assert p[np.log(p / q) > epsilon].sum() == pytest.approx(0.05)
    assert worst_tail(pair, delta) > epsilon
    assert pair.loss_quantile(delta).hi == pytest.approx(worst_tail(pair, delta))
    found = convert(said(Approximate(delta=delta), epsilon), Probabilistic(delta=0.06))
    assert worst_tail(pair, 0.06) <= found.bound


@given(pair=finite_pairs(positive=False), small=st.floats(0.05, 0.9), large=st.floats(0.1, 0.95))
@settings(max_examples=200, deadline=None)
def test_orders_below_one_bound_each_other(pair, small, large):
    """Outputs that only one side has included: divergences below order 1 stay finite there."""
    small, large = sorted((small, large))
    epsilon = pair.renyi(small).hi
    found = convert(said(Renyi(order=small), epsilon), Renyi(order=large))
    assert pair.renyi(large).hi <= found.bound * (1 + 1e-9) + 1e-9
    if small < 0.5:  # attained at the mirrored order: D_{1-a} is (1 - a)/a times D_a, swapped
        mirrored = convert(said(Renyi(order=small), epsilon), Renyi(order=1 - small))
        assert mirrored.bound == pytest.approx(pair.renyi(1 - small).hi, rel=1e-9, abs=1e-12)


def test_renyi_below_order_one_says_nothing_about_large_losses():
    """Disjoint tails of mass e: the divergence of order 1/2 is small, epsilon at delta is not."""
    pair = FinitePair(np.array([0.9, 0.1, 0.0]), np.array([0.9, 0.0, 0.1]))
    assert pair.renyi(0.5).hi < 0.3
    assert pair.epsilon(0.05).hi == math.inf


def test_an_unbounded_guarantee_stays_unbounded():
    assert convert(said(PURE, math.inf), Approximate(delta=0.1)).unbounded
    assert convert(said(Renyi(order=2.0), math.inf), Approximate(delta=0.1)).unbounded


def test_a_notion_of_ones_own_may_know_what_implies_it():
    class Own(Renyi):
        def converted(self, guarantee):
            return NotComparable(reason=f"asked about {guarantee.notion.name}")

    assert convert(said(PURE, 1.0), Own(order=3.0)).reason == "asked about pure privacy"


def test_every_rule_is_about_notions_that_there_are():
    assert len(RULES) == 13
