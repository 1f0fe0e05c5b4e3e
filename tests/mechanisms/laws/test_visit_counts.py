"""Exact laws of counts against the enumeration of all sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotOfferedError
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.laws.visit_counts import histogram_law, visits_law
from tests.mechanisms.influence.enumeration import listed, random_chain_law

seeds = st.integers(0, 10**6)


@given(seed=seeds, zeros=st.booleans())
@settings(max_examples=40, deadline=None)
def test_visits_and_histograms_are_those_of_all_sequences(seed, zeros):
    for law in random_chain_law(seed, zeros=zeros):
        rows, weights = listed(law)
        counts = np.stack([(rows == s).sum(axis=1) for s in range(law.initial.size)], axis=1)
        found = visits_law(law, 0)
        for atom, weight in zip(found.atoms[:, 0], found.weights, strict=True):
            assert weight == pytest.approx(weights[counts[:, 0] == atom].sum(), abs=1e-12)
        assert found.weights.sum() == pytest.approx(1)
        table = histogram_law(law)
        for atom, weight in zip(table.atoms, table.weights, strict=True):
            assert weight == pytest.approx(weights[(counts == atom).all(axis=1)].sum(), abs=1e-12)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_counts_of_several_sequences_are_convolved(seed):
    law = random_chain_law(seed, length=3, lengths=(3, 2))[0]
    one = SequenceLaw(
        transition=law.transition, initial=law.initial, lengths=(3,), position=law.position,
        value=law.value,
    )  # fmt: skip
    alone = visits_law(one, 0)
    other = {0: 0.0, 1: 0.0, 2: 0.0}
    for x in range(law.initial.size):
        for y in range(law.initial.size):
            other[(x == 0) + (y == 0)] += law.initial[x] * law.transition[x, y]
    expected = np.zeros(6)
    for atom, weight in zip(alone.atoms[:, 0], alone.weights, strict=True):
        for more, share in other.items():
            expected[int(atom) + more] += weight * share
    found = visits_law(law, 0)
    np.testing.assert_allclose(found.weights, expected[found.atoms[:, 0].astype(int)])


def test_tails_keep_their_relative_accuracy():
    chain = {"transition": np.array([[0.6, 0.4], [0.2, 0.8]]), "initial": np.array([1 / 3, 2 / 3])}
    law = visits_law(SequenceLaw(**chain, lengths=(100,), position=50, value=0), 1)
    assert law.weights[0] == pytest.approx(0.6**99, rel=1e-10)  # never in state 1
    assert law.atoms[-1, 0] == 99


def test_histograms_beyond_reach_say_why():
    chain = {"transition": np.full((5, 5), 0.2), "initial": np.full(5, 0.2)}
    with pytest.raises(NotOfferedError, match="5 states and 100 steps needs more than"):
        histogram_law(SequenceLaw(**chain, lengths=(100,), position=1, value=0))
    with pytest.raises(NotOfferedError, match="one sequence only"):
        histogram_law(SequenceLaw(**chain, lengths=(3, 3), position=1, value=0))
