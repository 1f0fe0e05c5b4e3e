"""Reconstruction as attacks of the cross: nulls, powers, optimality, what they refuse."""

import math

import numpy as np
import pytest

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.reconstruction.guesses import Averaging, ExactPosterior, RepeatedRuns
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.identity import ExactRelease
from tests.attacks.reconstruction.examples import EXAMPLES, drawn
from tests.attacks.reconstruction.noises import laplace

RNG = np.random.default_rng


def worlds(rows):
    return Transcript(secret=np.zeros(len(rows), dtype=np.int64), answers=rows, database=rows)


def target(mechanism, *laws):
    return Target(mechanism=mechanism, n_secrets=max(1, len(laws)), laws=laws or None)


def runs(mechanism, rows, k, rng):
    return np.stack([mechanism.release(rows, rng) for _ in range(k)], axis=1)


@pytest.mark.parametrize("name", EXAMPLES)
def test_repeated_runs_are_right_whenever_certain_and_the_posterior_is_never_worse(name):
    mechanism, _, (rows, prior) = EXAMPLES[name]
    rng = RNG(2)
    truth = drawn(name, 3000, rng)
    seen = runs(mechanism, truth, 4, rng)
    shadow, known = worlds(truth), target(mechanism, FiniteLaw(atoms=rows, weights=prior))
    certain = RepeatedRuns().fit(shadow, known, rng).guess(seen)
    told = certain.revealed_at > 0
    assert 0.5 < told.mean() < 1
    assert (certain.values[told] == truth[told]).all()
    assert (certain.values[~told] == -1).all()
    likeliest = ExactPosterior().fit(shadow, known, rng).guess(seen)
    assert likeliest.of == "database"
    assert (likeliest.values[told] == truth[told]).all()
    assert (likeliest.values == truth).mean() >= told.mean()


def test_one_run_tells_nothing_of_any_uniform_bit():
    mechanism, _, (rows, prior) = EXAMPLES["parity of 3"]
    rng = RNG(3)
    truth = drawn("parity of 3", 4000, rng)
    seen = runs(mechanism, truth, 1, rng)
    known = target(mechanism, FiniteLaw(atoms=rows, weights=prior))
    assert (RepeatedRuns().fit(worlds(truth), known, rng).guess(seen).values == -1).all()
    right = ExactPosterior().fit(worlds(truth), known, rng).guess(seen).values == truth
    assert (np.abs(right.mean(axis=0) - 0.5) < 5 * 0.5 / math.sqrt(4000)).all()


def test_averaging_and_the_posterior_find_the_answer_in_the_end_and_not_in_noise():
    rng = RNG(4)
    values = np.arange(6.0)[:, None]
    law = FiniteLaw(atoms=values, weights=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    truth = law.sample(2000, rng)
    found = {}
    for scale in (1.0, 1e6):
        mechanism = laplace(scale)
        seen = runs(mechanism, truth, 60, rng)
        for name, attack in (("mean", Averaging()), ("posterior", ExactPosterior())):
            guess = attack.fit(worlds(truth), target(mechanism, law), rng).guess(seen)
            assert guess.of == "answers"
            found[name, scale] = (guess.values == truth).mean()
    assert found["mean", 1.0] > 0.95
    assert found["posterior", 1.0] > found["mean", 1.0] - 0.01
    assert found["posterior", 1e6] == pytest.approx((truth == 0).mean())  # the prior alone
    assert found["mean", 1e6] < 0.45


def test_averaging_rounds_to_whole_numbers_where_no_finite_law_is_known():
    rng = RNG(5)
    truth = rng.integers(0, 9, (300, 4)).astype(float)
    normal = GaussianLaw(mean=np.zeros(4), covariance=np.eye(4))
    mechanism = ExactRelease()
    guess = Averaging().fit(worlds(truth), target(mechanism, normal), rng)
    assert (guess.guess(truth[:, None] + 0.2).values == truth).all()


@pytest.mark.parametrize(
    ("attack", "mechanism", "answers", "laws", "reason"),
    [
        (RepeatedRuns(), ExactRelease(), [[1.0]], [], "the mechanism is none that collapses"),
        (Averaging(), EXAMPLES["cases"][0], [[1.0]], [], "works on records: no answer is averaged"),
        (Averaging(), ExactRelease(), [[0.5]], [], "neither finitely many nor whole numbers"),
        (ExactPosterior(), ExactRelease(), [[1.0]], [], "the scenario offers no answer law"),
        (ExactPosterior(), ExactRelease(), [[1.0]],
         [GaussianLaw(mean=np.zeros(1), covariance=np.eye(1))], "laws are not finite"),
    ],
)  # fmt: skip
def test_what_an_attack_cannot_run_against_is_told(attack, mechanism, answers, laws, reason):
    with pytest.raises(UnsupportedMechanismError, match=reason):
        attack.fit(worlds(np.array(answers)), target(mechanism, *laws), RNG(0))
