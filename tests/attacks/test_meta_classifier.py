import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.majority import Majority
from attacks.meta_classifier import MetaClassifier, entries_of
from bench.metrics.attack import Accuracy, BalancedAccuracy
from bench.metrics.base import Names, Scored
from mechanisms.noise.identity import ExactRelease

NAMES = Names(secrets=("a", "b"), pairs=((0, 1),), statistics=())
LINEAR = LogisticRegression()
ESTIMATORS = [
    LINEAR,
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors=15)),
]


def target(n_secrets=2):
    return Target(mechanism=ExactRelease(), n_secrets=n_secrets, laws=None)


def worlds(counts, signal, k=1, noise=1.0, seed=0):
    """Worlds whose answer is `signal` times the secret, released with noise."""
    rng = np.random.default_rng(seed)
    secret = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    answers = signal * secret[:, None] + 0.1 * rng.normal(size=(secret.size, 1))
    releases = answers[:, None] + noise * rng.normal(size=(secret.size, k, 1))
    return Transcript(secret=secret, answers=answers, releases=releases)


def attacked(attack, shadow, fresh, n_secrets=2, seed=0):
    return attack.fit(shadow, target(n_secrets), np.random.default_rng(seed)).score(fresh.releases)


def estimate(metric, fresh, score):
    game = Scored(
        secret=fresh.secret, score=score, holdout_secret=fresh.secret, holdout_score=score
    )
    return metric.estimate([game], NAMES, np.random.default_rng(0))[""]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["linear", "scaled", "neighbours"])
def test_a_release_that_ignores_the_secret_is_not_broken(estimator, adaptive):
    # Null control: hits among 1,000 fair coins leave these limits once in a million.
    attack = MetaClassifier(estimator=estimator, adaptive=adaptive)
    fresh = worlds([500, 500], 0.0, seed=1)
    score = attacked(attack, worlds([300, 300], 0.0), fresh)
    hits = estimate(Accuracy(), fresh, score).value * 1000
    assert binom.ppf(5e-7, 1000, 0.5) <= hits <= binom.isf(5e-7, 1000, 0.5)


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["linear", "scaled", "neighbours"])
def test_a_release_that_tells_the_secret_is_broken(estimator, adaptive):
    attack = MetaClassifier(estimator=estimator, adaptive=adaptive)
    fresh = worlds([500, 500], 3.0, seed=1)
    score = attacked(attack, worlds([300, 300], 3.0), fresh)
    assert estimate(Accuracy(), fresh, score).lower > 0.85


def test_an_adaptive_attacker_trains_on_releases_and_the_published_one_on_answers():
    plain = worlds([200, 200], 1.0)
    lied = Transcript(secret=plain.secret, answers=plain.answers, releases=-plain.releases)
    fresh = worlds([200, 200], 1.0, noise=0.1, seed=1)
    published, adaptive = (MetaClassifier(estimator=LINEAR, adaptive=a) for a in (False, True))
    assert estimate(Accuracy(), fresh, attacked(published, lied, fresh)).value > 0.95
    assert estimate(Accuracy(), fresh, attacked(adaptive, lied, fresh)).value < 0.55
    assert (attacked(published, lied, fresh) == attacked(published, plain, fresh)).all()
    assert (published.adaptive, adaptive.adaptive) == (False, True)
    assert published.trained


def test_clean_training_repeats_the_answer_for_every_release():
    fresh = worlds([50, 50], 3.0, k=4, seed=1)
    score = attacked(
        MetaClassifier(estimator=LINEAR, adaptive=False), worlds([50, 50], 3.0, k=4), fresh
    )
    assert estimate(Accuracy(), fresh, score).value > 0.9


def test_more_releases_help_the_attack():
    found = []
    for k in (1, 16):
        fresh = worlds([500, 500], 0.7, k=k, seed=1)
        score = attacked(MetaClassifier(estimator=LINEAR), worlds([500, 500], 0.7, k=k), fresh)
        found.append(estimate(Accuracy(), fresh, score))
    assert found[1].lower > found[0].upper


def test_three_to_one_labels_make_the_majority_look_good_but_not_balanced():
    shadow, fresh = worlds([300, 100], 0.0), worlds([600, 200], 0.0, seed=1)
    score = attacked(MetaClassifier(estimator=LINEAR), shadow, fresh)
    floor = attacked(Majority(), shadow, fresh)
    assert estimate(Accuracy(), fresh, floor).value == 0.75
    assert estimate(Accuracy(), fresh, score).value == pytest.approx(0.75, abs=0.02)
    assert estimate(BalancedAccuracy(), fresh, floor).value == 0.5
    balanced = estimate(BalancedAccuracy(), fresh, score)
    assert balanced.lower <= 0.5 <= balanced.upper


class Shuffled(ClassifierMixin, BaseEstimator):
    """A classifier whose columns are not in the order of the secrets."""

    def fit(self, features, secret):
        """Remember the means."""
        self.n_features_in_ = features.shape[1]
        self.classes_ = np.unique(secret)[::-1]
        self.means_ = [features[secret == c].mean() for c in self.classes_]
        return self

    def predict_proba(self, features):
        """Weigh the classes by closeness."""
        closeness = np.exp(-((features.mean(axis=1)[:, None] - self.means_) ** 2))
        return closeness / closeness.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("size", [2, 3])
def test_columns_follow_the_classes_of_the_estimator(size):
    fresh = worlds([40] * size, 3.0, noise=0.1, seed=1)
    shadow = worlds([40] * size, 3.0, noise=0.1)
    score = attacked(MetaClassifier(estimator=Shuffled()), shadow, fresh, size)
    assert score.shape == (40 * size, size)
    assert (score.argmax(axis=1) == fresh.secret).mean() > 0.95


def test_scores_are_log_probabilities():
    fresh = worlds([30, 30], 1.0, seed=1)
    score = attacked(MetaClassifier(estimator=LINEAR), worlds([30, 30], 1.0), fresh)
    assert np.exp(score).sum(axis=1) == pytest.approx(np.ones(60))


def test_certain_classifiers_score_minus_infinity_without_a_warning():
    fresh = worlds([30, 30], 9.0, noise=0.1, seed=1)
    attack = MetaClassifier(estimator=DecisionTreeClassifier())
    score = attacked(attack, worlds([30, 30], 9.0, noise=0.1), fresh)
    assert set(np.unique(score)) == {-math.inf, 0.0}


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=3),
        make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3)),
    ],
    ids=["plain", "inside a pipeline"],
)
def test_random_estimators_follow_the_stream_not_the_global_state(estimator):
    shadow, fresh = worlds([60, 60], 0.5), worlds([60, 60], 0.5, seed=1)
    attack = MetaClassifier(estimator=estimator)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (attacked(attack, shadow, fresh, seed=s) for s in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_the_given_estimator_is_never_fitted():
    estimator = LogisticRegression()
    attacked(MetaClassifier(estimator=estimator), worlds([9, 9], 1.0), worlds([9, 9], 1.0))
    assert not hasattr(estimator, "coef_")


def test_a_class_with_one_member_is_learnt():
    fresh = worlds([20, 20], 30.0, seed=1)
    score = attacked(MetaClassifier(estimator=LINEAR), worlds([50, 1], 30.0), fresh)
    assert estimate(BalancedAccuracy(), fresh, score).value > 0.9


@pytest.mark.parametrize(("counts", "n", "missing"), [([9, 0], 2, [1]), ([9, 0, 9], 3, [1])])
def test_shadow_worlds_without_a_secret_are_refused(counts, n, missing):
    with pytest.raises(ValueError, match=rf"must hold every secret, got none of \[{missing[0]}\]"):
        attacked(MetaClassifier(estimator=LINEAR), worlds(counts, 1.0), worlds([9, 9], 1.0), n)


@pytest.mark.parametrize(
    "estimator",
    [SVC(), SGDClassifier(), LinearRegression(), None, "logistic", LogisticRegression],
    ids=lambda e: type(e).__name__,
)
def test_an_estimator_without_probabilities_is_refused(estimator):
    with pytest.raises(TypeError, match=r"^estimator must be .* with predict_proba, got .*\.$"):
        MetaClassifier(estimator=estimator)


@pytest.mark.parametrize("adaptive", ["yes", "", None, 1])
def test_other_values_of_adaptive_are_refused(adaptive):
    with pytest.raises(ValueError, match=r"^adaptive must be true or false, got adaptive="):
        MetaClassifier(estimator=LINEAR, adaptive=adaptive)


def test_releases_of_another_width_are_not_supported():
    attacker = MetaClassifier(estimator=LINEAR).fit(
        worlds([9, 9], 1.0, k=2), target(), np.random.default_rng(0)
    )
    with pytest.raises(UnsupportedMechanismError, match="trained on 2 features, the release has 3"):
        attacker.score(np.zeros((4, 3, 1)))


def test_infinite_releases_are_refused_with_the_reason():
    shadow = worlds([9, 9], 1.0)
    broken = replace(shadow, releases=np.full_like(shadow.releases, math.inf))
    reason = r"^a classifier reads finite numbers, got an infinite release$"
    with pytest.raises(UnsupportedMechanismError, match=reason):
        attacked(MetaClassifier(estimator=LINEAR), broken, shadow)
    attacker = MetaClassifier(estimator=LINEAR).fit(shadow, target(), np.random.default_rng(0))
    with pytest.raises(UnsupportedMechanismError, match=reason):
        attacker.score(broken.releases)


def test_releases_that_are_no_numbers_are_refused_with_the_reason():
    shadow = worlds([9, 9], 1.0)
    words = replace(shadow, releases=np.full(shadow.releases.shape, "low"))
    with pytest.raises(UnsupportedMechanismError, match=r"^a classifier reads numbers, got .*<U3"):
        attacked(MetaClassifier(estimator=LINEAR), words, shadow)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["linear", "scaled", "neighbours"])
def test_which_entries_are_missing_tells_the_secret(estimator):
    # Values are noise; the second secret's first cell is suppressed four times as often.
    def suppressed(seed):
        plain, rng = worlds([400, 400], 0.0, k=2, seed=seed), np.random.default_rng(seed)
        hidden = rng.random(800) < np.where(plain.secret == 1, 0.8, 0.2)
        releases = plain.releases.copy()
        releases[hidden, 0] = math.nan
        return replace(plain, releases=releases)

    fresh = suppressed(1)
    score = attacked(MetaClassifier(estimator=estimator), suppressed(0), fresh)
    found = estimate(Accuracy(), fresh, score)
    assert found.lower > 0.7
    # Null control: the attacker who sees the values alone.
    filled = replace(fresh, releases=np.nan_to_num(fresh.releases))
    blind = attacked(MetaClassifier(estimator=estimator), worlds([400, 400], 0.0, k=2), filled)
    assert estimate(Accuracy(), fresh, blind).lower < 0.5


def test_entries_missing_in_training_or_in_all_worlds_fail_nothing():
    shadow = worlds([20, 20], 2.0, k=2)
    never = shadow.releases.copy()
    never[:, 1] = math.nan
    attack = MetaClassifier(estimator=LINEAR)
    fitted = attack.fit(replace(shadow, releases=never), target(), np.random.default_rng(0))
    assert np.isfinite(fitted.score(shadow.releases)).all()
    fitted = attack.fit(shadow, target(), np.random.default_rng(0))
    assert np.isfinite(fitted.score(never)).all()


def test_entries_are_flattened_in_the_order_of_the_releases():
    releases = np.arange(24).reshape(2, 3, 2, 2)
    assert entries_of(releases).tolist() == [list(range(12)), list(range(12, 24))]
    assert entries_of(np.array([[True], [False]])).tolist() == [[1.0], [0.0]]


def test_iteration_limits_do_not_stop_the_published_attack(recwarn):
    shadow = worlds([50, 50], 1.0)
    wide = SimpleNamespace(secret=shadow.secret, releases=shadow.releases * 1e4)
    hurried = MetaClassifier(estimator=LogisticRegression(max_iter=1))
    assert attacked(hurried, Transcript(**vars(wide), answers=shadow.answers), shadow).shape == (
        100,
        2,
    )
    assert not recwarn.list
