"""Bayesian receivers against closed forms, with null and power controls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.bayesian_receiver import FiniteBayes, GaussianBayes, cell_posteriors
from attacks.interval.cell_limits import rounded_cells, suppressed_cells
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.gaussian_receiver import GaussianReceiver
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.rounding import Rounding
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.loss_quantile import realised_kappa
from mechanisms.privacy.persuasive.scores import DawidSebastiani, LogScore, MostProbableInterval

SEEDS = st.integers(0, 2**32 - 1)


def gaussian(seed, n=5, k=2, noisy=False):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    prior = rng.normal(size=n), factor @ factor.T + 0.1 * np.eye(n)
    matrix = rng.normal(size=(k, n))
    return rng, prior, matrix, (np.diag(rng.uniform(0.1, 2, k)) if noisy else None)


@given(seed=SEEDS, noisy=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_realised_gain_is_the_mechanism_s_exact_loss(seed, noisy):
    rng, (mean, covariance), matrix, noise = gaussian(seed, noisy=noisy)
    mechanism = LinearStatistics(matrix=matrix, noise=noise)
    x = rng.normal(0, 2, (6, 5))
    releases = mechanism.release(x, rng)
    attack = GaussianBayes(mean=mean, covariance=covariance, matrix=matrix, noise=noise)
    gained = attack.scores(releases, x).gain
    exact = mechanism.gain(GaussianReceiver(mean=mean, covariance=covariance))
    assert gained == pytest.approx(exact.losses(releases, x), rel=1e-6, abs=1e-6)


def test_null_a_release_that_is_independent_of_an_entry_gains_nothing_about_it():
    """Entries 3 and 4 are uncorrelated with the released sum of the others."""
    rng = np.random.default_rng(0)
    matrix = np.array([[1.0, 1, 1, 0, 0]])
    attack = GaussianBayes(mean=np.zeros(5), covariance=np.eye(5), matrix=matrix)
    x = rng.normal(size=(50, 5))
    gain = attack.scores(x @ matrix.T, x).gain
    assert gain[:, 3:] == pytest.approx(np.zeros((50, 2)))
    assert (np.abs(gain[:, :3]) > 1e-3).any()


def test_power_a_determined_entry_is_known():
    matrix = np.array([[1.0, 1, 1], [0, 1, 1]])
    attack = GaussianBayes(mean=np.zeros(3), covariance=np.eye(3), matrix=matrix)
    x = np.array([[3.0, -1.0, 0.5]])
    found = attack.scores(x @ matrix.T, x)
    assert found.gain[0, 0] == math.inf
    posterior = attack.posterior(x @ matrix.T)
    assert posterior.mean[0, 0] == pytest.approx(3.0)
    assert posterior.covariance[0, 0] == 0.0
    narrow = MostProbableInterval(entry=0, length=0.1)
    told = attack.scores(x @ matrix.T, x, [narrow])
    assert (told.before[0, 0], told.after[0, 0]) == (1.0, 0.0)


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_finite_receivers_agree_with_the_exact_losses(seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(4), size=3)
    points, prior = rng.normal(size=(3, 2)), rng.dirichlet(np.ones(3))
    attack = FiniteBayes(points=points, prior=prior, probabilities=table)
    truths, outputs = (i.ravel() for i in np.indices((3, 4)))
    scores = [LogScore(), DawidSebastiani(0)]
    gain = attack.scores(outputs, truths, scores).gain
    kernel = FiniteKernel(points=points, probabilities=table)
    expected = kernel.losses(scores, prior)[:, 0].reshape(2, 12)
    assert gain == pytest.approx(expected.T, abs=1e-9)
    # Null: an output whose law is the same for all databases.
    blind = FiniteBayes(points=points, prior=prior, probabilities=np.full((3, 4), 0.25))
    assert blind.scores(outputs, truths, scores).gain == pytest.approx(np.zeros((12, 2)), abs=1e-9)
    # Power: the database itself.
    told = FiniteBayes(points=points, prior=prior, probabilities=np.eye(3))
    every = np.arange(3)
    assert told.scores(every, every, [LogScore()]).gain[:, 0] == pytest.approx(-np.log(prior))


def test_independent_cells_given_suppression_and_rounding():
    rng = np.random.default_rng(1)
    table, pmf = rng.integers(0, 8, (3, 4)), rng.dirichlet(np.ones(8), size=(3, 4))
    mechanism = CellSuppression(threshold=3)
    cells = suppressed_cells(mechanism.release(table[None], rng)[0], threshold=3)
    posterior = cell_posteriors(pmf, cells.lower, cells.upper)
    own = np.take_along_axis(pmf, table[..., None], -1)[..., 0]
    then = np.take_along_axis(posterior, table[..., None], -1)[..., 0]
    gain = np.where(table < 3, np.log(then / own), 0.0)
    assert gain == pytest.approx(mechanism.losses(table, pmf))
    assert realised_kappa(gain) > 0
    rule = Rounding(base=3)
    rounded = rounded_cells(rule.release(table[None], rng)[0], rule)
    posterior = cell_posteriors(pmf, rounded.lower, rounded.upper)
    assert posterior.sum(axis=-1) == pytest.approx(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"got none for cell \(0, 0\)"):
        cell_posteriors(np.eye(8)[np.zeros((3, 4), dtype=int)], cells.lower + 9, cells.upper + 9)
