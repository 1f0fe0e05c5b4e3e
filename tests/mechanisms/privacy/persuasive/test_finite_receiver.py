"""Persuasive privacy of listed mechanisms: definition, composition, both post-processings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.kappa_claim import compose, persuasive_guarantee
from mechanisms.privacy.persuasive.loss_quantile import exact_kappa
from mechanisms.privacy.persuasive.receivers import (
    AnyPrior,
    ListedPriors,
    SmallCountReceivers,
    TwoPointPriors,
)
from mechanisms.privacy.persuasive.scores import DawidSebastiani, LogScore, MostProbableInterval
from mechanisms.privacy.persuasive.two_point_priors import probabilistic_dp, two_point_loss

A, B = (0.1, 0.6, 0.3, 0.0), (0.0, 0.3, 0.6, 0.1)
PAIR = FiniteKernel(points=np.array([[0.0], [1.0]]), probabilities=np.array([A, B]))
SEEDS = st.integers(0, 2**32 - 1)


def random_kernel(rng, k=3, t=4, zeros=True):
    table = rng.dirichlet(np.ones(t), size=k)
    if zeros:
        table = np.where(rng.random((k, t)) < 0.2, 0.0, table) + 1e-3 * np.eye(k, t)
    return FiniteKernel(
        points=rng.normal(size=(k, 2)), probabilities=table / table.sum(axis=1, keepdims=True)
    )


@given(seed=SEEDS, delta=st.sampled_from([0.0, 0.05, 0.3]))
@settings(max_examples=60, deadline=None)
def test_losses_and_kappa_are_those_of_the_definition(seed, delta):
    rng = np.random.default_rng(seed)
    kernel, prior = random_kernel(rng), rng.dirichlet(np.ones(3))
    values = kernel.points[:, 1]

    def dawid_sebastiani(p, x):
        mean = sum(p * values)
        variance = sum(p * (values - mean) ** 2)
        return math.log(variance) + (values[x] - mean) ** 2 / variance

    found = kernel.losses([LogScore(), DawidSebastiani(1)], prior)[:, 0]
    worst = 0.0
    for x in range(3):
        masses = kernel.probabilities[x]
        for t in np.flatnonzero(masses > 0):
            posterior = prior * kernel.probabilities[:, t]
            posterior /= posterior.sum()
            assert found[0, x, t] == pytest.approx(math.log(posterior[x] / prior[x]), abs=1e-9)
            if (posterior > 0).sum() == 1:
                assert found[1, x, t] == math.inf
            else:
                gain = dawid_sebastiani(prior, x) - dawid_sebastiani(posterior, x)
                assert found[1, x, t] == pytest.approx(gain, abs=1e-6)
        for losses in found[:, x]:
            kappas = [k for k in (0.0, *losses) if k >= 0 and masses[losses > k].sum() <= delta]
            worst = max(worst, min(kappas))
    assert kernel.kappa([LogScore(), DawidSebastiani(1)], prior, delta=delta) == worst


def test_the_interval_score_names_the_most_probable_interval():
    points = np.arange(6.0)[:, None]
    flat = np.full(6, 1 / 6)
    peaked = np.array([0.05, 0.05, 0.1, 0.3, 0.4, 0.1])
    score = MostProbableInterval(entry=0, length=1.0)
    table = FiniteKernel(points=points, probabilities=np.eye(6))
    # Flat: the lowest pair {0, 1}; peaked: {3, 4}.
    for law, inside in ((flat, {0, 1}), (peaked, {3, 4})):
        before = [x in inside for x in range(6)]
        losses = table.losses([score], law)[0, 0]
        # The release names the point, so the interval afterwards starts at it.
        assert losses.diagonal().tolist() == [0.0 if b else 1.0 for b in before]


@given(seed=SEEDS, delta=st.sampled_from([0.0, 0.02, 0.1, 0.3]))
@settings(max_examples=100, deadline=None)
def test_two_point_priors_give_probabilistic_dp(seed, delta):
    """The supremum over priors is the limit q -> 0: below it for q > 0, met to 1e-6 at 1e-9."""
    kernel = random_kernel(np.random.default_rng(seed), k=2)
    epsilon = probabilistic_dp(kernel, [(0, 1)], delta)
    q = np.array([1e-9, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-3])
    priors = np.concatenate([np.stack([q, 1 - q], axis=1), np.stack([1 - q, q], axis=1)])
    kappas = [kernel.kappa([LogScore()], prior, delta=delta) for prior in priors]
    assert max(kappas) <= epsilon + 1e-9
    near = max(kappas[0], kappas[6])
    if math.isinf(epsilon):
        assert near > math.log(1e8)  # log of 1/q: without bound as q falls
    else:
        assert near == pytest.approx(epsilon, abs=1e-5)


def test_loss_rises_as_the_prior_probability_of_the_truth_falls():
    q = np.array([0.9, 0.5, 0.1, 0.01, 0.0])
    gains = two_point_loss(math.log(4), q)
    assert (np.diff(gains) > 0).all()
    assert gains == pytest.approx(np.log(4 / (4 * q + 1 - q)))
    assert two_point_loss(math.inf, np.array([0.25])) == pytest.approx(math.log(4))
    assert two_point_loss(-math.inf, np.array([0.25])) == -math.inf


def test_sender_post_processing_fails_as_computed_and_receiver_post_processing_holds():
    """Merging two outputs doubles no ratio, but moves mass .7 above log 2 where .1 was."""
    assert probabilistic_dp(PAIR, [(0, 1)], 0.1) == pytest.approx(math.log(2))
    merge = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    merged = PAIR.replaced_by(merge)
    assert probabilistic_dp(merged, [(0, 1)], 0.1) == pytest.approx(math.log(7 / 3))
    bad = merged.probabilities[0][merged.probabilities[0] > 2 * merged.probabilities[1]].sum()
    assert bad == pytest.approx(0.7)
    assert probabilistic_dp(PAIR.then(merge), [(0, 1)], 0.1) == pytest.approx(math.log(2))


@given(seed=SEEDS, delta=st.sampled_from([0.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_receivers_gain_nothing_by_post_processing(seed, delta):
    rng = np.random.default_rng(seed)
    kernel, prior = random_kernel(rng, zeros=False), rng.dirichlet(np.ones(3), size=4)
    after = rng.dirichlet(np.ones(2), size=4)
    before = kernel.kappa([LogScore()], prior, delta=delta)
    assert kernel.then(after).kappa([LogScore()], prior, delta=delta) <= before + 1e-9


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_composition_telescopes(seed):
    """The loss of both releases is the first loss plus the second of the first's posterior."""
    rng = np.random.default_rng(seed)
    first, prior = random_kernel(rng, zeros=False), rng.dirichlet(np.ones(3))
    second = rng.dirichlet(np.ones(2), size=(3, 4))
    both = first.composed(second).losses([LogScore()], prior)[0, 0].reshape(3, 4, 2)
    alone = first.losses([LogScore()], prior)[0, 0]
    for t in range(4):
        then = FiniteKernel(points=first.points, probabilities=second[:, t])
        posterior = first.posterior(prior)[0, t]
        follows = then.losses([LogScore()], posterior)[0, 0]
        assert both[:, t] == pytest.approx(alone[:, t, None] + follows, abs=1e-9)


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_composed_two_point_kappas_add_up(seed):
    rng = np.random.default_rng(seed)
    first = random_kernel(rng, k=2, zeros=False)
    second = rng.dirichlet(np.ones(2), size=(2, 4))
    k1 = probabilistic_dp(first, [(0, 1)], 0.1)
    k2 = max(
        probabilistic_dp(
            FiniteKernel(points=first.points, probabilities=second[:, t]), [(0, 1)], 0.05
        )
        for t in range(4)
    )
    assert probabilistic_dp(first.composed(second), [(0, 1)], 0.15) <= k1 + k2 + 1e-9


def claim(kappa=1.0, delta=0.1, scores="log", receivers=None):
    return persuasive_guarantee(
        scores=scores,
        receivers=receivers or TwoPointPriors(),
        kappa=kappa,
        delta=delta,
        theorem="test",
    )


def test_guarantees_compose_only_where_the_class_is_conjugate():
    both = compose(claim(), PAIR, claim(kappa=0.5, delta=0.05))
    assert (both.bound, both.notion.delta) == (1.5, pytest.approx(0.15))
    assert compose(claim(receivers=AnyPrior()), PAIR, claim(receivers=AnyPrior())).bound == 2.0

    flat = ListedPriors(priors=np.array([[0.5, 0.5]]))
    with pytest.raises(NotApplicableError, match=r"not conjugate.*prior 0 after output 0"):
        compose(claim(receivers=flat), PAIR, claim(receivers=flat))
    blind = FiniteKernel(points=PAIR.points, probabilities=np.full((2, 2), 0.5))
    assert compose(claim(receivers=flat), blind, claim(receivers=flat)).bound == 2.0
    with pytest.raises(NotApplicableError, match="not a finite kernel"):
        compose(claim(receivers=flat), object(), claim(receivers=flat))

    cells = SmallCountReceivers(threshold=3, alpha=0.2)
    with pytest.raises(NotApplicableError, match="after a published count"):
        compose(claim(receivers=cells), None, claim(receivers=cells))
    with pytest.raises(NotApplicableError, match="same scores"):
        compose(claim(), PAIR, claim(scores="other"))
    with pytest.raises(NotApplicableError, match="same receivers"):
        compose(claim(), PAIR, claim(receivers=AnyPrior()))
    with pytest.raises(NotApplicableError, match="nothing is promised"):
        compose(claim(delta=0.5), PAIR, claim(delta=0.5))


def test_an_impossible_database_and_an_impossible_output_lose_nothing():
    """Both scores are infinite where the prior excludes the truth: the difference counts as 0."""
    kernel = FiniteKernel(points=PAIR.points, probabilities=np.eye(2))
    losses = kernel.losses([LogScore()], np.array([1.0, 0.0]))[0, 0]
    assert losses[0].tolist() == [0.0, 0.0]
    assert losses[1].tolist() == [0.0, 0.0]


def test_a_class_may_depend_on_the_database():
    priors = np.array([[0.9, 0.1], [0.1, 0.9]])
    everyone = PAIR.kappa([LogScore()], priors, delta=0.1)
    right = PAIR.kappa([LogScore()], priors, delta=0.1, admitted=np.array([[1, 0], [0, 1]]))
    assert right < everyone
    with pytest.raises(ValueError, match=r"admitted must have shape \(2, 2\)"):
        PAIR.kappa([LogScore()], priors, delta=0.1, admitted=np.ones(2))


def test_quantiles_take_the_whole_tail():
    losses, masses = np.array([5.0, 2.0, 1.0]), np.array([0.1, 0.2, 0.7])
    assert [exact_kappa(losses, masses, delta=d) for d in (0.0, 0.09, 0.1, 0.29, 0.3)] == [
        5.0,
        5.0,
        2.0,
        2.0,
        1.0,
    ]
    # An impossible release does not count, a very unlikely one does at delta = 0.
    assert exact_kappa(losses, np.array([0.0, 0.3, 0.7]), delta=0.0) == 2.0
    assert exact_kappa(losses, np.array([1e-300, 0.3, 0.7]), delta=0.0) == 5.0
    assert exact_kappa(np.array([-1.0]), np.ones(1), delta=0.0) == 0.0
    with pytest.raises(ValueError, match="NaN"):
        exact_kappa(np.array([np.nan]), np.ones(1), delta=0.0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FiniteKernel(points=np.zeros((2, 1)), probabilities=np.eye(3)), "points must"),
        (
            lambda: FiniteKernel(points=np.zeros((2, 1)), probabilities=np.ones((2, 2))),
            "sum to 1",
        ),
        (lambda: claim(kappa=-1.0), "kappa must be"),
        (lambda: claim(delta=1.0), "delta must be"),
        (lambda: SmallCountReceivers(threshold=3, alpha=0.0), "alpha must be"),
        (lambda: two_point_loss(1.0, 1.5), "q must be"),
        (lambda: MostProbableInterval(entry=0, length=0.0), "length must be"),
    ],
)
def test_bad_input_is_told_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
