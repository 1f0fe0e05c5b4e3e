import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from sklearn.metrics import ndcg_score

from bench.metrics.base import Names, NotMeasurableError
from bench.metrics.ranking import (
    NDCG,
    AccuracyAtRank,
    CountError,
    HitRate,
    MeanAccuracy,
    hit_rate,
    ndcg,
)
from mechanisms.noise.identity import ExactRelease
from mechanisms.top_k.ranking import largest
from tests.support.games import released

few = settings(max_examples=50, deadline=None)
NAMES = Names(secrets=("s",), pairs=(), statistics=("a", "b", "c", "d"))
ACC = [AccuracyAtRank(rank=r, name=f"acc_at_{r}") for r in (1, 2, 3)]


def value(metric, answers, releases):
    game = released(answers=np.asarray(answers), releases=np.asarray(releases))
    return metric.estimate([game], NAMES, ExactRelease())[""].value


# One world, two groups of four categories; truth: [1, 0, 3, 2] (tie of a and d: a first) and
# [2, 3, 0, 1].
COUNTS = [[[5.0, 9.0, 1.0, 5.0], [2.0, 1.0, 8.0, 4.0]]]
PREDICTED = [[[[1, 3, 0], [0, 2, 1]]]]


def test_metrics_by_hand():
    assert [value(m, COUNTS, PREDICTED) for m in ACC] == [0.5, 0.0, 0.0]
    assert value(MeanAccuracy(k=3, name="acc"), COUNTS, PREDICTED) == pytest.approx(1 / 6)
    # Group 1 has the true {1, 0, 3}; group 2 misses 3 of {2, 3, 0}.
    assert value(HitRate(k=3, name="hr"), COUNTS, PREDICTED) == pytest.approx((1 + 2 / 3) / 2)
    # Group 1: |9-9| + |5-5| + |5-5|; group 2: |2-8| + |8-4| + |1-2|.
    assert value(CountError(k=3, name="l1"), COUNTS, PREDICTED) == pytest.approx(11 / 2)
    d = 1 / np.log2([2, 3, 4])
    by_rank = ((3, 1, 2) @ d / ((3, 2, 1) @ d) + (1, 3, 0) @ d / ((3, 2, 1) @ d)) / 2
    assert value(NDCG(k=3, name="ndcg"), COUNTS, PREDICTED) == pytest.approx(by_rank)
    by_count = (1 + (2, 8, 1) @ d / ((8, 4, 2) @ d)) / 2
    counted = NDCG(k=3, name="ndcg", relevance="count")
    assert value(counted, COUNTS, PREDICTED) == pytest.approx(by_count)
    binary = NDCG(k=3, name="ndcg", relevance="binary")
    assert value(binary, COUNTS, PREDICTED) == pytest.approx((1 + (1, 1, 0) @ d / d.sum()) / 2)


def test_a_histogram_is_ranked_with_ties_to_the_lowest_index():
    noisy = [[[[4.0, 7.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]]]]
    # Predicted [1, 0, 3] and [0, 1, 2].
    assert [value(m, COUNTS, noisy) for m in ACC] == [0.5, 0.5, 0.5]


def test_several_histograms_are_averaged():
    noisy = [[[[9.0, 0.0, 0.0, 0.0]] * 2, [[0.0, 20.0, 0.0, 0.0]] * 2]]
    assert value(ACC[0], COUNTS, noisy) == 0.5


def test_groups_without_counts_are_left_out():
    counts = [[*COUNTS[0], [0.0] * 4]]
    predicted = [[[*PREDICTED[0][0], [2, 1, 3]]]]
    for metric in (*ACC, HitRate(k=3, name="h"), NDCG(k=3, name="n"), CountError(k=3, name="l")):
        assert value(metric, counts, predicted) == value(metric, COUNTS, PREDICTED)
    with pytest.raises(NotMeasurableError, match="no group has a count"):
        value(ACC[0], np.zeros((1, 2, 4)), PREDICTED)


@pytest.mark.parametrize(
    "metric",
    [AccuracyAtRank(rank=5, name="a"), HitRate(k=5, name="h"), NDCG(k=5, name="n"),
     CountError(k=5, name="l")],
)  # fmt: skip
def test_more_places_than_categories_are_refused(metric):
    with pytest.raises(NotMeasurableError, match="k=5 exceeds the 4 categories"):
        value(metric, COUNTS, PREDICTED)


def test_short_rankings_and_other_releases_are_refused():
    with pytest.raises(NotMeasurableError, match="rankings of 3 places have no top 4"):
        value(HitRate(k=4, name="h"), COUNTS, PREDICTED)
    with pytest.raises(NotMeasurableError, match="neither rankings nor histograms"):
        value(HitRate(k=1, name="h"), COUNTS, np.zeros((1, 1, 2, 3)))


@pytest.mark.parametrize("bad", [0, True, 1.5])
def test_a_k_that_is_no_positive_whole_number_is_refused(bad):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        HitRate(k=bad, name="h")
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        AccuracyAtRank(rank=bad, name="h")


def test_an_unknown_relevance_is_refused():
    with pytest.raises(ValueError, match="relevance must be 'rank', 'count' or 'binary', got"):
        NDCG(k=3, name="n", relevance="linear")


@few
@given(st.integers(0, 10**6), st.integers(2, 9), st.data())
def test_ndcg_agrees_with_scikit_learn(seed, m, data):
    k = data.draw(st.integers(1, m))
    rng = np.random.default_rng(seed)
    counts, scores = rng.permutation(m) + 1.0, rng.permutation(m) + 0.5
    ranks = (counts.argsort().argsort()).astype(float)  # the number of categories beaten
    ours = [ndcg(counts, largest(scores, k), k, r) for r in ("rank", "count")]
    theirs = [ndcg_score(rel[None], scores[None], k=k) for rel in (ranks, counts)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@few
@given(arrays(float, (3, 5), elements=st.integers(0, 4)), st.integers(1, 5))
def test_the_exact_ranking_is_perfect_whatever_the_ties(counts, k):
    answers = counts[None] + np.array([1.0, 0, 0, 0, 0])
    exact = largest(answers, k)[:, None]
    assert value(HitRate(k=k, name="h"), answers, exact) == 1
    assert value(NDCG(k=k, name="n"), answers, exact) == pytest.approx(1)
    assert value(CountError(k=k, name="l"), answers, exact) == 0
    assert value(AccuracyAtRank(rank=k, name="a"), answers, exact) == 1


@few
@given(st.integers(0, 10**6), st.integers(1, 12), st.data())
def test_largest_is_a_stable_descending_sort(seed, m, data):
    k = data.draw(st.integers(1, m))
    x = np.random.default_rng(seed).integers(0, 5, (4, m)).astype(float)
    x[0, 0] = -np.inf
    x[1, -1] = np.inf
    expected = [sorted(range(m), key=lambda j: (-row[j], j))[:k] for row in x]
    assert largest(x, k).tolist() == expected
    assert largest(x[2:], k).tolist() == expected[2:]


def test_intervals_cover_groups_and_repetitions():
    rng = np.random.default_rng(0)
    answers = np.broadcast_to(COUNTS[0], (500, 2, 4))
    releases = (answers + rng.laplace(scale=4, size=answers.shape))[:, None]
    game = released(answers=answers, releases=releases)
    top = ACC[0].estimate([game], NAMES, object())[""]
    assert top.n == 1000
    assert top.lower < top.value < top.upper
    error = CountError(k=3, name="l1").estimate([game], NAMES, object())[""]
    assert error.n == 500
    assert error.lower < error.value < error.upper


PUBLISHED = {0.186: 0.606, 0.376: 0.726, 0.643: 0.868, 0.792: 0.946}  # Bai et al. (2026), Table 3


def simulated(relevance):
    """NDCG at the published hit rates: Zipf counts of 78 categories, Laplace noise."""
    rng = np.random.default_rng(0)
    counts = np.broadcast_to(1000 / np.arange(1, 79), (4000, 78))
    noise = rng.laplace(size=counts.shape)

    def ranked(log_scale):
        return largest(counts + np.exp(log_scale) * noise, 3)

    found = []
    for target in PUBLISHED:
        at = brentq(lambda s, t=target: hit_rate(counts, ranked(s), 3).mean() - t, 1, 9, xtol=0.01)
        found.append(ndcg(counts, ranked(at), 3, relevance).mean())
    return np.array(found)


def test_only_relevance_linear_in_the_rank_fits_the_published_pairs():
    theirs = np.array(list(PUBLISHED.values()))
    assert np.abs(simulated("rank") - theirs).max() < 0.05
    assert np.abs(simulated("count") - theirs).max() > 0.2
    assert np.abs(simulated("binary") - theirs).max() > 0.3
