"""Randomised response on chains: exact loss by listing, by recursion and by brute force."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.claim import InfluenceClaim
from mechanisms.influence.knowledge import CurveKnowledge
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.randomised_response import RandomisedResponse
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.laws.visit_counts import visits_law
from mechanisms.leakage.integer_grid import laplace_lattice
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError
from tests.mechanisms.influence.enumeration import listed, random_chain_law

seeds = st.integers(0, 10**6)


def response(law, epsilon):
    curve = chain_curve(MarkovChain(transition=law.transition, initial=law.initial), law.lengths)
    claim = InfluenceClaim(
        knowledge=CurveKnowledge(curve=curve),
        sensitivity=Sensitivity(l1=1.0, l2=1.0, unit="entry", size=law.lengths[0], dimension=1),
    )
    return RandomisedResponse(states=law.initial.size, epsilon=epsilon, claim=claim)


def brute_force(mechanism, laws, k):
    """Return the pair of laws of k reports, every database and every output listed."""
    states, n = mechanism.states, laws[0].lengths[0]
    outputs = np.array(list(product(range(states), repeat=n * k))).reshape(-1, k, n)
    logs = []
    for law in laws:
        rows, weights = listed(law)
        density = sum(mechanism.log_density(outputs[:, j, None], rows[None]) for j in range(k))
        logs.append(np.log(np.exp(density) @ weights))
    return outputs, FinitePair.from_logs(first=logs[0], second=logs[1])


@given(seed=seeds, epsilon=st.floats(0.05, 4), k=st.integers(1, 2), zeros=st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_number_is_that_of_all_databases_and_reports(seed, epsilon, k, zeros):
    length = 1 + seed % (5 - 2 * (k - 1))
    laws = random_chain_law(seed, length=length, zeros=zeros)[:2]
    if len(laws) < 2:
        return
    mechanism = response(laws[0], epsilon)
    outputs, expected = brute_force(mechanism, laws, k)
    found = mechanism.leakage(*laws, k)
    assert found.first.sum() == pytest.approx(1)
    for ask in (lambda p: p.epsilon(0.0), lambda p: p.accuracy(), lambda p: p.delta(0.2),
                lambda p: p.renyi(2.0)):  # fmt: skip
        assert ask(found).hi == pytest.approx(ask(expected).hi, abs=1e-9)
    for law, logs in zip(laws, expected.logs, strict=True):
        np.testing.assert_allclose(mechanism.marginal_log_density(outputs, law), logs, atol=1e-9)


@given(seed=seeds, epsilon=st.floats(0.05, 4), k=st.integers(1, 2), zeros=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_recursion_for_two_states_finds_the_loss_of_the_listing(seed, epsilon, k, zeros):
    laws = random_chain_law(seed, states=2, length=1 + seed % 7, zeros=zeros)
    if len(laws) < 2:
        return
    mechanism = response(laws[0], epsilon)
    exact, found = mechanism.leakage(*laws, k), mechanism._binary(*laws, k)
    assert found.epsilon(0.0).hi == pytest.approx(exact.epsilon(0.0).hi, abs=1e-9)
    for ask in (lambda p: p.accuracy(), lambda p: p.delta(0.1), lambda p: p.renyi(2.0)):
        assert ask(found).lo - 1e-9 <= ask(exact).hi <= ask(found).hi + 1e-9


@given(seed=seeds, epsilon=st.floats(0.05, 4), k=st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_the_claim_covers_the_exact_loss(seed, epsilon, k):
    laws = random_chain_law(seed, length=1 + seed % 4)[:2]
    mechanism = response(laws[0], epsilon)
    claimed = mechanism.repeated_guarantee(k).bound
    assert mechanism.leakage(*laws, k).epsilon(0.0).hi <= claimed + 1e-9


def test_one_entry_alone_is_reported_at_the_stated_odds():
    law = SequenceLaw(
        transition=np.full((3, 3), 1 / 3), initial=np.full(3, 1 / 3), lengths=(1,), position=1,
        value=0,
    )  # fmt: skip
    mechanism = response(law, 1.3)
    assert mechanism.guarantee.bound == pytest.approx(1.3)
    reports = mechanism.release(np.zeros((60_000, 1)), np.random.default_rng(0))
    true = math.exp(1.3) / (math.exp(1.3) + 2)
    shares = [(reports == v).mean() for v in range(3)]
    assert shares == pytest.approx([true, (1 - true) / 2, (1 - true) / 2], abs=0.01)


def test_a_claim_at_half_the_noise_is_twice_the_claim():
    law = random_chain_law(3, states=2, length=4)[0]
    curve = response(law, 1.0).claim.knowledge.curve
    assert response(law, 2.0).guarantee.bound == curve.pufferfish_epsilon(2.0)
    assert response(law, 2.0).guarantee.bound > response(law, 1.0).guarantee.bound


def test_reports_and_the_noisy_count_of_a_long_chain_lose_the_same():
    """All reports equal, and a count far beyond its range, tilt sequences in the same way."""
    chain = {"transition": np.array([[0.6, 0.4], [0.2, 0.8]]), "initial": np.array([1 / 3, 2 / 3])}
    laws = [SequenceLaw(**chain, lengths=(100,), position=50, value=v) for v in (0, 1)]
    for epsilon in (0.125, 1.0):
        reports = response(laws[0], epsilon).leakage(*laws, 1).epsilon(0.0).hi
        counts = laplace_lattice(*(visits_law(law, 1) for law in laws), np.array([1 / epsilon]))
        assert reports == pytest.approx(counts.epsilon(0.0).hi, rel=1e-9)


def test_too_many_reports_of_three_states_say_why():
    three = random_chain_law(0, states=3, length=20)[:2]
    with pytest.raises(NotComputableError, match=r"3\^20 sequences of reports"):
        response(three[0], 1.0).leakage(*three, 1)
    point = FiniteLaw(atoms=np.array([[0.0]]), weights=np.array([1.0]))
    with pytest.raises(NotComputableError, match="law of a chain"):
        response(three[0], 1.0).leakage(point, point, 1)
    with pytest.raises(NotComputableError, match="law of a chain"):
        response(three[0], 1.0).marginal_log_density(np.zeros((1, 1, 20)), point)
