import math

import numpy as np
import pytest
from scipy.stats import binom

from attacks.base import Guess, Transcript
from bench.core.intervals import clopper_pearson
from bench.metrics.base import Found, Names, NotMeasurableError, Scored
from bench.metrics.reconstruction import (
    FractionReconstructed,
    GainOverPrior,
    OddsGained,
    RunsUntilCertain,
    WholeDatabase,
    quantile,
)

NAMES = Names(secrets=("a", "b", "c"), pairs=((0, 1), (1, 2)), statistics=("x",))


def found(truth, guess, revealed_at=None):
    truth, guess = np.array(truth), np.array(guess)
    worlds = Transcript(secret=np.zeros(len(truth), dtype=int), answers=truth, database=truth)
    at = None if revealed_at is None else np.array(revealed_at)
    return Found(worlds=worlds, output=Guess(values=guess, revealed_at=at))


def estimate(metric, *games):
    return metric.estimate(list(games), NAMES, np.random.default_rng(0))


def test_shares_count_entries_and_whole_rows_and_open_entries_are_not_right():
    game = found([[0, 1], [1, 1], [1, 0]], [[0, 1], [1, -1], [0, 1]])
    assert estimate(FractionReconstructed(), game)[""].value == pytest.approx(0.5)
    whole = estimate(WholeDatabase(), game)[""]
    assert whole.value == pytest.approx(1 / 3)
    assert (whole.lower, whole.upper) == pytest.approx([float(e) for e in clopper_pearson(1, 3)])
    assert whole.n == 3


def test_repetitions_are_pooled():
    games = [found([[1, 1]] * 4, [[1, 1]] * 4), found([[1, 1]] * 4, [[0, 1]] * 4)]
    assert estimate(FractionReconstructed(), *games)[""].value == pytest.approx(0.75)
    assert estimate(WholeDatabase(), *games)[""].n == 8


def test_the_gain_is_against_the_best_constant_guess():
    truth = np.array([[1, 0]] * 6 + [[0, 0]] * 2)
    assert estimate(GainOverPrior(), found(truth, truth))[""].value == pytest.approx(1 / 8)
    prior = np.tile([1, 0], (8, 1))
    nothing = estimate(GainOverPrior(), found(truth, prior))[""]
    assert nothing.value == 0
    assert nothing.lower < 0 < nothing.upper
    open_everywhere = estimate(GainOverPrior(), found(truth, np.full((8, 2), -1)))[""]
    assert open_everywhere.value == pytest.approx(-7 / 8)


def test_intervals_of_a_gain_cover_the_true_one():
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(300):
        truth = rng.integers(0, 2, (60, 5))
        lies = rng.random(truth.shape) < 0.2
        low_high = estimate(GainOverPrior(), found(truth, truth ^ lies))[""]
        missed += not low_high.lower <= 0.3 <= low_high.upper
    assert missed <= binom.ppf(1 - 1e-4, 300, 0.05)


def test_runs_have_a_median_where_half_are_revealed_and_a_mean_where_all_are():
    rows = np.zeros((4, 1), dtype=int)
    ended = estimate(RunsUntilCertain(), found(rows, rows, [2, 2, 3, 9]))
    assert (ended[""].value, ended["mean"].value) == (2, 4)
    assert ended["not yet revealed"].value == 0
    some = estimate(RunsUntilCertain(), found(rows, rows, [2, 0, 3, 9]))
    assert some[""].value == 3
    assert "mean" not in some
    assert some["not yet revealed"].value == 0.25
    few = estimate(RunsUntilCertain(), found(rows, rows, [0, 0, 0, 9]))
    assert few[""].value == math.inf
    with pytest.raises(NotMeasurableError, match="the attack is never certain"):
        estimate(RunsUntilCertain(), found(rows, rows))


def test_odds_are_those_of_the_true_secret_against_its_pairs():
    score = np.array([[0.0, -2.0, 9.0], [1.0, 0.0, -3.0], [0.0, -math.inf, -math.inf]])
    secret = np.array([0, 1, 2])
    game = Scored(secret=secret, score=score, holdout_secret=secret, holdout_score=score)
    # 0 against 1: 2; 1 against 0 and 2: 3; 2 against 1, both excluded: nothing is told.
    values = [estimate(OddsGained(quantile=q), game)[""].value for q in (0.3, 0.5, 0.9)]
    assert values == [0.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="quantile must be in"):
        OddsGained(quantile=1.0)


def test_quantiles_keep_infinite_values_and_their_intervals_cover():
    assert quantile(np.array([1.0, math.inf, math.inf]), 0.5).value == math.inf
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(400):
        low_high = quantile(rng.exponential(size=50), 0.5)
        missed += not low_high.lower <= math.log(2) <= low_high.upper
    assert missed <= binom.ppf(1 - 1e-4, 400, 0.05)
