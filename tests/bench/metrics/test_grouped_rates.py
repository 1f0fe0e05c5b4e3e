"""Rates over groups and repetitions: intervals of the right width, none where nothing is random."""

import numpy as np
import pytest

from bench.core.intervals import grouped_rate, rate
from bench.metrics.base import Names
from bench.metrics.ranking import AccuracyAtRank, CountError, HitRate, MeanAccuracy
from bench.metrics.utility import (
    AbsoluteError,
    NoiseVariance,
    NormError,
    RelativeError,
    StatisticVariance,
)
from mechanisms.influence.claim import InfluenceClaim
from mechanisms.influence.curve import independence
from mechanisms.influence.knowledge import CurveKnowledge
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.rounded import RoundedRelease
from mechanisms.top_k.peeling import PeeledRanking
from mechanisms.top_k.ranking import RankedRelease
from tests.support.games import released

NAMES = Names(secrets=("s",), pairs=(), statistics=tuple("abcde"))
# Countries whose first place is nearly sure, nearly hopeless, or open.
CHANCES = np.array([0.999] * 40 + [0.001] * 20 + [0.5] * 2 + [0.95] * 15)


def drawn(seed, trials):
    rng = np.random.default_rng(seed)
    return (rng.random((trials, CHANCES.size)) < CHANCES).astype(float)


def test_the_interval_covers_the_truth_and_is_not_too_wide():
    truth, trials, covered, widths = CHANCES.mean(), 200, 0, []
    for seed in range(300):
        found = grouped_rate([drawn(seed, trials)])
        covered += found.lower <= truth <= found.upper
        widths.append(found.upper - found.lower)
    assert 0.92 <= covered / 300 <= 0.98
    right = 2 * 1.96 * np.sqrt((CHANCES * (1 - CHANCES)).sum() / trials) / CHANCES.size
    assert np.mean(widths) == pytest.approx(right, rel=0.05)
    pooled = rate([drawn(0, trials).ravel()])
    assert (pooled.upper - pooled.lower) / right > 3  # what was reported before


def test_many_repetitions_do_not_bring_the_wide_interval_back():
    """20 repetitions of 10 trials: the truth is covered, pooled hits would be 3 times as wide."""
    covered, widths = 0, []
    for seed in range(300):
        found = grouped_rate(np.split(drawn(seed, 200), 20))
        covered += found.lower <= CHANCES.mean() <= found.upper
        widths.append(found.upper - found.lower)
    assert covered / 300 >= 0.92
    right = 2 * 1.96 * np.sqrt((CHANCES * (1 - CHANCES)).sum() / 200) / CHANCES.size
    assert right <= np.mean(widths) < 1.25 * right
    assert found.method.startswith("Student t over 20 repetitions, at least Student t over trials")


def test_what_repetitions_share_widens_the_interval():
    """Every repetition right throughout or wrong throughout: 20 observations, not 2,000."""
    right = np.random.default_rng(0).random(20) < 0.5
    found = grouped_rate([np.full((100, 7), float(r)) for r in right])
    assert found.upper - found.lower > 0.4


def test_where_hits_are_few_or_groups_single_the_pooled_interval_stays():
    never = np.zeros((50, 7))
    assert grouped_rate([never]) == rate([never.ravel()])
    single = (np.random.default_rng(0).random((60, 1)) < 0.4).astype(float)
    assert grouped_rate([single]) == rate([single.ravel()])
    once = np.ones((1, 9))
    once[0, :5] = 0
    assert grouped_rate([once]) == rate([once.ravel()])


def game(mechanism, answers, trials=40):
    repeated = np.broadcast_to(answers, (trials, *answers.shape)).copy()
    releases = mechanism.release(repeated, np.random.default_rng(0))[:, None]
    return released(repeated, releases)


COUNTS = np.array([[9.0, 5.0, 3.0, 1.0, 0.0], [2.0, 8.0, 1.0, 0.0, 4.0]])
RANKING = (
    AccuracyAtRank(rank=1, name="a"),
    MeanAccuracy(k=2, name="m"),
    HitRate(k=2, name="h"),
    CountError(k=2, name="c"),
)


@pytest.mark.parametrize("metric", RANKING, ids=lambda m: m.name)
def test_a_deterministic_ranking_of_recorded_counts_gets_no_interval(metric):
    ranking = RankedRelease(inner=ExactRelease(), candidates=np.arange(5), k=2)
    assert ranking.deterministic
    (found,) = metric.estimate([game(ranking, COUNTS)], NAMES, ranking).values()
    assert (found.n, found.method, found.lower, found.upper) == (
        0, "exact", found.value, found.value,
    )  # fmt: skip
    # Drawn worlds are chance enough for an interval.
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 9, size=(30, 2, 5)).astype(float)
    varied = released(answers, ranking.release(answers, rng)[:, None])
    (found,) = metric.estimate([varied], NAMES, ranking).values()
    assert found.n > 0


@pytest.mark.parametrize("metric", RANKING, ids=lambda m: m.name)
def test_a_random_ranking_keeps_its_interval(metric):
    claim = InfluenceClaim(
        knowledge=CurveKnowledge(curve=independence(1)),
        sensitivity=Sensitivity(l1=2.0, l2=2**0.5, unit="entry", size=1, dimension=5),
    )
    noisy = PeeledRanking(
        selection="gumbel", k=2, epsilon=1.0, candidates=np.arange(5), sensitivity=1.0, claim=claim
    )
    (found,) = metric.estimate([game(noisy, COUNTS, 200)], NAMES, noisy).values()
    assert found.n > 0
    assert found.lower < found.value < found.upper


@pytest.mark.parametrize(
    "metric",
    [AbsoluteError(), RelativeError(), NormError(norm=1, name="l1"), NoiseVariance(),
     StatisticVariance()],
    ids=lambda m: m.name,
)  # fmt: skip
def test_a_deterministic_release_of_one_answer_gets_no_interval(metric):
    rounding = RoundedRelease(inner=ExactRelease(), decimals=0)
    found = metric.estimate([game(rounding, COUNTS[0] + 0.25)], NAMES, rounding)
    for estimate in found.values():
        assert (estimate.n, estimate.method) == (0, "exact")
        assert estimate.lower == estimate.value == estimate.upper
    expected = {
        "abs_err": 1.25, "l1": 1.25, "rel_err": (0.25 / (COUNTS[0] + 0.25)).sum(),
        "noise_var": 0.3125, "noise_var_each": 0.3125,
    }  # fmt: skip
    assert sum(e.value for e in found.values()) == pytest.approx(expected[metric.name])


def test_the_error_of_an_exact_release_is_known():
    exact = NormError(norm=1, name="l1").estimate(
        [game(ExactRelease(), COUNTS[0])], NAMES, ExactRelease()
    )[""]
    assert (exact.value, exact.n, exact.method) == (0.0, 0, "exact")
