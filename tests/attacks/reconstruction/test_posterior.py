import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.reconstruction.posterior import (
    answer_posterior,
    averaged,
    entry_posterior,
    log_likelihood,
)
from mechanisms.laws.finite import FiniteLaw
from tests.attacks.reconstruction.noises import gaussian, laplace

few = settings(max_examples=40, deadline=None)


def points(*prior):
    return FiniteLaw(atoms=np.arange(len(prior), dtype=float)[:, None], weights=np.array(prior))


@few
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.floats(0.1, 5), st.floats(0.1, 0.9))
def test_laplace_noise_on_zero_and_one_has_its_closed_form(releases, scale, share):
    z = np.array(releases)
    found = answer_posterior(laplace(scale), z.reshape(1, -1, 1), points(1 - share, share))
    odds = share / (1 - share) * np.exp((np.abs(z) - np.abs(z - 1)).sum() / scale)
    assert found[0, 1] == pytest.approx(odds / (1 + odds), rel=1e-9)


@few
@given(st.integers(0, 2**31), st.integers(1, 6), st.floats(0.3, 4))
def test_gaussian_releases_tell_what_their_average_tells(seed, k, deviation):
    rng = np.random.default_rng(seed)
    law = points(*rng.dirichlet(np.ones(4)))
    seen = rng.normal(1, deviation, (3, k, 1))
    one = gaussian(deviation / np.sqrt(k))
    together = answer_posterior(gaussian(deviation), seen, law)
    assert together == pytest.approx(answer_posterior(one, seen.mean(1, keepdims=True), law))


def test_no_release_leaves_the_prior():
    law = points(0.2, 0.3, 0.5)
    found = answer_posterior(laplace(1.0), np.zeros((2, 0, 1)), law)
    assert found == pytest.approx(np.tile(law.weights, (2, 1)))


def test_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    seen, support = rng.normal(size=(50, 3, 1)), np.arange(7.0)[:, None]
    whole = log_likelihood(laplace(1.0), seen, support)
    monkeypatch.setattr("attacks.reconstruction.posterior.CHUNK", 20)
    assert (log_likelihood(laplace(1.0), seen, support) == whole).all()


def test_entries_are_marginals_of_databases():
    databases = np.array([[0, 1], [1, 1], [2, 0]])
    found = entry_posterior(np.array([[0.5, 0.3, 0.2]]), databases, 3)
    assert found[0] == pytest.approx(np.array([[0.5, 0.3, 0.2], [0.2, 0.8, 0.0]]))


def test_averaging_finds_the_count_and_useless_noise_hides_it():
    rng = np.random.default_rng(6)
    support = np.arange(21.0)[:, None]
    truth = rng.integers(0, 21, 300)

    def hits(scale, days):
        mechanism = laplace(scale)
        seen = np.stack([mechanism.release(support[truth], rng) for _ in range(days)], axis=1)
        return (averaged(seen, support) == truth).mean()

    assert hits(2.0, 1) < 0.4
    assert hits(2.0, 200) > 0.95
    assert hits(1e6, 200) < 0.15
