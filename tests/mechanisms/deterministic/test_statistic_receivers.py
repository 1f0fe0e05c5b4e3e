"""Receivers of sums over records: the worst of a class attain its bound, by two routes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.bayesian_receiver import GaussianBayes
from mechanisms.base import NotOfferedError
from mechanisms.deterministic.calibrations import NoiselessStatistics, ReceiverStrength
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.receiver_strength import GaussianReceivers, smallest_class
from mechanisms.deterministic.statistic_receivers import StatisticReceivers
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.bracket import Bracket, NotComputableError
from mechanisms.privacy.guarantee import NotComparable
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.privacy.persuasive.kappa_claim import persuasive_guarantee
from mechanisms.privacy.persuasive.notion import Persuasive

SEEDS = st.integers(0, 2**32 - 1)


def receivers_of(seed, *, size=6, attributes=2, informed=((1.0, 2.0),)):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(attributes, attributes))
    return StatisticReceivers(
        weights=np.diag(rng.uniform(0.5, 2, attributes) / size),
        size=size,
        mean=rng.normal(size=attributes),
        covariance=root @ root.T + 0.3 * np.eye(attributes),
        informed=informed,
    )


def played(mechanism, receivers, *, worlds=40, n_releases=1, seed=0):
    """Return a played cell: databases drawn from the fitted receiver's own prior."""
    rng = np.random.default_rng(seed)
    shape = (worlds, receivers.size, receivers.mean.size)
    root = np.linalg.cholesky(receivers.covariance)
    database = receivers.mean + rng.normal(size=shape) @ root.T
    answers = database.reshape(worlds, -1) @ receivers.matrix.T
    seen = answers if mechanism.sees == "answers" else database
    releases = np.stack([mechanism.release(seen, rng) for _ in range(n_releases)], axis=1)
    return SimpleNamespace(
        mechanism=mechanism, n_releases=n_releases, answers=answers, database=database,
        releases=releases, knowledge=lambda _: receivers,
    )  # fmt: skip


def gaussian(receivers, scale):
    covariance = scale**2 * np.eye(len(receivers.weights))
    noise = GaussianNoise(covariance=covariance, calibration="analytic")
    return AdditiveNoise(noise=noise, claim=None)


@given(seed=SEEDS, r1=st.floats(0.1, 10), r2=st.floats(1.05, 50))
@settings(max_examples=60, deadline=None)
def test_an_informed_receiver_lies_at_the_edge_of_its_class_and_gains_its_kappa(seed, r1, r2):
    receivers = receivers_of(seed)
    entry = seed % receivers.matrix.shape[1]
    receiver, error = receivers.off_by_one(r1, r2, entry)
    gain = LinearStatistics(matrix=receivers.matrix).gain(receiver)
    needed = smallest_class(gain, error)
    assert needed[0] == pytest.approx(r1, rel=1e-6)
    # The entry's own share is r2; other entries may only need less where theirs is smaller.
    assert 1 / gain.gain()[1][entry] == pytest.approx(r2, rel=1e-6)
    # The other route: conditioning the joint normal law.
    bayes = GaussianBayes(
        mean=receiver.mean, covariance=receiver.covariance, matrix=receivers.matrix
    )
    realised = bayes.scores((receivers.matrix @ error)[None], error[None]).gain[0, entry]
    assert realised == pytest.approx(r1 + math.log(r2), rel=1e-5)


@given(seed=SEEDS, r1=st.floats(0.2, 6), r2=st.floats(1.3, 20))
@settings(max_examples=40, deadline=None)
def test_the_three_numbers_keep_their_order_and_meet_at_the_edge(seed, r1, r2):
    receivers = receivers_of(seed, informed=((r1, r2), (2 * r1, r2), (r1, 2 * r2)))
    mechanism = NoiselessStatistics().calibrate(receivers, budget=ReceiverStrength(r1=r1, r2=r2))
    claim = mechanism.guarantee
    assert claim.bound == pytest.approx(r1 + math.log(r2))
    evidence = claim.notion.evidence(played(mechanism, receivers, seed=seed))
    exact, certified = claim.notion.exact(evidence), claim.notion.certify(evidence, 0.05)
    assert exact.hi <= claim.bound + 1e-9
    assert certified == pytest.approx(exact.hi, rel=1e-6)  # realised: nothing was sampled
    # Everybody counts where no class is stated: the stronger receivers gain more.
    everybody = Persuasive().exact(Persuasive().evidence(played(mechanism, receivers, seed=seed)))
    assert everybody.lo >= max(exact.hi, 2 * r1 + math.log(r2) - 1e-6)
    assert exact.hi == pytest.approx(claim.bound, rel=1e-6) or r2 < 2


def test_the_exact_number_is_tight_for_the_means_of_adult_like_records():
    receivers = receivers_of(1, size=100, attributes=5, informed=((2.0, 8.0),))
    budget = ReceiverStrength(r1=2.0, r2=8.0)
    mechanism = NoiselessStatistics().calibrate(receivers, budget=budget)
    notion = mechanism.guarantee.notion
    exact = notion.exact(notion.evidence(played(mechanism, receivers)))
    assert exact.hi == pytest.approx(2 + math.log(8), rel=1e-8)
    assert notion.unit == "kappa in nats, the claim's receivers"


def test_no_receiver_in_the_class_is_said_and_no_zero():
    receivers = receivers_of(1, informed=())
    mechanism = NoiselessStatistics().calibrate(
        receivers, budget=ReceiverStrength(r1=1e-9, r2=1.0001)
    )
    with pytest.raises(NotComputableError, match="no receiver of the scenario belongs"):
        mechanism.guarantee.notion.evidence(played(mechanism, receivers))


@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_noisy_releases_are_certified_below_the_exact_number_at_the_stated_error(delta):
    receivers = receivers_of(3, informed=((1.0, 2.0), (4.0, 5.0)))
    mechanism = gaussian(receivers, 0.5)
    notion = Persuasive(delta=delta)
    above, found = 0, []
    for seed in range(60):
        evidence = notion.evidence(played(mechanism, receivers, worlds=400, seed=seed))
        exact = notion.exact(evidence).hi
        found.append(notion.certify(evidence, 0.2))
        # The fitted receiver has a database a world: it counts in the exact number alone.
        informed = max(
            float(
                LinearStatistics(matrix=receivers.matrix, noise=0.25 * np.eye(2))
                .gain(receiver)
                .exact(error, delta=delta)[entry]
            )
            for r1, r2 in receivers.informed
            for entry in range(2)
            for receiver, error in [receivers.off_by_one(r1, r2, entry)]
        )
        above += found[-1] > informed + 1e-9
        assert exact >= informed - 1e-9
    assert above <= 60 * 0.2
    assert np.median(found) > 0.5 * informed


def test_several_releases_are_read_as_their_average():
    receivers = receivers_of(4)
    one = Persuasive(delta=0.1)
    cell = played(gaussian(receivers, 1.0), receivers, n_releases=4)
    less = played(gaussian(receivers, 0.5), receivers)
    assert one.exact(one.evidence(cell)).hi == pytest.approx(one.exact(one.evidence(less)).hi)


def test_what_cannot_be_computed_says_why():
    receivers = receivers_of(5)
    laplace = AdditiveNoise(noise=LaplaceNoise(scales=np.ones(2)), claim=None)
    with pytest.raises(NotComputableError, match="exact statistics and Gaussian noise"):
        Persuasive().evidence(played(laplace, receivers))
    cell = played(ExactRelease(), receivers)
    cell.database = None
    with pytest.raises(NotComputableError, match="draws no records"):
        Persuasive().evidence(cell)

    def nothing(_):
        raise NotOfferedError("the scenario offers nothing")

    cell.knowledge = nothing
    with pytest.raises(NotComputableError, match="offers nothing"):
        Persuasive().evidence(cell)


def test_other_guarantees_do_not_reach_these_receivers():
    whom = GaussianReceivers(r1=1.0, r2=2.0)
    claim = persuasive_guarantee(scores="s", receivers=whom, kappa=1.0, delta=0.1, theorem="t")
    assert "delta=0.1" in Persuasive().converted(claim).reason
    assert whom.name in Persuasive(delta=0.1).converted(claim).reason
    other = SimpleNamespace(notion=Approximate(delta=0.0))
    found = Persuasive().converted(other)
    assert isinstance(found, NotComparable)
    assert "two-point priors" in found.reason
    assert claim.name == "persuasive privacy"
    assert isinstance(Persuasive().exact(SimpleNamespace(exact=1.0)), Bracket)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"informed": ((0.0, 2.0),)}, "r1 of an informed receiver must be in"),
        ({"informed": ((1.0, 1.0),)}, "r2 of an informed receiver must be in"),
        ({"size": 1}, "size must be a whole number of at least 2"),
    ],
)
def test_bad_receivers_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        receivers_of(0, **options)
    with pytest.raises(ValueError, match="entry must count"):
        StatisticReceivers(
            weights=[[1.0, 0.0]], size=3, mean=np.zeros(2), covariance=np.eye(2)
        ).off_by_one(1.0, 2.0, 1)
