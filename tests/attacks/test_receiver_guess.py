"""The receiver's expectation of the records: better after the release by what theory says."""

import numpy as np
import pytest

from attacks.base import Guess, Target, Transcript, UnsupportedMechanismError
from attacks.receiver_guess import BayesianReceiver
from bench.metrics.base import Found, Names, NotMeasurableError
from bench.metrics.guesses import ExplainedVariance
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.noise.identity import ExactRelease

RNG = np.random.default_rng(0)
NAMES = Names(secrets=("a",), pairs=(), statistics=())
SIZE = 4


def worlds(n, rng):
    root = np.array([[1.0, 0.0], [0.6, 0.8]])
    records = rng.normal(size=(n, SIZE, 2)) @ root.T + [1.0, -2.0]
    answers = records.mean(axis=1)
    return Transcript(secret=np.zeros(n, dtype=int), answers=answers, database=records)


def explained(mechanism, when="after", n=4000, k=1):
    rng = np.random.default_rng(3)
    shadow, test = worlds(4000, rng), worlds(n, rng)
    target = Target(mechanism=mechanism, n_secrets=1, laws=None)
    attacker = BayesianReceiver(when=when).fit(shadow, target, rng)
    seen = test.answers if mechanism.sees == "answers" else test.database
    releases = np.stack([mechanism.release(seen, rng) for _ in range(k)], axis=1)
    output = attacker.guess(releases)
    game = Found(worlds=test, output=output)
    return ExplainedVariance().estimate([game], NAMES, rng)[""]


def test_the_mean_of_four_explains_a_quarter_of_each_entry():
    """R^2 = 1/n for the mean of independent records of one law, both attributes released."""
    exact = explained(LinearStatistics.of_records(np.eye(2) / SIZE, size=SIZE))
    assert exact.lower < 1 / SIZE < exact.upper
    assert explained(ExactRelease()).value == pytest.approx(exact.value, abs=1e-9)


def test_before_the_release_nothing_is_explained():
    before = explained(ExactRelease(), when="before")
    assert before.value == pytest.approx(0, abs=0.005)


def test_noise_leaves_less_and_its_average_leaves_more():
    noisy = LinearStatistics(matrix=np.tile(np.eye(2) / SIZE, SIZE), noise=np.eye(2))
    once, often = explained(noisy), explained(noisy, k=200)
    assert 0 < once.value < 0.1
    assert 0.23 < often.value < 0.26


def test_what_it_cannot_read_is_refused():
    target = Target(mechanism=ExactRelease(), n_secrets=1, laws=None)
    without = Transcript(secret=np.zeros(2, dtype=int), answers=np.zeros((2, 1)))
    with pytest.raises(UnsupportedMechanismError, match="no records"):
        BayesianReceiver().fit(without, target, RNG)
    other = worlds(50, RNG)
    squares = Transcript(secret=other.secret, answers=other.answers**2, database=other.database)
    with pytest.raises(UnsupportedMechanismError, match="no sums over the records"):
        BayesianReceiver().fit(squares, target, RNG)
    with pytest.raises(ValueError, match="when must be 'before' or 'after'"):
        BayesianReceiver(when="later")


def test_constant_and_open_entries_have_no_score():
    test = worlds(10, RNG)
    flat = Transcript(secret=test.secret, answers=test.answers, database=np.ones((10, 4, 2)))
    guess = Guess(values=np.ones((10, 8)))
    with pytest.raises(NotMeasurableError, match="constant"):
        ExplainedVariance().estimate([Found(worlds=flat, output=guess)], NAMES, RNG)
    unknown = Guess(values=np.full((10, 8), np.nan))
    with pytest.raises(NotMeasurableError, match="left open"):
        ExplainedVariance().estimate([Found(worlds=test, output=unknown)], NAMES, RNG)
