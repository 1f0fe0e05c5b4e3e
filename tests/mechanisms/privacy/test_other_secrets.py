"""Groups, neighbours, curves and couplings: what must hold, and the cases where it does not."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.group_privacy import replaced_units
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import chain_curve
from mechanisms.leakage.pair import FinitePair, GaussianShift, PostProcessed, finite_renyi
from mechanisms.privacy.assumptions import Assumptions, Condition, Neighbours, Priors, Secrets
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee, NotComparable
from mechanisms.privacy.indistinguishability import PURE, Approximate, Probabilistic, Renyi
from mechanisms.privacy.other_secrets import (
    group_delta,
    speaks_of,
    through_coupling,
    through_curve,
    to_distributions,
    to_group,
    to_replacement,
)

RECORD = replaced_units("record", 1)
ENTRY = replaced_units("entry", 1)
ADDED = Assumptions(
    secrets=Secrets.DATABASES,
    neighbours=Neighbours(relation="add or remove", unit="record"),
    priors=Priors.ANY,
)
PROPERTY = Assumptions(secrets=Secrets.DISTRIBUTIONS)


def said(notion, bound, assumptions=RECORD):
    return Guarantee(notion=notion, bound=bound, theorem="t", assumptions=assumptions)


@st.composite
def chains_of_laws(draw):
    """Laws of the outputs for k + 1 databases, each a neighbour of the next."""
    size, k = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    counts = st.lists(st.integers(1, 30), min_size=size, max_size=size)
    laws = [np.array(draw(counts), dtype=float) for _ in range(k + 1)]
    return [law / law.sum() for law in laws]


@given(laws=chains_of_laws(), delta=st.sampled_from([0.0, 1e-3, 0.02]))
@settings(max_examples=150, deadline=None)
def test_a_group_costs_what_the_chain_of_its_members_does(laws, delta):
    steps = [FinitePair(p, q) for p, q in itertools.pairwise(laws)]
    single = max(pair.epsilon(delta).hi for pair in steps)
    found = to_group(said(Approximate(delta=delta), single), len(steps))
    if isinstance(found, NotComparable):
        assert delta > 0
        return
    assert found.assumptions.neighbours.size == len(steps)
    ends = FinitePair(laws[0], laws[-1])
    assert ends.delta(found.bound).hi <= found.notion.delta + 1e-9


@given(laws=chains_of_laws(), order=st.sampled_from([4.0, 8.0, 9.5, 16.0]))
@settings(max_examples=100, deadline=None)
def test_a_group_has_another_renyi_order(laws, order):
    steps = list(itertools.pairwise(laws))
    ways = [*steps, *((q, p) for p, q in steps)]
    single = max(finite_renyi(p, q, order) for p, q in ways)
    found = to_group(said(Renyi(order=order), single), len(steps))
    if isinstance(found, NotComparable):
        assert order < 2 ** (math.ceil(math.log2(len(steps))) + 1)
        return
    assert FinitePair(laws[0], laws[-1]).renyi(found.notion.order).hi <= found.bound + 1e-9


def test_the_delta_of_a_group_is_not_k_delta():
    """Ten records at 10 x .633906: .0854 is true, .638 by the chain; k delta says .01."""
    distance = GaussianShift(0.264797)
    assert distance.epsilon(0.001).hi == pytest.approx(0.633906, abs=1e-5)
    true = GaussianShift(2.64797).delta(6.33906).hi
    assert true == pytest.approx(0.0854, abs=2e-4)
    assert true > 10 * 0.001
    found = to_group(said(Approximate(delta=0.001), 0.633906), 10)
    assert found.notion.delta == pytest.approx(0.639, abs=2e-3)
    assert found.notion.delta >= true
    assert isinstance(to_group(said(Approximate(delta=0.01), 1.0), 10), NotComparable)
    assert group_delta(0.0, 0.01, 3) == pytest.approx(0.03)
    assert group_delta(1.0, 0.0, 3) == 0.0
    assert group_delta(400.0, 1e-9, 2) == math.inf


def test_replacing_is_removing_and_adding():
    found = to_replacement(said(PURE, 0.7, ADDED))
    assert found.bound == pytest.approx(1.4)
    assert found.assumptions.neighbours == RECORD.neighbours
    # At the same epsilon it is false: noise K = [[1, .9], [.9, 1]], a move of (1, -1).
    covariance = np.array([[1, 0.9], [0.9, 1]])
    distance = [math.sqrt(v @ np.linalg.solve(covariance, v)) for v in ([1, 0], [1, -1])]
    assert distance == pytest.approx([2.29416, 4.47214], abs=1e-5)
    assert distance[1] <= 2 * distance[0]
    assert isinstance(to_replacement(said(PURE, 0.7)), NotComparable)
    assert isinstance(speaks_of(said(PURE, 0.7, ADDED), RECORD), NotComparable)


def test_only_pure_entries_pass_through_a_curve():
    chain = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
    curve = chain_curve(chain, 60)
    found = through_curve(said(PURE, 0.1254, ENTRY), curve)
    assert found.bound == pytest.approx(1.0, abs=1e-3)
    assert found.assumptions.secrets == Secrets.VALUES
    assert found.assumptions.priors == Priors.CURVE
    for notion in (Approximate(delta=1e-6), Renyi(order=50.0), Probabilistic(delta=0.1)):
        reason = through_curve(said(notion, 0.1, ENTRY), curve).reason
        assert reason == "only pure per-entry privacy passes through an influence curve"
    assert "replacing one entry" in through_curve(said(PURE, 0.1), curve).reason
    assert "replacing one entry" in through_curve(said(PURE, 0.1, PROPERTY), curve).reason


def test_an_approximate_entry_guarantee_fails_through_a_curve():
    """Three entries that agree: a mechanism with (0, delta) per entry tells the secret at delta.

    It reveals the database with probability delta and nothing else, so (0, delta) holds for
    every entry; through a curve that is 0 from b = 3 on one would claim pure privacy.
    """
    delta = 0.01
    same = FinitePair(
        np.array([delta, 0.0, 1 - delta]), np.array([0.0, delta, 1 - delta])
    )  # all 0, all 1, nothing
    assert same.epsilon(delta).hi == 0.0
    assert same.epsilon(0.0).hi == math.inf


def test_databases_that_couple_within_a_group_lend_their_guarantee():
    group = said(PURE, 1.0, replaced_units("record", 10))
    found = through_coupling(group, 10)
    assert (found.bound, found.assumptions.secrets) == (1.0, Secrets.DISTRIBUTIONS)
    # Record privacy says nothing about 45 against 55 of 100 at the same epsilon.
    refused = through_coupling(said(PURE, 1.0), 10)
    assert "take it to a group first" in refused.reason
    assert through_coupling(to_group(said(PURE, 0.1), 10), 10).bound == pytest.approx(1.0)
    assert isinstance(through_coupling(said(PURE, 1.0, ADDED), 1), NotComparable)
    assert isinstance(through_coupling(said(Probabilistic(delta=0.1), 1.0), 1), NotComparable)


@given(data=st.data(), order=st.sampled_from([0.5, 1.0, 2.0, math.inf]))
@settings(max_examples=60, deadline=None)
def test_mixtures_of_neighbours_are_no_farther_apart(data, order):
    counts = st.lists(st.integers(1, 9), min_size=3, max_size=3)
    sides = [np.array([data.draw(counts) for _ in range(4)], dtype=float) for _ in range(2)]
    p, q = (side / side.sum(axis=1, keepdims=True) for side in sides)
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=4, max_size=4)), dtype=float)
    weights /= weights.sum()
    worst = max(finite_renyi(a, b, order) for a, b in zip(p, q, strict=True))
    assert finite_renyi(weights @ p, weights @ q, order) <= worst + 1e-9


def test_merged_outputs_lose_probabilistic_privacy():
    """Merging two outputs: the loss exceeds log 2 with probability .7 where it was .1."""
    p, q = np.array([0.1, 0.6, 0.3, 0.0]), np.array([0.0, 0.3, 0.6, 0.1])
    delta = 0.1 + 1e-12  # the loss is infinite with probability .1
    assert FinitePair(p, q).loss_quantile(delta).hi == pytest.approx(math.log(2))
    merged = [np.array([x[0] + x[1], x[2], x[3]]) for x in (p, q)]
    assert FinitePair(*merged).loss_quantile(delta).hi == pytest.approx(math.log(0.7 / 0.3))
    with pytest.raises(NotComputableError, match="law of the privacy loss is not known"):
        Probabilistic(delta=0.1).of_pair(PostProcessed(FinitePair(p, q)))
    group = said(Probabilistic(delta=0.1), math.log(2), replaced_units("record", 10))
    assert "not kept by mixtures" in through_coupling(group, 10).reason


def test_pufferfish_is_distribution_privacy_of_its_own_conditional_laws_only():
    pufferfish = said(PURE, 1.0, Assumptions())
    assert to_distributions(pufferfish, conditional_laws=True).name == "distribution privacy"
    assert "not the conditional laws" in to_distributions(pufferfish, conditional_laws=False).reason
    assert isinstance(to_distributions(said(PURE, 1.0), conditional_laws=True), NotComparable)


def test_what_a_guarantee_speaks_of():
    group = said(PURE, 1.0, replaced_units("record", 10))
    assert speaks_of(group, RECORD) is group
    for guarantee, wanted in (
        (said(PURE, 1.0, PROPERTY), RECORD),  # property -> membership
        (said(PURE, 1.0), PROPERTY),  # record -> property
        (said(PURE, 1.0), replaced_units("record", 2)),
        (said(PURE, 1.0), ENTRY),
        (said(PURE, 1.0, Assumptions()), Assumptions(priors=Priors.ANY)),  # average -> informed
    ):
        assert isinstance(speaks_of(guarantee, wanted), NotComparable)


def test_assumptions_are_told_in_words():
    told = str(replaced_units("entry", 3, (Condition.REAL_NUMBERS,)))
    assert "neighbours: replace a group of 3 entries" in told
    assert "condition: floating-point sampling" in told
    assert "the number of units is public" in told
    assert str(Assumptions()).startswith("secrets: values of a secret")
    with pytest.raises(ValueError, match="needs the unit"):
        Neighbours(relation="replace")
    with pytest.raises(ValueError, match="relation must be one of"):
        Neighbours(relation="swap", unit="record")


def test_the_names_of_guarantees_are_the_fields():
    assert said(PURE, 1.0).name == "differential privacy"
    assert said(PURE, 1.0, replaced_units("record", 5)).name == "group differential privacy"
    assert said(Renyi(order=2.0), 1.0, Assumptions()).name == "Renyi Pufferfish privacy"
    assert said(Approximate(delta=0.1), 1.0, PROPERTY).name == "distribution privacy"
