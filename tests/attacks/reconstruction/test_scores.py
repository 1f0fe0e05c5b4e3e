import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.reconstruction.posterior import secret_posterior
from attacks.reconstruction.scores import (
    fraction_reconstructed,
    gain_over_prior,
    odds_gained,
    whole_database,
)
from tests.attacks.reconstruction.noises import laplace

few = settings(max_examples=50, deadline=None)


def test_unknown_entries_are_not_right():
    truth = np.array([[0, 1, 1], [0, 0, 0]])
    guess = np.array([[0, -1, 1], [0, 0, 0]])
    assert fraction_reconstructed(guess, truth).tolist() == pytest.approx([2 / 3, 1])
    assert whole_database(guess, truth).tolist() == [False, True]
    assert gain_over_prior(guess, truth, np.zeros(3, int)).tolist() == pytest.approx([1 / 3, 0])


def test_the_prior_alone_gains_nothing():
    rng = np.random.default_rng(0)
    truth, prior = rng.integers(0, 3, (50, 7)), rng.integers(0, 3, 7)
    assert (gain_over_prior(np.tile(prior, (50, 1)), truth, prior) == 0).all()


@few
@given(st.integers(0, 2**31), st.floats(0.2, 5), st.integers(1, 5))
def test_laplace_noise_moves_the_odds_by_at_most_its_epsilon(seed, scale, releases):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(3))
    mechanism, answers = laplace(scale), np.array([[0.0], [0.5], [1.0]])
    truth = answers[rng.integers(0, 3, 20)]
    seen = np.stack([mechanism.release(truth, rng) for _ in range(releases)], axis=1)
    logs = mechanism.log_density(seen[:, :, None], answers[None, None]).sum(axis=1)
    moved = odds_gained(secret_posterior(logs, prior), prior)
    assert (moved <= releases / scale + 1e-9).all()
    assert (moved >= 0).all()


def test_an_excluded_secret_moves_the_odds_without_bound():
    assert odds_gained(np.array([[1.0, 0.0], [0.5, 0.5]]), [0.5, 0.5]).tolist() == [math.inf, 0]
    assert odds_gained(np.array([[0.25, 0.75, 0.0]]), [0.5, 0.5, 0.0])[0] == pytest.approx(
        math.log(3)
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: fraction_reconstructed(np.zeros((2, 3)), np.zeros((3, 2))), "guesses and truth"),
        (lambda: odds_gained(np.ones((1, 3)) / 3, [0.5, 0.5]), "one column a secret"),
        (lambda: odds_gained(np.ones((1, 2)) / 2, [0.5, 0.6]), "prior must be non-negative"),
        (lambda: secret_posterior(np.zeros((1, 3)), [0.5, 0.5]), "prior must have one entry"),
        (
            lambda: secret_posterior(np.full((1, 2), -np.inf), [0.5, 0.5]),
            "releases must be possible",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(build, message):
    with pytest.raises(ValueError, match=message):
        build()
