import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chisquare

from bench.scenarios import subsets
from bench.scenarios.subsets import sum_features, without_replacement

few = settings(max_examples=60, deadline=None)


@few
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.data())
def test_elements_are_distinct_and_in_range(sizes, data):
    population, take = sizes
    seed = data.draw(st.integers(0, 2**31))
    chosen = without_replacement(population, take, 7, np.random.default_rng(seed))
    assert chosen.shape == (7, take)
    assert ((chosen >= 0) & (chosen < population)).all()
    assert all(len(set(row)) == take for row in chosen.tolist())


@few
@given(st.integers(0, 30))
def test_taking_everything_takes_everything(population):
    chosen = without_replacement(population, population, 3, np.random.default_rng(0))
    assert (np.sort(chosen, axis=1) == np.arange(population)).all()


def test_no_trials_and_nothing_taken_are_empty():
    rng = np.random.default_rng(0)
    assert without_replacement(5, 2, 0, rng).shape == (0, 2)
    assert without_replacement(5, 0, 3, rng).shape == (3, 0)


@pytest.mark.parametrize(("population", "take"), [(5, 2), (5, 3), (6, 3), (4, 4), (7, 1)])
def test_every_subset_is_equally_likely(population, take):
    trials = 20_000
    chosen = np.sort(
        without_replacement(population, take, trials, np.random.default_rng(1)), axis=1
    )
    _, counts = np.unique(chosen, axis=0, return_counts=True)
    assert counts.size == math.comb(population, take)
    # Five chi-square tests at 1e-8 each.
    if counts.size > 1:
        assert chisquare(counts).pvalue > 1e-8


def test_drawing_with_replacement_would_be_caught():
    chosen = np.sort(np.random.default_rng(1).integers(5, size=(20_000, 2)), axis=1)
    _, counts = np.unique(chosen, axis=0, return_counts=True)
    assert counts.size > math.comb(5, 2)


def test_pairs_of_a_large_population_are_uniform():
    trials, population, take = 30_000, 40, 12
    chosen = without_replacement(population, take, trials, np.random.default_rng(2))
    inside = np.zeros((trials, population), dtype=bool)
    np.put_along_axis(inside, chosen, values=True, axis=1)
    share = take / population
    counts = inside.sum(axis=0)
    # Inclusions of one trial sum to `take`: the statistic is chi-square with N - 1 degrees.
    spread = trials * share * (1 - share) * population / (population - 1)
    assert ((counts - trials * share) ** 2).sum() / spread < chi2.isf(1e-8, population - 1)
    both = share * (take - 1) / (population - 1)
    for i, j in itertools.combinations(range(0, population, 7), 2):
        together = (inside[:, i] & inside[:, j]).mean()
        assert abs(together - both) < 6.5 * math.sqrt(both * (1 - both) / trials)


def test_draws_are_a_function_of_the_stream():
    once, again = (without_replacement(50, 9, 4, np.random.default_rng(5)) for _ in range(2))
    assert (once == again).all()


@pytest.mark.parametrize("take", [6, -1, math.nan, True])
def test_more_than_the_population_is_refused(take):
    with pytest.raises((ValueError, TypeError), match=r"^take must be "):
        without_replacement(5, take, 2, np.random.default_rng(0))


@few
@given(st.integers(1, 5), st.integers(0, 6), st.integers(0, 9), st.sampled_from([1, 7, 10**6]))
def test_sums_do_not_depend_on_the_chunk(m, take, trials, chunk):
    rng = np.random.default_rng(m + 10 * take + 100 * trials)
    features = rng.normal(size=(8, m))
    chosen = without_replacement(8, take, trials, rng)
    expected = np.array([features[row].sum(axis=0) for row in chosen]).reshape(trials, m)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "CHUNK", chunk)
        assert sum_features(features, chosen) == pytest.approx(expected)
