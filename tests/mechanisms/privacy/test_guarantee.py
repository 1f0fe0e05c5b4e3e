import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.divergence import renyi_divergence
from mechanisms.leakage.pair import FinitePair, finite_renyi
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import (
    Approximate,
    DeltaApproximateRenyi,
    Renyi,
    bernoulli_renyi,
)

ORDERS = [0.3, 0.5, 0.99, 1.0, 1.01, 2.0, 7.5, 60.0, math.inf]


@st.composite
def finite_pairs(draw):
    """Two laws on the same outputs, as whole-number weights, so that tests are exact."""
    size = draw(st.integers(2, 6))
    counts = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    return draw(counts.filter(any)), draw(counts.filter(any))


def normalised(pair):
    return tuple(np.array(side) / sum(side) for side in pair)


def every_test(pair):
    """Return (fpr, tpr) of every deterministic test of the first side against the second."""
    first, second = pair
    for chosen in itertools.product([False, True], repeat=len(first)):
        tpr = Fraction(sum(itertools.compress(first, chosen)), sum(first))
        fpr = Fraction(sum(itertools.compress(second, chosen)), sum(second))
        yield float(fpr), float(tpr)


@given(pair=finite_pairs(), delta=st.sampled_from([0.0, 1e-3, 0.1, 0.4]))
@settings(max_examples=60, deadline=None)
def test_certified_epsilon_never_exceeds_the_exact_one_and_the_best_test_attains_it(pair, delta):
    notion = Approximate(delta=delta)
    exact = notion.of_pair(FinitePair(*normalised(pair)))
    certified = [notion.of_rates(fpr, tpr) for fpr, tpr in every_test(pair)]
    # exp(-x), so that two infinities compare.
    assert math.exp(-exact.lo) <= math.exp(-max(certified)) + 1e-9
    assert math.exp(-max(certified)) <= math.exp(-exact.hi) + 1e-9


@given(pair=finite_pairs(), order=st.sampled_from(ORDERS))
@settings(max_examples=60, deadline=None)
def test_certified_renyi_never_exceeds_the_exact_divergence(pair, order):
    notion = Renyi(order=order)
    exact = notion.of_pair(FinitePair(*normalised(pair)))
    for fpr, tpr in every_test(pair):
        assert notion.of_rates(fpr, tpr) <= exact.hi * (1 + 1e-9) + 1e-9


@given(
    p=st.floats(0.01, 0.99),
    q=st.floats(0.01, 0.99),
    order=st.sampled_from(ORDERS),
    slack=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
@settings(max_examples=60, deadline=None)
def test_a_wider_confidence_rectangle_never_certifies_more(p, q, order, slack):
    fpr, tpr = min(p, q), max(p, q)
    wide = (fpr + slack[0] * (1 - fpr), tpr * (1 - slack[1]))
    for notion in (Approximate(delta=0.05), Renyi(order=order)):
        assert notion.of_rates(*wide) <= notion.of_rates(fpr, tpr) + 1e-12


@given(pair=finite_pairs(), order=st.sampled_from(ORDERS), more=st.sampled_from(ORDERS))
@settings(max_examples=60, deadline=None)
def test_renyi_divergence_rises_in_the_order_and_falls_under_merging(pair, order, more):
    p, q = normalised(pair)
    low, high = sorted((order, more))
    here, above = finite_renyi(p, q, low), finite_renyi(p, q, high)
    assert here <= above + 1e-9
    merged = bernoulli_renyi(p[0], q[0], low) if 0 < q[0] < 1 else 0.0
    assert merged <= here + 1e-9


@pytest.mark.parametrize("order", ORDERS)
def test_bernoulli_renyi_is_the_divergence_of_laws_on_two_atoms(order):
    for p, q in [(0.2, 0.7), (0.7, 0.2), (0.0, 0.4), (0.4, 0.0), (1.0, 0.5), (0.0, 1.0)]:
        laws = [FiniteLaw(atoms=[0.0, 1.0], weights=[1 - x, x]) for x in (p, q)]
        expected = renyi_divergence(*laws, order=order)
        assert bernoulli_renyi(p, q, order) == pytest.approx(expected, rel=1e-12)


def test_renyi_divergence_of_two_coins_by_hand():
    assert bernoulli_renyi(0.5, 0.25, 2.0) == pytest.approx(math.log(4 / 3))
    assert bernoulli_renyi(0.5, 0.25, 0.5) == pytest.approx(
        -2 * math.log(math.sqrt(0.125) + math.sqrt(0.375))
    )
    assert bernoulli_renyi(0.5, 0.25, 1.0) == pytest.approx(math.log(2) / 2 + math.log(2 / 3) / 2)


def test_both_directions_of_the_definition_certify():
    notion = Approximate(delta=0.1)
    assert notion.of_rates(fpr=0.1, tpr=0.6) == pytest.approx(math.log(5))
    assert notion.of_rates(fpr=0.4, tpr=0.9) == pytest.approx(math.log(5))
    assert notion.of_rates(fpr=0.5, tpr=0.5) == 0.0
    assert notion.of_rates(fpr=0.0, tpr=0.2) == math.inf
    assert notion.of_rates(fpr=0.0, tpr=0.05) == 0.0


@pytest.mark.parametrize("bad", [-1.0, math.nan, "abc", True])
def test_a_guarantee_refuses_a_bad_bound_in_one_line(bad):
    with pytest.raises((ValueError, TypeError), match=r"^bound must be .*got bound="):
        Guarantee(notion=Approximate(delta=0.0), bound=bad, theorem="t")


@pytest.mark.parametrize("bad", [-0.1, 1.0, math.nan, "abc", True])
def test_a_notion_refuses_a_bad_delta_in_one_line(bad):
    with pytest.raises((ValueError, TypeError), match=r"^delta must be .*got delta="):
        Approximate(delta=bad)


def test_notions_are_named_by_their_parameters():
    assert Approximate(delta=0.0).unit == "epsilon"
    assert Approximate(delta=1e-3).unit == "epsilon at delta=0.001"
    assert Renyi(order=math.inf).unit == "Renyi epsilon at order=inf"


@given(
    p=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    q=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    order=st.sampled_from([1.5, 2.0, 7.0]),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_no_test_certifies_more_than_what_is_left_after_trimming(p, q, order, data):
    # Laws with events of mass .9 in advance: the rest, of mass .1, may be anywhere.
    delta = 0.1
    kept = [np.append(0.9 * np.array(w) / sum(w), [0.0, 0.0]) for w in (p, q)]
    first, second = kept[0] + [0, 0, 0, 0, 0.1, 0], kept[1] + [0, 0, 0, 0, 0, 0.1]
    true = max(
        finite_renyi(kept[0] / 0.9, kept[1] / 0.9, order),
        finite_renyi(kept[1] / 0.9, kept[0] / 0.9, order),
    )
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6)))
    tpr, fpr = first[chosen].sum(), second[chosen].sum()
    notion = DeltaApproximateRenyi(order=order, delta=delta)
    assert notion.of_rates(fpr=float(fpr), tpr=float(tpr)) <= true + 1e-9
    assert notion.of_pair(FinitePair(first, second)).lo == 0.0
    assert DeltaApproximateRenyi(order=order, delta=0.0).of_rates(fpr=0.2, tpr=0.6) == Renyi(
        order=order
    ).of_rates(fpr=0.2, tpr=0.6)
