import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from bench.metrics.roc import auc, best_threshold, pair_scores, roc_points, tpr_at

few = settings(max_examples=60, deadline=None)
# A small set of values makes ties; infinities are scores too.
tied = st.sampled_from([-math.inf, -2.0, -0.5, 0.0, 0.25, 3.0, math.inf])


@st.composite
def samples(draw, values=tied):
    label = draw(st.lists(st.integers(0, 1), min_size=2, max_size=40))
    label[0], label[1] = 0, 1
    odds = draw(st.lists(values, min_size=len(label), max_size=len(label)))
    return np.array(label), np.array(odds)


def brute_auc(label, odds):
    ones, zeros = odds[label == 1], odds[label == 0]
    return float(np.mean([(a > b) + (a == b) / 2 for a in ones for b in zeros]))


@few
@given(samples())
def test_auc_counts_pairs_and_halves_ties(sample):
    assert auc(*sample) == pytest.approx(brute_auc(*sample), abs=1e-12)


@few
@given(samples(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0])))
def test_auc_and_roc_points_equal_scikit_learns(sample):
    assert auc(*sample) == pytest.approx(roc_auc_score(*sample), abs=1e-12)
    fpr, tpr = roc_points(*sample)
    there = roc_curve(*sample, drop_intermediate=False)
    assert fpr == pytest.approx(there[0])
    assert tpr == pytest.approx(there[1])


def test_auc_of_tie_groups():
    assert auc(np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 1.0, 0.0])) == 0.75


def test_constant_scores_are_worth_nothing():
    label, odds = np.array([0, 1, 1, 0, 1]), np.zeros(5)
    assert auc(label, odds) == 0.5
    for fpr in (0.01, 0.1, 0.7):
        assert tpr_at(label, odds, fpr) == pytest.approx(fpr)


@pytest.mark.parametrize(
    ("odds", "expected"),
    [
        ([-math.inf, -math.inf, math.inf, math.inf], 1.0),
        ([math.inf, math.inf, -math.inf, -math.inf], 0.0),
        ([0.0, math.inf, math.inf, 1.0], 0.625),
        ([5.0, 1e300, math.inf, math.inf], 1.0),
    ],
)
def test_infinite_scores_rank_above_and_below_finite_ones(odds, expected):
    label, odds = np.array([0, 0, 1, 1]), np.array(odds)
    assert auc(label, odds) == expected == brute_auc(label, odds)


@few
@given(samples(), st.randoms(use_true_random=False))
def test_the_order_of_the_worlds_does_not_matter(sample, random):
    label, odds = sample
    order = np.array(random.sample(range(label.size), label.size))
    for statistic in (auc, lambda y, s: tpr_at(y, s, 0.3), best_threshold):
        assert statistic(label, odds) == pytest.approx(statistic(label[order], odds[order]))


@few
@given(samples())
def test_only_the_order_of_the_scores_matters(sample):
    label, odds = sample
    stretched = np.arctan(odds) * 3 - 1
    assert auc(label, odds) == auc(label, stretched)
    for fpr in (0.05, 0.5):
        assert tpr_at(label, odds, fpr) == tpr_at(label, stretched, fpr)


@few
@given(samples())
def test_swapping_the_secrets_reflects_the_auc(sample):
    label, odds = sample
    assert auc(1 - label, odds) == pytest.approx(1 - auc(label, odds))
    assert auc(label, -odds) == pytest.approx(1 - auc(label, odds))


@few
@given(samples())
def test_the_curve_rises_from_nothing_to_everything_and_its_area_is_the_auc(sample):
    fpr, tpr = roc_points(*sample)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert np.trapezoid(tpr, fpr) == pytest.approx(auc(*sample))


@few
@given(samples(), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_the_tpr_grows_with_the_fpr(sample, first, second):
    low, high = sorted((first, second))
    assert tpr_at(*sample, low) <= tpr_at(*sample, high) + 1e-12


def test_the_tpr_is_interpolated_between_tie_groups():
    label = np.array([1, 1, 0, 1, 0, 0])
    odds = np.array([3.0, 2.0, 2.0, 1.0, 1.0, 0.0])
    # The curve runs through (0, 1/3), (1/3, 2/3), (2/3, 1), (1, 1).
    assert tpr_at(label, odds, 1 / 6) == pytest.approx(1 / 2)
    assert tpr_at(label, odds, 1 / 3) == pytest.approx(2 / 3)
    assert tpr_at(label, odds, 0.5) == pytest.approx(5 / 6)
    assert tpr_at(label, odds, 0.9) == 1


def test_the_tpr_takes_the_top_of_a_vertical_step():
    label, odds = np.array([0, 0, 1, 1]), np.array([2.0, 0.0, 3.0, 1.0])
    assert tpr_at(label, odds, 0.5) == 1.0
    assert tpr_at(label, odds, 0.25) == 0.5


def test_the_randomised_test_reaches_the_neyman_pearson_value_of_laplace_noise():
    # Lap(1) at 0 against 1: the likelihood ratio is e on z > 1, an atom whose probability under 0
    # is 1/(2e) = .184. At FPR .1 the best test accuses a share .1/.184 of it: TPR = .1 e = .272.
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1], 40_000)
    z = label + rng.laplace(size=label.size)
    odds = np.abs(z) - np.abs(z - 1)
    odds[z >= 1], odds[z <= 0] = 1.0, -1.0
    assert tpr_at(label, odds, 0.1) == pytest.approx(0.1 * math.e, abs=0.01)
    fpr, tpr = roc_points(label, odds)
    assert tpr[fpr <= 0.1].max() == 0


@few
@given(samples())
def test_the_best_threshold_maximises_the_advantage(sample):
    label, odds = sample

    def advantage(threshold):
        accused = odds >= threshold
        return accused[label == 1].mean() - accused[label == 0].mean()

    threshold = best_threshold(label, odds)
    most = max(0.0, *(advantage(candidate) for candidate in odds))
    reached = 0.0 if most == 0 and threshold == math.inf else advantage(threshold)
    assert reached == pytest.approx(most)


def test_scores_that_mislead_accuse_nobody():
    assert best_threshold(np.array([0, 0, 1, 1]), np.array([2.0, 3.0, 0.0, 1.0])) == math.inf


@pytest.mark.parametrize("statistic", [auc, roc_points, best_threshold])
def test_one_class_only_is_refused(statistic):
    with pytest.raises(ValueError, match="a ROC needs worlds of both secrets, got one class only"):
        statistic(np.array([1, 1]), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="one class only"):
        statistic(np.array([], dtype=np.int64), np.array([]))


@pytest.mark.parametrize("statistic", [auc, roc_points, best_threshold])
def test_nan_scores_and_strange_labels_are_refused(statistic):
    with pytest.raises(ValueError, match=r"^scores must not be NaN\.$"):
        statistic(np.array([0, 1]), np.array([0.0, math.nan]))
    with pytest.raises(ValueError, match=r"^labels must be 0 or 1, got \[1, 2\]\.$"):
        statistic(np.array([1, 2]), np.array([0.0, 1.0]))


def test_pair_scores_keep_the_worlds_of_the_pair():
    secret = np.array([0, 1, 2, 2, 0])
    score = np.arange(15.0).reshape(5, 3) ** 2
    label, odds = pair_scores(secret, score, (0, 2))
    assert label.tolist() == [0, 1, 1, 0]
    assert odds.tolist() == (score[[0, 2, 3, 4], 2] - score[[0, 2, 3, 4], 0]).tolist()
    swapped, negated = pair_scores(secret, score, (2, 0))
    assert swapped.tolist() == [1, 0, 0, 1]
    assert negated.tolist() == (-odds).tolist()


@pytest.mark.parametrize(
    ("first", "second", "odds"),
    [
        (-math.inf, -math.inf, 0.0),
        (math.inf, math.inf, 0.0),
        (-math.inf, 1.0, math.inf),
        (1.0, -math.inf, -math.inf),
        (-math.inf, math.inf, math.inf),
    ],
)
def test_equally_impossible_secrets_have_even_odds(first, second, odds):
    _, found = pair_scores(np.array([0]), np.array([[first, second]]), (0, 1))
    assert found.tolist() == [odds]


def test_nan_scores_of_the_pair_are_refused_and_others_ignored():
    score = np.array([[0.0, math.nan], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"^scores must not be NaN\.$"):
        pair_scores(np.array([0, 1]), score, (0, 1))
    third = np.array([[0.0, 1.0, math.nan], [1.0, 0.0, math.nan]])
    assert pair_scores(np.array([0, 1]), third, (0, 1))[1].tolist() == [1.0, -1.0]
