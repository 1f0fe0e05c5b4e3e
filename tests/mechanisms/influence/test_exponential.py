"""The exponential mechanism: per-entry privacy, exact leakage and samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.exponential import ExponentialChoice
from mechanisms.influence.knowledge import Candidates
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.privacy.bracket import NotComputableError

seeds = st.integers(0, 10**6)


def nearest(n, epsilon):
    candidates = Candidates(values=np.arange(n + 1.0), utility="nearest", sensitivity=1.0)
    return ExponentialChoice(candidates=candidates, epsilon=epsilon, claim=None)


def largest(m, epsilon):
    candidates = Candidates(values=np.arange(float(m)), utility="largest", sensitivity=1.0)
    return ExponentialChoice(candidates=candidates, epsilon=epsilon, claim=None)


@given(epsilon=st.floats(0.05, 5), n=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_neighbouring_counts_are_within_epsilon(epsilon, n):
    logs = nearest(n, epsilon).log_probabilities(np.arange(n + 1.0)[:, None])
    assert np.exp(logs).sum(axis=1) == pytest.approx(1)
    assert np.abs(np.diff(logs, axis=0)).max() <= epsilon + 1e-12


def test_neighbouring_histograms_reach_epsilon_and_no_more():
    """The factor 2 is tight: one count falls while another rises."""
    logs = largest(2, 1.0).log_probabilities(np.array([[0.0, 60.0], [1.0, 59.0]]))
    assert np.abs(logs[0] - logs[1]).max() == pytest.approx(1.0)


@given(seed=seeds, epsilon=st.floats(0.1, 3), k=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_leakage_is_that_of_all_outputs_listed_one_by_one(seed, epsilon, k):
    rng = np.random.default_rng(seed)
    mechanism = nearest(3, epsilon)
    laws = [
        FiniteLaw(atoms=np.arange(4.0)[:, None], weights=rng.dirichlet(np.ones(4)))
        for _ in range(2)
    ]
    channel = np.exp(mechanism.log_probabilities(np.arange(4.0)[:, None]))
    grids = np.array(np.meshgrid(*[np.arange(4)] * k)).reshape(k, -1)
    mass = [law.weights @ np.prod([channel[:, row] for row in grids], axis=0) for law in laws]
    found = mechanism.leakage(*laws, k)
    assert found.epsilon(0.0).hi == pytest.approx(np.abs(np.log(mass[0] / mass[1])).max())
    assert found.accuracy().hi == pytest.approx(0.5 + np.abs(mass[0] - mass[1]).sum() / 4)


def test_releases_have_the_stated_frequencies_and_density():
    mechanism = nearest(4, 1.5)
    drawn = mechanism.release(np.full((60_000, 1), 1.0), np.random.default_rng(0))
    assert drawn.shape == (60_000, 1)
    expected = np.exp(mechanism.log_probabilities(np.array([[1.0]]))[0])
    seen = [(drawn == v).mean() for v in range(5)]
    assert seen == pytest.approx(expected, abs=0.01)
    answers = np.array([[[0.0], [3.0]]])
    density = mechanism.log_density(drawn[:7, None], answers)
    for row, value in zip(density, drawn[:7, 0].astype(int), strict=True):
        assert row == pytest.approx(mechanism.log_probabilities(answers[0])[:, value])


def test_values_in_any_order_are_looked_up_right():
    candidates = Candidates(values=np.array([2.0, 0.0, 1.0]), utility="nearest", sensitivity=1.0)
    mechanism = ExponentialChoice(candidates=candidates, epsilon=1.0, claim=None)
    logs = mechanism.log_density(np.array([[[0.0]], [[2.0]]]), np.array([[[0.0]]]))
    assert logs[0, 0] - logs[1, 0] == pytest.approx(1.0)


def test_what_cannot_be_listed_says_why():
    flat = FiniteLaw(atoms=np.arange(101.0)[:, None], weights=np.full(101, 1 / 101))
    with pytest.raises(NotComputableError, match=r"101 outputs in 3 release\(s\)"):
        nearest(100, 1.0).leakage(flat, flat, 3)
    bell = GaussianLaw(mean=np.zeros(1), covariance=np.eye(1))
    with pytest.raises(NotComputableError, match="finitely many answers"):
        nearest(2, 1.0).leakage(bell, bell, 1)


def test_bad_candidates_are_refused():
    with pytest.raises(ValueError, match="utility must be"):
        Candidates(values=np.arange(2.0), utility="best", sensitivity=1.0)
    with pytest.raises(ValueError, match="distinct numbers"):
        Candidates(values=np.zeros(2), utility="nearest", sensitivity=1.0)
    with pytest.raises(ValueError, match="sensitivity must be in"):
        Candidates(values=np.arange(2.0), utility="nearest", sensitivity=0.0)
