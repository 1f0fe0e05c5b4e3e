"""Values that only one secret can print name it; values that both can tell nothing here."""

import numpy as np
import pytest

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.outside.domain import Domain
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.indistinguishability import PURE
from tests.bench.study.test_ledger import certify


def rankings(n, labels, rng, k=3):
    """The first k of a random order of each world's labels."""
    return np.argsort(rng.random((n, labels)), axis=1)[:, None, :k].astype(float)


def transcript(releases, secret):
    return Transcript(secret=secret, answers=np.zeros((len(secret), 1)), releases=releases)


def fitted(shadow):
    target = Target(mechanism=ExactRelease(), n_secrets=2, laws=None)
    return Domain().fit(shadow, target, np.random.default_rng(0))


def odds(attacker, releases):
    score = attacker.score(releases)
    return score[:, 1] - score[:, 0]


def with_new_label(n, rng):
    """Under the second secret there is a sixth label."""
    secret = np.repeat([0, 1], n)
    return secret, np.concatenate([rankings(n, 5, rng), rankings(n, 6, rng)])


def test_power_a_label_that_one_record_brings_in_names_it():
    rng = np.random.default_rng(0)
    secret, releases = with_new_label(1000, rng)
    attacker = fitted(transcript(releases, secret))
    fresh_secret, fresh = with_new_label(20_000, rng)
    fired = odds(attacker, fresh) > 0
    assert fired[fresh_secret == 1].mean() == pytest.approx(0.5, abs=0.02)  # 3 of 6 are printed
    assert not fired[fresh_secret == 0].any()
    found = odds(attacker, fresh)
    assert certify(fresh_secret, found, (fresh_secret, found), PURE, 1).verdict > 6


def test_power_a_refusal_names_what_was_refused_for():
    rng = np.random.default_rng(1)
    secret = np.repeat([0, 1], 200)
    releases = rankings(400, 5, rng)
    releases[secret == 0] = np.nan  # too few labels: nothing is printed
    attacker = fitted(transcript(releases, secret))
    assert (np.sign(odds(attacker, releases)) == 2 * secret - 1).all()


def test_frequencies_of_values_that_both_print_are_not_used():
    secret = np.repeat([0, 1], 500)
    releases = np.random.default_rng(2).binomial(1, 0.2 + 0.6 * secret)[:, None].astype(float)
    attacker = fitted(transcript(releases, secret))
    assert attacker.values.size == 0
    assert (attacker.score(releases) == 0).all()


def test_null_one_domain_for_both_secrets_certifies_at_most_at_the_nominal_rate():
    certified = 0
    for audit in range(400):
        rng = np.random.default_rng([7, audit])
        secret = np.repeat([0, 1], 100)
        # Thirty labels: some are seen under one secret alone, by chance.
        attacker = fitted(transcript(rankings(200, 30, rng), secret))
        held, fresh = (odds(attacker, rankings(200, 30, rng)) for _ in range(2))
        certified += certify(secret, fresh, (secret, held), PURE, 1).display > 0
    assert certified <= 31


def test_a_continuum_of_values_is_refused_with_the_reason():
    rng = np.random.default_rng(3)
    secret = np.repeat([0, 1], 50)
    with pytest.raises(UnsupportedMechanismError, match="100 shadow worlds print 100 different"):
        fitted(transcript(rng.normal(size=(100, 1)), secret))
    with pytest.raises(UnsupportedMechanismError, match="no release"):
        fitted(transcript(np.empty((100, 0)), secret))
