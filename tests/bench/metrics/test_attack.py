import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import balanced_accuracy_score

from bench.core.intervals import clopper_pearson
from bench.metrics.attack import AUC, Accuracy, Advantage, BalancedAccuracy, TprAtFpr, hits
from bench.metrics.base import Names, Scored

few = settings(max_examples=50, deadline=None)
TWO = Names(secrets=("a", "b"), pairs=((0, 1),), statistics=("x",))
THREE = Names(secrets=("a", "b", "c"), pairs=((0, 1), (1, 2)), statistics=("x",))
EVERY = [Accuracy(), BalancedAccuracy(), AUC(), TprAtFpr(fpr=0.2), Advantage()]


def scored(secret, score, holdout=None):
    secret, score = np.array(secret), np.array(score, dtype=float)
    held = (secret, score) if holdout is None else holdout
    return Scored(secret=secret, score=score, holdout_secret=held[0], holdout_score=held[1])


def guesses(secret, guess, size=2):
    return scored(secret, np.eye(size)[np.array(guess)])


def estimate(metric, games, names=TWO, seed=0):
    return metric.estimate(games, names, np.random.default_rng(seed))


def value(metric, games, names=TWO):
    return estimate(metric, games, names)[""].value


def test_accuracy_counts_right_guesses():
    game = guesses([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])
    assert value(Accuracy(), [game]) == 0.6
    found = estimate(Accuracy(), [game])[""]
    assert (found.lower, found.upper) == pytest.approx([float(e) for e in clopper_pearson(3, 5)])


def test_a_tie_of_k_secrets_earns_one_kth():
    score = [[1, 1, 0], [2, 2, 2], [0, 3, 3], [5, 0, 0], [0, 5, 5]]
    assert hits(scored([0, 1, 1, 0, 0], score)).tolist() == [1 / 2, 1 / 3, 1 / 2, 1, 0]


def test_releases_impossible_under_every_secret_are_ties():
    assert hits(scored([0, 1], [[-math.inf, -math.inf]] * 2)).tolist() == [0.5, 0.5]
    assert hits(scored([0, 1], [[math.inf, 0.0], [-math.inf, 0.0]])).tolist() == [1, 1]


def test_balanced_accuracy_of_three_unequal_secrets_is_the_mean_recall():
    secret = [0] * 6 + [1] * 3 + [2]
    guess = [0, 0, 0, 1, 2, 0, 1, 1, 0, 2]
    game = guesses(secret, guess, 3)
    expected = (4 / 6 + 2 / 3 + 1) / 3
    assert value(BalancedAccuracy(), [game], THREE) == pytest.approx(expected)
    assert expected == pytest.approx(balanced_accuracy_score(secret, guess))


def test_guessing_the_frequent_secret_is_balanced_to_one_kth():
    game = guesses([0] * 30 + [1] * 10, [0] * 40)
    assert value(Accuracy(), [game]) == 0.75
    assert value(BalancedAccuracy(), [game]) == 0.5


@few
@given(st.lists(st.booleans(), min_size=4, max_size=40).filter(lambda v: len(v) % 2 == 0))
def test_balanced_accuracy_is_accuracy_where_counts_are_equal(right):
    secret = np.tile([0, 1], len(right) // 2)
    game = guesses(secret, np.where(right, secret, 1 - secret))
    assert value(BalancedAccuracy(), [game]) == pytest.approx(value(Accuracy(), [game]))


def test_balanced_accuracy_needs_every_secret():
    with pytest.raises(ValueError, match=r"^balanced accuracy needs worlds of every secret\.$"):
        estimate(BalancedAccuracy(), [guesses([0, 1], [0, 1], 3)], THREE)


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_a_perfect_attack_is_near_one_but_never_certain(metric):
    secret = np.repeat([0, 1], 25)
    found = estimate(metric, [guesses(secret, secret)])[""]
    assert found.value == 1
    assert 0.5 < found.lower < 1
    assert found.upper == 1
    assert found.n == 50


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_constant_scores_are_worth_nothing(metric):
    found = estimate(metric, [scored([0, 0, 1, 1], np.zeros((4, 2)))])[""]
    worth = {"acc": 0.5, "bal_acc": 0.5, "auc": 0.5, "tpr": 0.2, "adv": 0.0}
    assert found.value == pytest.approx(worth[metric.name])


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_nan_scores_are_refused(metric):
    score = np.array([[0.0, 1.0], [math.nan, 0.0], [1.0, 0.0], [0.0, 2.0]])
    with pytest.raises(ValueError, match=r"^scores must not be NaN\.$"):
        estimate(metric, [scored([0, 1, 0, 1], score)])


@pytest.mark.parametrize("metric", EVERY[1:], ids=lambda m: m.name)
def test_one_class_only_is_refused(metric):
    game = scored([1, 1], [[0, 1], [0, 2]])
    held = (np.array([0, 1]), np.eye(2))
    game = Scored(
        secret=game.secret, score=game.score, holdout_secret=held[0], holdout_score=held[1]
    )
    with pytest.raises(ValueError, match=r"one class only|every secret"):
        estimate(metric, [game])


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=24, max_size=24), st.permutations(range(12)))
def test_the_order_of_the_worlds_does_not_matter(metric, entries, order):
    secret = np.tile([0, 1], 6)
    score = np.array(entries, dtype=float).reshape(12, 2)
    shuffled = scored(secret[order], score[order])
    assert value(metric, [scored(secret, score)]) == pytest.approx(value(metric, [shuffled]))


@pytest.mark.parametrize("metric", EVERY, ids=lambda m: m.name)
def test_a_score_common_to_all_secrets_changes_nothing(metric):
    rng = np.random.default_rng(1)
    secret, score = np.tile([0, 1], 30), rng.integers(0, 9, (60, 2)).astype(float)
    shifted = score + rng.integers(-5, 5, (60, 1))
    assert estimate(metric, [scored(secret, score)]) == estimate(metric, [scored(secret, shifted)])


@pytest.mark.parametrize("metric", EVERY[2:], ids=lambda m: m.name)
def test_pairs_are_measured_apart_and_named(metric):
    secret = np.repeat([0, 1, 2], 20)
    score = np.zeros((60, 3))
    score[secret == 2, 2] = 1.0
    found = estimate(metric, [scored(secret, score)], THREE)
    assert list(found) == ["a | b", "b | c"]
    assert found["b | c"].value == 1
    assert found["a | b"].value < 0.6


def test_the_advantage_threshold_comes_from_hold_out_worlds():
    fresh = scored([0, 0, 1, 1], [[0, 1], [0, 3], [0, 2], [0, 4]])
    held = (np.array([0, 1]), np.array([[0.0, 2.5], [0.0, 3.5]]))
    game = scored(fresh.secret, fresh.score, held)
    assert value(Advantage(), [game]) == 0.5
    assert value(Advantage(), [fresh]) == 0.5
    misled = scored(fresh.secret, fresh.score, (held[0], held[1][::-1]))
    assert value(Advantage(), [misled]) == 0


@few
@given(st.integers(0, 2**31))
def test_the_advantage_is_the_difference_of_the_two_rates(seed):
    rng = np.random.default_rng(seed)
    secret, score = np.repeat([0, 1], [12, 7]), rng.normal(size=(19, 2))
    held = (np.repeat([0, 1], 9), rng.normal(size=(18, 2)))
    odds, held_odds = (s[:, 1] - s[:, 0] for s in (score, held[1]))
    best = max(
        [math.inf, *sorted(held_odds, reverse=True)],
        key=lambda c: (held_odds[9:] >= c).mean() - (held_odds[:9] >= c).mean(),
    )
    expected = (odds[12:] >= best).mean() - (odds[:12] >= best).mean()
    assert value(Advantage(), [scored(secret, score, held)]) == pytest.approx(expected)


def test_scores_that_ignore_the_secret_have_no_advantage():
    # Null control: 300 advantages of nothing, each with a 95 % interval that holds 0; fewer
    # than the 1e-7 quantile would be an optimistic threshold.
    rng, n, size = np.random.default_rng(3), 300, 60
    secret = np.repeat([0, 1], size)
    found = []
    for _ in range(n):
        held = (secret, rng.normal(size=(2 * size, 2)))
        found.append(estimate(Advantage(), [scored(secret, rng.normal(size=(2 * size, 2)), held)]))
    estimates = [f[""] for f in found]
    assert sum(e.lower <= 0 <= e.upper for e in estimates) >= binom.ppf(1e-7, n, 0.95)
    assert abs(np.mean([e.value for e in estimates])) < 5.3 * math.sqrt(2 * 0.25 / size / n)


def test_a_threshold_searched_on_the_counted_scores_would_be_caught():
    rng, n, size = np.random.default_rng(3), 300, 60
    secret = np.repeat([0, 1], size)
    cheated = [
        value(Advantage(), [scored(secret, rng.normal(size=(2 * size, 2)))]) for _ in range(n)
    ]
    assert np.mean(cheated) > 5.3 * math.sqrt(2 * 0.25 / size / n)


@pytest.mark.parametrize("metric", EVERY[:2], ids=lambda m: m.name)
def test_repetitions_of_equal_size_are_averaged(metric):
    games = [guesses([0, 0, 1, 1], [0, 1, 1, 1]), guesses([0, 0, 1, 1], [0, 1, 0, 0])]
    assert value(metric, games) == pytest.approx(0.5)


@pytest.mark.parametrize("metric", EVERY[2:4], ids=lambda m: m.name)
def test_scores_of_different_attackers_are_never_ranked_together(metric):
    secret = np.repeat([0, 1], 20)
    score = np.stack([np.zeros(40), np.linspace(-1, 1, 40)], axis=1)
    shifted = score + np.array([0.0, 100.0])
    found = estimate(metric, [scored(secret, score), scored(secret, shifted)])[""]
    assert found.value == 1


@pytest.mark.parametrize("fpr", [0.0, 1.0, -0.1, math.nan, True, "0.1"])
def test_a_false_positive_rate_outside_the_open_unit_interval_is_refused(fpr):
    with pytest.raises((ValueError, TypeError), match=r"^fpr must be "):
        TprAtFpr(fpr=fpr)
