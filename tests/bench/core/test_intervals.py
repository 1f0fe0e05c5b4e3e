import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm, t
from statsmodels.stats.proportion import proportion_confint

from bench.core.intervals import (
    LEVEL,
    RESAMPLES,
    clopper_pearson,
    contrast,
    exact,
    functional,
    mean,
    rate,
)
from bench.metrics.roc import auc, tpr_at

few = settings(max_examples=60, deadline=None)
counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def fewest(n, level=LEVEL, error=1e-7):
    """Fewest covered intervals of n that a method of this level shows, except once in 1e7."""
    return binom.ppf(error, n, level)


def limits(hits, n, level=LEVEL):
    return tuple(float(end) for end in clopper_pearson(hits, n, level))


@few
@given(counts, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_clopper_pearson_equals_statsmodels_and_scipy(hits_of, level):
    hits, n = hits_of
    low, high = limits(hits, n, level)
    there = proportion_confint(hits, n, alpha=1 - level, method="beta")
    here = binomtest(hits, n).proportion_ci(level, method="exact")
    assert (low, high) == pytest.approx(there, abs=1e-9)
    assert (low, high) == pytest.approx((here.low, here.high), abs=1e-7)


@few
@given(counts)
def test_clopper_pearson_tails_hold_exactly_the_error(hits_of):
    hits, n = hits_of
    low, high = limits(hits, n)
    if hits:
        assert binom.sf(hits - 1, n, low) == pytest.approx(0.025, rel=1e-6)
    if hits < n:
        assert binom.cdf(hits, n, high) == pytest.approx(0.025, rel=1e-6)


@few
@given(counts)
def test_clopper_pearson_mirrors_misses(hits_of):
    hits, n = hits_of
    low, high = limits(hits, n)
    mirrored = limits(n - hits, n)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (0, 1, 0.0, 0.975),
        (1, 1, 0.025, 1.0),
        (0, 10, 0.0, 1 - 0.025**0.1),
        (10, 10, 0.025**0.1, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_clopper_pearson_of_no_hits_all_hits_and_one_trial(hits, n, low, high):
    assert limits(hits, n) == pytest.approx((low, high), abs=1e-12)


def test_clopper_pearson_works_on_arrays_of_fractional_hits():
    hits, n = np.array([0.0, 2.5, 7.0]), np.array([7.0, 7.0, 7.0])
    low, high = clopper_pearson(hits, n)
    assert np.all(np.diff(low) > 0)
    assert np.all(np.diff(high) > 0)
    assert low[0] == 0
    assert high[2] == 1


@pytest.mark.parametrize(("hits", "n"), [(5, 3), (-1, 3), (math.nan, 3), (3, math.nan)])
def test_hits_that_are_not_a_count_out_of_n_are_refused(hits, n):
    with pytest.raises(ValueError, match=r"^hits must be between 0 and n, got .*\.$"):
        clopper_pearson(hits, n)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, math.nan])
def test_a_level_outside_the_open_unit_interval_is_refused(level):
    with pytest.raises(ValueError, match=r"^level must be in \(0, 1\)"):
        clopper_pearson(1, 2, level)


def test_a_computed_number_has_no_interval_and_no_trials():
    value = exact(0.25)
    assert (value.value, value.lower, value.upper, value.n) == (0.25, 0.25, 0.25, 0)
    assert value.method == "exact"


def test_a_rate_of_whole_hits_is_clopper_pearson():
    hits = np.array([1.0, 0, 0, 1, 1, 1, 1])
    found = rate([hits[:3], hits[3:]])
    assert found.value == pytest.approx(5 / 7)
    assert (found.lower, found.upper) == pytest.approx(limits(5, 7))
    assert found.n == 7


def test_tied_hits_round_outwards():
    found = rate([np.full(10, 1 / 3)])
    assert found.lower == pytest.approx(limits(3, 10)[0])
    assert found.upper == pytest.approx(limits(4, 10)[1])


@pytest.mark.parametrize("repetitions", [1, 9, 10, 50])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_perfect_rate_keeps_an_interval(repetitions, value):
    found = rate([np.full(20, value)] * repetitions)
    n = 20 * repetitions
    expected = limits(int(value * n), n)
    assert (found.lower, found.upper) == pytest.approx(expected, abs=1e-12)


def test_repetitions_with_identical_means_keep_an_interval():
    found = rate([np.array([0.0, 1.0, 1.0, 1.0])] * 12)
    assert (found.lower, found.upper) == pytest.approx(limits(36, 48), abs=1e-12)


def test_repetitions_that_differ_widen_the_interval_to_students():
    repetitions = [np.full(100, float(i % 2)) for i in range(10)]
    found = rate(repetitions)
    means = np.array([r.mean() for r in repetitions])
    half = t.ppf(0.975, 9) * means.std(ddof=1) / math.sqrt(10)
    assert (found.lower, found.upper) == pytest.approx((0.5 - half, 0.5 + half))
    assert half > 3 * (0.5 - limits(500, 1000)[0])


@few
@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=20), min_size=1, max_size=12))
def test_a_rate_lies_in_its_interval_inside_the_unit_interval(repetitions):
    found = rate([np.array(r) for r in repetitions])
    assert 0 <= found.lower <= found.value + 1e-12
    assert found.value - 1e-12 <= found.upper <= 1
    assert found.n == sum(map(len, repetitions))


@pytest.mark.parametrize("hits", [[0.5, math.nan], [1.5], [-0.5], []])
def test_hits_outside_the_unit_interval_or_none_at_all_are_refused(hits):
    with pytest.raises(ValueError, match=r"^hits must "):
        rate([np.array(hits)])


def test_a_difference_of_rates_squares_and_adds():
    first, second = np.repeat([1.0, 0.0], [56, 14]), np.repeat([1.0, 0.0], [48, 32])
    found = contrast([[first, second]], [1.0, -1.0])
    (l1, u1), (l2, u2) = limits(56, 70), limits(48, 80)
    assert found.value == pytest.approx(0.2)
    assert found.lower == pytest.approx(0.2 - math.hypot(0.8 - l1, u2 - 0.6))
    assert found.upper == pytest.approx(0.2 + math.hypot(u1 - 0.8, 0.6 - l2))


@pytest.mark.parametrize(
    ("first", "second", "value"), [(1.0, 0.0, 1.0), (0.0, 1.0, -1.0), (1.0, 1.0, 0.0)]
)
def test_a_difference_of_perfect_rates_keeps_an_interval_in_its_range(first, second, value):
    found = contrast([[np.full(30, first), np.full(30, second)]], [1.0, -1.0])
    assert found.value == value
    assert -1 <= found.lower <= found.upper <= 1
    assert found.upper - found.lower > 0.1


def test_a_mean_has_students_interval():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    low, high = t.interval(0.95, 3, loc=4.0, scale=values.std(ddof=1) / 2)
    found = mean([values[:2], values[2:]])
    assert low < 0  # errors are never negative, so neither is their interval
    assert (found.value, found.lower, found.upper) == pytest.approx((4.0, 0.0, high))
    shifted = mean([values[:2] - 2, values[2:] - 2])
    assert (shifted.lower, shifted.upper) == pytest.approx((low - 2, high - 2))


def test_the_mean_of_one_trial_has_an_infinite_interval():
    found = mean([np.array([3.0])])
    assert (found.value, found.lower, found.upper) == (3.0, 0.0, math.inf)
    assert mean([np.array([-3.0])]).lower == -math.inf


def test_the_mean_of_equal_values_has_no_width():
    found = mean([np.zeros(5)])
    assert (found.lower, found.upper) == (0.0, 0.0)


@pytest.mark.parametrize("values", [[1.0, math.nan], [1.0, math.inf], []])
def test_a_mean_refuses_what_is_not_finite(values):
    with pytest.raises(ValueError, match=r"^values must "):
        mean([np.array(values)])


def test_many_repetitions_count_the_spread_between_them():
    rng = np.random.default_rng(0)
    repetitions = [rng.normal(loc=shift, size=100) for shift in rng.normal(size=20)]
    wide, narrow = mean(repetitions), mean([np.concatenate(repetitions)])
    assert wide.value == pytest.approx(narrow.value)
    assert wide.upper - wide.lower > 2 * (narrow.upper - narrow.lower)


def test_perfect_scores_get_clopper_pearson_over_independent_pairs():
    secret = np.repeat([0, 1], [15, 40])
    found = functional(auc, [(secret, secret.astype(float))], np.random.default_rng(0))
    assert found.value == 1
    assert found.lower == pytest.approx(0.025 ** (1 / 15))
    assert found.upper == 1
    repeated = functional(auc, [(secret, secret.astype(float))] * 10, np.random.default_rng(0))
    assert repeated.lower == pytest.approx(0.025 ** (1 / 150))


def test_the_bootstrap_is_a_function_of_the_stream():
    rng = np.random.default_rng(3)
    secret, score = np.repeat([0, 1], 30), rng.normal(size=60)
    once, again = (functional(auc, [(secret, score)], np.random.default_rng(9)) for _ in range(2))
    assert once == again
    assert once.method == f"bootstrap, {RESAMPLES} resamples"
    assert once.lower < once.value < once.upper


def hits_of(p, shape, rng):
    return (rng.random(shape) < p).astype(np.float64)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("repetitions", [1, 50])
def test_a_rate_is_covered(p, repetitions):
    rng, n = np.random.default_rng(1), 300
    found = [rate(list(hits_of(p, (repetitions, 100), rng))) for _ in range(n)]
    assert sum(e.lower <= p <= e.upper for e in found) >= fewest(n)


@pytest.mark.parametrize("p", [0.5, 0.99])
def test_a_difference_of_rates_is_covered_and_not_twice_too_wide(p):
    rng, n, size = np.random.default_rng(2), 300, 80
    found = [
        contrast([[hits_of(p, size, rng), hits_of(0.3, 2 * size, rng)]], [1.0, -1.0])
        for _ in range(n)
    ]
    assert sum(e.lower <= p - 0.3 <= e.upper for e in found) >= fewest(n)
    deviation = math.sqrt(p * (1 - p) / size + 0.21 / (2 * size))
    assert np.mean([e.upper - e.lower for e in found]) < 1.5 * 2 * 1.96 * deviation


@pytest.mark.parametrize("repetitions", [1, 20])
def test_a_mean_is_covered(repetitions):
    rng, n = np.random.default_rng(4), 400
    found = [mean(list(rng.normal(5.0, 2.0, (repetitions, 12)))) for _ in range(n)]
    assert sum(e.lower <= 5 <= e.upper for e in found) >= fewest(n)


@pytest.mark.parametrize(
    ("distance", "statistic", "truth"),
    [
        (1.0, auc, norm.cdf(1 / math.sqrt(2))),
        (4.0, auc, norm.cdf(4 / math.sqrt(2))),
        (4.0, lambda label, odds: tpr_at(label, odds, 0.1), norm.sf(norm.isf(0.1) - 4)),
    ],
    ids=["auc", "auc near 1", "tpr near 1"],
)
def test_a_statistic_of_scores_is_covered(distance, statistic, truth):
    # The percentile bootstrap is approximate; .9 is what is asked of it here.
    rng, n = np.random.default_rng(5), 50
    secret = np.repeat([0, 1], 40)
    found = [
        functional(statistic, [(secret, rng.normal(size=80) + distance * secret)], rng)
        for _ in range(n)
    ]
    assert sum(e.lower <= truth <= e.upper for e in found) >= fewest(n, 0.9)


def test_a_statistic_over_repetitions_is_covered():
    rng, n = np.random.default_rng(6), 200
    secret, truth = np.repeat([0, 1], 20), norm.cdf(1 / math.sqrt(2))
    found = [
        functional(auc, [(secret, rng.normal(size=40) + secret) for _ in range(10)], rng)
        for _ in range(n)
    ]
    assert sum(e.lower <= truth <= e.upper for e in found) >= fewest(n)
