"""Noiseless statistics: worked values, proofs by random cases, and the classes of receivers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar

from mechanisms.base import NotApplicableError
from mechanisms.deterministic.gaussian_receiver import GaussianReceiver
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.receiver_strength import GaussianReceivers, smallest_class
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.persuasive.kappa_claim import compose
from mechanisms.privacy.persuasive.loss_quantile import certified_kappa, realised_kappa

SEEDS = st.integers(0, 2**32 - 1)
UNUSED = np.random.default_rng(0)


def worked():
    """Four entries of deviations 2, 1, 1, 1, w = 1.3, and the first at its worst value."""
    receiver = GaussianReceiver(mean=np.zeros(4), covariance=np.diag([4.0, 1.0, 1.0, 1.0]))
    deviation = math.sqrt(7 / 16)
    first = 2 * 1.3 / (0.5 / deviation)
    x = np.array([first, *np.full(3, (4 * 1.3 * deviation - first) / 3)])
    return receiver, x


def random_receiver(rng, n, correlated=True):
    factor = rng.normal(size=(n, n + 2)) if correlated else np.diag(rng.uniform(0.2, 3.0, n))
    return GaussianReceiver(
        mean=rng.normal(size=n), covariance=factor @ factor.T + 0.05 * np.eye(n)
    )


def conditioned(receiver, matrix, noise, release):
    """The posterior by precision matrices, another route than the covariance update."""
    precision = np.linalg.inv(receiver.covariance)
    if noise is None:  # x = start + N u over the null space N of the statistics
        start, free = np.linalg.pinv(matrix) @ release, null_space(matrix)
        covariance = free @ np.linalg.inv(free.T @ precision @ free) @ free.T
        return start + covariance @ precision @ (receiver.mean - start), np.diag(covariance)
    covariance = np.linalg.inv(precision + matrix.T @ np.linalg.inv(noise) @ matrix)
    linear = precision @ receiver.mean + matrix.T @ np.linalg.inv(noise) @ release
    return covariance @ linear, np.diag(covariance)


def test_the_worked_value():
    receiver, x = worked()
    mechanism = LinearStatistics.mean(4)
    gain = mechanism.gain(receiver)
    loss = gain.losses(mechanism.release(x[None], UNUSED), x[None])
    assert realised_kappa(loss) == pytest.approx(2.537298, abs=1e-6)
    assert gain.bound(x) == pytest.approx(2.537298, abs=1e-6)
    assert gain.exact(x).max() == pytest.approx(1.69 + math.log(7 / 3), abs=1e-12)
    for spread in ("condition", "eigenvalue", "marginal"):
        r1, r2 = smallest_class(gain, x, spread=spread)
        assert (r1, r2) == pytest.approx((1.69, 7 / 3))
    receivers = GaussianReceivers(r1=1.69 + 1e-9, r2=7 / 3 + 1e-9, spread="condition")
    assert receivers.admits(gain, x)
    claim = LinearStatistics.mean(4, receivers=receivers).guarantee
    assert claim.bound == pytest.approx(2.537298, abs=1e-6)
    assert not GaussianReceivers(r1=1.68, r2=7 / 3 + 1e-9).admits(gain, x)
    assert not GaussianReceivers(r1=1.7, r2=2.3).admits(gain, x)


@given(seed=SEEDS, n=st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_the_bound_is_attained_for_uncorrelated_entries(seed, n):
    """Identity correlation: the widest entry at z = w / rho loses r1 + log r2."""
    rng = np.random.default_rng(seed)
    deviations, w = rng.uniform(0.2, 3.0, n), rng.normal()
    receiver = GaussianReceiver(mean=rng.normal(size=n), covariance=np.diag(deviations**2))
    widest = deviations.argmax()
    spread = np.linalg.norm(deviations) / n
    x = np.full(n, receiver.mean.mean() + w * spread)
    x[widest] = receiver.mean[widest] + deviations[widest] * w / (deviations[widest] / n / spread)
    x += np.where(
        np.arange(n) == widest, 0, (w * spread - (x - receiver.mean).mean()) * n / (n - 1)
    )
    gain = LinearStatistics.mean(n).gain(receiver)
    r1, r2 = smallest_class(gain, x, spread="condition")
    assert gain.exact(x)[widest] == pytest.approx(r1 + math.log(r2), rel=1e-9)


@given(seed=SEEDS, n=st.integers(2, 6))
@settings(max_examples=100, deadline=None)
def test_kappa_is_never_below_the_exact_loss_inside_the_class(seed, n):
    rng = np.random.default_rng(seed)
    receiver, x = random_receiver(rng, n), rng.normal(0.0, 3.0, n)
    gain = LinearStatistics.mean(n).gain(receiver)
    classes = [smallest_class(gain, x, spread=s) for s in ("condition", "eigenvalue", "marginal")]
    kappas = [r1 + math.log(r2) for r1, r2 in classes]
    # Each class is contained in the next: the paper's needs the largest r2.
    assert kappas[0] >= kappas[1] - 1e-12
    assert kappas[1] >= kappas[2] - 1e-12
    assert kappas[2] >= gain.exact(x).max() - 1e-9


def test_the_bound_for_vectors_of_statistics_on_2000_random_cases():
    """Never below a loss, and met by the largest loss over databases with that release."""
    rng = np.random.default_rng(7)
    for case in range(2000):
        n = int(rng.integers(2, 7))
        k = int(rng.integers(1, n))
        receiver = random_receiver(rng, n)
        matrix = rng.normal(size=(k, n))
        noise = None if case % 2 else np.diag(rng.uniform(0.05, 2.0, k))
        mechanism = LinearStatistics(matrix=matrix, noise=noise)
        gain, x = mechanism.gain(receiver), rng.normal(0.0, 3.0, n)
        release = mechanism.release(x[None], rng)[0]
        losses = gain.losses(release, x)
        bound = gain.surprise(release) + gain.shrinkage_term()
        assert losses.max() <= bound + 1e-8 * max(1.0, bound)
        mean, variance = conditioned(receiver, matrix, noise, release)
        sd = receiver.deviations
        expected = (
            np.log(sd**2 / variance) + (x - receiver.mean) ** 2 / sd**2 - (x - mean) ** 2 / variance
        )
        # An entry with less than 1e-10 of its variance left counts as determined.
        known = variance / sd**2 < 1.1e-10
        assert (np.isfinite(losses) | known).all()
        assert losses[~known] == pytest.approx(expected[~known], rel=1e-6, abs=1e-6)


@given(seed=SEEDS, n=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_the_bound_is_the_largest_loss_over_releases_and_values(seed, n):
    """Surprise of a given length along c_i, the entry at its worst: equality in Cauchy-Schwarz."""
    rng = np.random.default_rng(seed)
    receiver, matrix = random_receiver(rng, n), rng.normal(size=(2, n))
    gain = LinearStatistics(matrix=matrix).gain(receiver)
    i = int(gain.gain()[1].argmin())
    along = matrix @ receiver.covariance[:, i]
    release = matrix @ receiver.mean + along * rng.uniform(0.5, 2.0)

    def lost(value):
        x = receiver.mean.copy()
        x[i] = value
        return -gain.losses(release, x)[i]

    best = minimize_scalar(lost, bracket=(receiver.mean[i], receiver.mean[i] + 1))
    assert -best.fun == pytest.approx(gain.surprise(release) + gain.shrinkage_term(), rel=1e-6)


def test_statistics_that_determine_an_entry_cost_infinity():
    receiver = random_receiver(np.random.default_rng(3), 3)
    x = np.array([1.0, 2.0, 3.0])
    told = LinearStatistics(matrix=np.array([[1.0, 1, 1], [0, 1, 1]])).gain(receiver)
    assert told.bound(x) == math.inf
    losses = told.exact(x)
    assert losses[0] == math.inf
    assert np.isfinite(losses[1:]).all()
    # The same statistic twice is one statistic; releasing the mean again adds nothing.
    once = LinearStatistics(matrix=np.ones((1, 3))).gain(receiver)
    twice = LinearStatistics(matrix=np.array([[1.0, 1, 1], [2, 2, 2]])).gain(receiver)
    assert twice.bound(x) == pytest.approx(once.bound(x))
    assert twice.exact(x) == pytest.approx(once.exact(x))
    with pytest.raises(ValueError, match="outside its range"):
        twice.surprise(np.array([1.0, 5.0]))


@given(seed=SEEDS, delta=st.sampled_from([0.001, 0.05, 0.3]))
@settings(max_examples=30, deadline=None)
def test_under_noise_the_exact_kappa_is_the_losses_quantile_and_below_the_bound(seed, delta):
    rng = np.random.default_rng(seed)
    n, k = 4, int(rng.integers(1, 4))
    receiver, x = random_receiver(rng, n), rng.normal(0.0, 2.0, n)
    noise = np.diag(rng.uniform(0.1, 4.0, k))
    mechanism = LinearStatistics(matrix=rng.normal(size=(k, n)), noise=noise)
    gain = mechanism.gain(receiver)
    exact, draws = gain.exact(x, delta=delta), 20_000
    losses = gain.losses(mechanism.release(np.tile(x, (draws, 1)), rng), x)
    shares = (losses > exact).mean(axis=0)
    assert (np.abs(shares - delta) <= 6 * math.sqrt(delta / draws)).all()
    assert exact.max() <= gain.bound(x, delta=delta) + 1e-9
    certified = certified_kappa(losses.T, delta=delta, error=1e-6)
    assert certified <= max(0.0, exact.max())


def test_noise_of_known_values():
    """A record of 100, w0 = 1: 1.01005 without noise; at noise equal to the mean's variance the
    two-sided quantile adds 2e-4 to the one-sided 8.37001."""
    receiver = GaussianReceiver(mean=np.zeros(100), covariance=np.eye(100))
    x = np.full(100, 0.1)
    assert LinearStatistics.mean(100).gain(receiver).bound(x) == pytest.approx(1.01005, abs=1e-5)
    noisy = LinearStatistics(matrix=np.full((1, 100), 0.01), noise=np.array([[0.01]]))
    assert noisy.gain(receiver).bound(x, delta=0.001) == pytest.approx(8.37001, abs=3e-4)
    assert noisy.gain(receiver).bound(x) == math.inf
    assert noisy.gain(receiver).exact(x, delta=0.0)[0] == pytest.approx(
        1.0 - math.log(0.995) + 0.0, abs=1
    )


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_the_class_bound_under_noise_covers_every_member(seed):
    rng = np.random.default_rng(seed)
    n, k, delta = 4, int(rng.integers(1, 3)), 0.05
    receiver, x = random_receiver(rng, n), rng.normal(0.0, 2.0, n)
    noise = np.diag(rng.uniform(0.01, 9.0, k))
    mechanism = LinearStatistics(matrix=rng.normal(size=(k, n)), noise=noise, delta=delta)
    gain = mechanism.gain(receiver)
    r1, r2 = smallest_class(gain, x)
    claim = LinearStatistics(
        matrix=mechanism.matrix,
        noise=noise,
        delta=delta,
        receivers=GaussianReceivers(r1=r1, r2=r2 + 1e-9),
    ).guarantee
    assert gain.bound(x, delta=delta) <= claim.bound + 1e-6
    assert claim.notion.delta == delta


def test_records_of_several_attributes():
    """Independent records: rho^2 = 1/n for every attribute, whatever the statistics' weights."""
    rng = np.random.default_rng(5)
    covariance = np.cov(rng.normal(size=(50, 3)).T)
    receiver = GaussianReceiver.of_records(mean=np.ones(3), covariance=covariance, size=20)
    mechanism = LinearStatistics.of_records(np.eye(3) / 20, size=20)
    assert mechanism.gain(receiver).gain()[1] == pytest.approx(1 - 1 / 20)
    records = rng.normal(size=(2, 20, 3))
    assert mechanism.release(records, rng) == pytest.approx(records.mean(axis=1))
    assert mechanism.repeated_guarantee(3) == mechanism.guarantee


def test_the_class_is_not_conjugate_and_no_class_is_no_claim():
    receivers = GaussianReceivers(r1=1.0, r2=2.0)
    mechanism = LinearStatistics.mean(4, receivers=receivers)
    with pytest.raises(NotApplicableError, match="degenerate"):
        compose(mechanism.guarantee, mechanism, mechanism.guarantee)
    assert isinstance(LinearStatistics.mean(4).guarantee, NoClaim)
    assert mechanism.deterministic


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: GaussianReceiver(mean=np.zeros(2), covariance=np.array([[1.0, 2], [2, 1]])),
            "positive semi-definite, got an eigenvalue -1",
        ),
        (
            lambda: GaussianReceiver(mean=np.zeros(2), covariance=np.diag([1.0, 0.0])),
            "got 0 for entry 1",
        ),
        (lambda: GaussianReceiver(mean=np.zeros(2), covariance=np.eye(3)), "got"),
        (
            lambda: GaussianReceiver(mean=np.zeros(2), covariance=np.array([[1.0, 0.5], [0, 1]])),
            "symmetric",
        ),
        (lambda: GaussianReceiver.fitted(np.ones((1, 3))), "at least 2"),
        (lambda: GaussianReceiver.fitted(np.ones((4, 3))), "vary in every entry"),
        (lambda: GaussianReceiver.fitted(np.eye(3), shrinkage=2.0), "shrinkage must be"),
        (lambda: GaussianReceivers(r1=0.0, r2=2.0), "r1 must be"),
        (lambda: GaussianReceivers(r1=1.0, r2=1.0), "r2 must be"),
        (lambda: GaussianReceivers(r1=1.0, r2=2.0, spread="x"), "spread must be"),
        (lambda: LinearStatistics(matrix=np.zeros((1, 3))), "row of zeros"),
        (lambda: LinearStatistics(matrix=np.ones((1, 3)), noise=[[-1.0]]), "semi-definite"),
        (
            lambda: LinearStatistics.mean(3).gain(worked()[0]),
            "3 columns|4 columns",
        ),
        (lambda: LinearStatistics.mean(3).release(np.ones((2, 4)), UNUSED), "3 entries, got 4"),
        (
            lambda: smallest_class(
                LinearStatistics(matrix=np.eye(4)[:1]).gain(worked()[0]),
                worked()[1],
                spread="condition",
            ),
            "other than the mean",
        ),
    ],
)
def test_bad_input_is_told_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
