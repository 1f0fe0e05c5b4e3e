"""Sequences of a chain given one entry: what is drawn and what is likely, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.sequence import SequenceLaw
from tests.mechanisms.influence.enumeration import listed, random_chain_law

seeds = st.integers(0, 10**6)


@given(seed=seeds, zeros=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_forward_recursion_sums_over_all_sequences(seed, zeros):
    for law in random_chain_law(seed, zeros=zeros):
        rows, weights = listed(law)
        rng = np.random.default_rng(seed)
        logs = rng.normal(size=(3, law.lengths[0], law.initial.size))
        seen = np.array([[x[np.arange(len(r)), r].sum() for r in rows] for x in logs])
        expected = np.log((np.exp(seen) * weights).sum(axis=1))
        np.testing.assert_allclose(law.log_likelihood(logs), expected, rtol=1e-9, atol=1e-9)


def test_drawn_sequences_have_the_enumerated_frequencies():
    """8 laws of up to 243 sequences each; 5.5 sigma a sequence keeps false alarms below 1e-4."""
    for seed in range(4):
        for law in random_chain_law(seed, zeros=seed == 3, length=4)[:2]:
            rows, weights = listed(law)
            drawn = law.sample(40_000, np.random.default_rng(seed))
            k = law.initial.size
            code = k ** np.arange(rows.shape[1])
            counts = np.bincount(drawn @ code, minlength=k ** rows.shape[1])[rows @ code]
            deviation = np.sqrt(weights * (1 - weights) * 40_000) + 1e-9
            assert (np.abs(counts - weights * 40_000) <= 5.5 * deviation + 1).all()
            assert (counts[weights == 0] == 0).all()
            assert (drawn[:, law.position - 1] == law.value).all()


def test_further_sequences_start_anew_and_know_nothing():
    law = SequenceLaw(
        transition=np.array([[0.9, 0.1], [0.1, 0.9]]), initial=np.array([0.5, 0.5]),
        lengths=(3, 2), position=3, value=1,
    )  # fmt: skip
    drawn = law.sample(40_000, np.random.default_rng(0))
    assert drawn.shape == (40_000, 5)
    assert drawn[:, 1].mean() == pytest.approx(0.9, abs=0.01)
    assert drawn[:, 3].mean() == pytest.approx(0.5, abs=0.015)
    assert (drawn[:, 3] == drawn[:, 4]).mean() == pytest.approx(0.9, abs=0.01)
    nothing_seen = np.zeros((1, 5, 2))
    assert law.log_likelihood(nothing_seen) == pytest.approx(0.0)


def test_impossible_states_and_places_are_refused():
    chain = {"transition": np.array([[1.0, 0.0], [0.5, 0.5]]), "initial": np.array([1.0, 0.0])}
    with pytest.raises(ValueError, match="state 1 is impossible at position 2"):
        SequenceLaw(**chain, lengths=(3,), position=2, value=1)
    with pytest.raises(ValueError, match="position must lie in the first sequence"):
        SequenceLaw(**chain, lengths=(3,), position=4, value=0)
    with pytest.raises(ValueError, match="value must be a state below 2"):
        SequenceLaw(**chain, lengths=(3,), position=1, value=2)
    with pytest.raises(ValueError, match="shapes"):
        SequenceLaw(
            transition=np.eye(3), initial=np.array([1.0, 0.0]), lengths=(1,), position=1, value=0
        )
