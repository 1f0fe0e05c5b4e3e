import math

import numpy as np
import pytest

from attacks.base import Target, Transcript
from attacks.majority import Majority
from mechanisms.noise.identity import ExactRelease


def scores(secret, n_secrets=2, n=3):
    secret = np.array(secret)
    shadow = Transcript(
        secret=secret, answers=np.zeros((secret.size, 1)), releases=np.zeros((secret.size, 1, 1))
    )
    target = Target(mechanism=ExactRelease(), n_secrets=n_secrets, laws=None)
    attacker = Majority().fit(shadow, target, np.random.default_rng(0))
    return attacker.score(np.random.default_rng(1).normal(size=(n, 1, 1)))


def test_scores_are_the_log_shares_of_the_shadow_worlds():
    found = scores([0, 0, 0, 1])
    assert found.shape == (3, 2)
    assert np.exp(found) == pytest.approx(np.tile([0.75, 0.25], (3, 1)))


def test_the_release_is_ignored():
    found = scores([1, 1, 0], n=50)
    assert (found == found[0]).all()
    assert not Majority().adaptive
    assert Majority().trained


def test_a_secret_that_never_occurs_is_impossible_without_a_warning():
    assert scores([0, 2, 2], 4)[0].tolist() == [
        pytest.approx(math.log(1 / 3)),
        -math.inf,
        pytest.approx(math.log(2 / 3)),
        -math.inf,
    ]


def test_equal_counts_are_a_tie():
    assert len(set(scores([0, 1, 1, 0])[0])) == 1
