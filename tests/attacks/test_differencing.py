"""Differencing: what two exact, noisy, suppressed or rounded answers tell of one record."""

import numpy as np
import pytest
from scipy.stats import norm

from attacks.differencing import (
    CategoryPair,
    Differencing,
    RecordPair,
    ThresholdPair,
    difference_limits,
    paired_sums,
)
from attacks.interval.cell_limits import rounded_cells, suppressed_cells
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.rounding import Rounding

BITS = np.array([0.0, 1.0])


def people(n_trials=400, n=30, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, (n_trials, n))
    job = rng.integers(0, 5, (n_trials, n))
    return np.stack([age, job], axis=-1), rng


def test_each_pair_differs_in_one_record_threshold_or_category():
    records, _ = people()
    for pair, told in (
        (RecordPair(record=7), np.arange(30) == 7),
        (ThresholdPair(column=0, inner=39, outer=40), records[..., 0] == 40),
        (CategoryPair(column=1, others=(0, 1), extra=3), records[..., 1] == 3),
    ):
        outer, inner = pair.members(records)
        assert not (inner & ~outer).any()
        assert (outer & ~inner == told).all()


def test_power_exact_sums_tell_everything():
    records, rng = people()
    income = rng.integers(0, 2, (400, 30)).astype(float)
    answers = paired_sums(RecordPair(record=7), records, income)
    assert (Differencing(candidates=BITS).guess(answers) == income[:, 7]).all()
    # Means over n and n - 1 records carry rounding errors; the nearest value is the right one.
    mean = LinearStatistics.mean(30).release(income, rng)[:, 0]
    rest = LinearStatistics.mean(29).release(np.delete(income, 7, axis=1), rng)[:, 0]
    sums = np.stack([30 * mean, 29 * rest], axis=1)
    assert (Differencing(candidates=BITS).guess(sums) == income[:, 7]).all()
    counted = paired_sums(ThresholdPair(column=0, inner=39, outer=40), records)
    exact = Differencing(candidates=np.arange(31.0)).guess(counted)
    assert (exact == (records[..., 0] == 40).sum(axis=1)).all()


def test_null_another_record_s_difference_says_nothing():
    """20,000 guesses of an independent bit: within 5 standard errors of a half."""
    records, rng = people(n_trials=20_000, n=3)
    income = rng.integers(0, 2, (20_000, 3)).astype(float)
    guess = Differencing(candidates=BITS).guess(paired_sums(RecordPair(record=1), records, income))
    assert abs((guess == income[:, 0]).mean() - 0.5) < 5 * 0.5 / 20_000**0.5


@pytest.mark.parametrize("deviation", [0.3, 2.0])
def test_under_noise_the_accuracy_is_the_normal_one(deviation):
    records, rng = people(n_trials=20_000, n=3)
    income = rng.integers(0, 2, (20_000, 3)).astype(float)
    answers = paired_sums(RecordPair(record=1), records, income)
    noisy = answers + rng.normal(0, deviation, answers.shape)
    attack = Differencing(candidates=BITS, noise_variance=2 * deviation**2)
    accuracy = (attack.guess(noisy) == income[:, 1]).mean()
    expected = norm.cdf(0.5 / (2**0.5 * deviation))
    assert abs(accuracy - expected) < 5 * 0.5 / 20_000**0.5
    assert attack.score(noisy).shape == (20_000, 2)


def test_suppressed_and_rounded_counts_bound_the_difference():
    outer = suppressed_cells(np.array([12, 9, -1]), threshold=5)
    inner = suppressed_cells(np.array([11, -1, -1]), threshold=5)
    low, high = difference_limits((outer.lower, outer.upper), (inner.lower, inner.upper))
    assert low.tolist() == [1, 5, 0]
    assert high.tolist() == [1, 9, 4]
    rule, counts = Rounding(base=5), np.arange(40)
    for extra in (0, 1, 7):
        both = [rounded_cells(rule.release((counts + e)[None], None)[0], rule) for e in (extra, 0)]
        low, high = difference_limits(*((b.lower, b.upper) for b in both))
        assert ((low <= extra) & (extra <= high)).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RecordPair(record=-1), "record must be"),
        (lambda: RecordPair(record=30).members(people()[0]), "below the 30 records"),
        (lambda: ThresholdPair(column=0, inner=4, outer=4), "inner must be below outer"),
        (lambda: CategoryPair(column=0, others=(1, 2), extra=2), "extra must not be"),
        (lambda: Differencing(candidates=BITS, noise_variance=-1.0), "noise_variance must be"),
        (
            lambda: difference_limits(
                (np.array([1]), np.array([1])), (np.array([3]), np.array([3]))
            ),
            "part of the outer",
        ),
    ],
)
def test_bad_input_is_told_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
