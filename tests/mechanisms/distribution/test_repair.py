"""Repairs of noise that spares directions: a floor in every coordinate, or the projection alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.distribution.directional import DirectionalGaussian, DirectionalLaplace
from mechanisms.distribution.expected_value import ExpectedValueLaplace
from mechanisms.distribution.relaxed import ApproximateModel
from mechanisms.distribution.repair import NoisedProjection, Repaired
from mechanisms.distribution.uncertain_directional import UncertainDirectionalGaussian
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.noise.rank import noise_root, noised_directions
from mechanisms.privacy.budget import Epsilon, EpsilonDelta

SPREAD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
ANSWERS = GaussianAnswers(
    means=[[1, 2, 3], [2.5, 0.5, 4]], covariances=[SPREAD] * 2, pairs=((0, 1), (1, 0)),
    steps=np.array([1.0, 0.01, 0.0]),
)  # fmt: skip
BUDGETS = {
    "laplace": (DirectionalLaplace(), Epsilon(epsilon=0.8)),
    "gaussian": (DirectionalGaussian(), EpsilonDelta(epsilon=0.8, delta=0.01)),
    "uncertain": (UncertainDirectionalGaussian(), EpsilonDelta(epsilon=0.8, delta=0.01)),
}


def laws():
    return [GaussianLaw(mean=m, covariance=SPREAD) for m in ANSWERS.means]


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_floor_has_full_rank_and_claims_the_budget(kind):
    calibration, budget = BUDGETS[kind]
    mechanism = Repaired(calibration=calibration).calibrate(ANSWERS, budget=budget)
    assert noised_directions(mechanism.noise_covariance)[2] == 3
    assert mechanism.guarantee.bound == pytest.approx(0.8, rel=1e-6)
    extra = mechanism.noise.extra.scales
    # Half a step a coordinate in L1, over lam = a fifth of epsilon.
    assert extra == pytest.approx(np.full(3, (0.5 + 0.005) / 0.16))


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_projection_claims_what_the_whole_release_claims(kind):
    calibration, budget = BUDGETS[kind]
    whole = Repaired(calibration=calibration, repair="none").calibrate(ANSWERS, budget=budget)
    mechanism = Repaired(calibration=calibration, repair="projection").calibrate(
        ANSWERS, budget=budget
    )
    assert mechanism.guarantee.bound == pytest.approx(whole.guarantee.bound, rel=1e-6)
    assert mechanism.repeated_guarantee(3).bound == pytest.approx(
        whole.repeated_guarantee(3).bound, rel=1e-6
    )
    shared = mechanism.split_among(3).repeated_guarantee(3).bound
    assert shared == pytest.approx(whole.split_among(3).repeated_guarantee(3).bound, rel=1e-6)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_a_projection_shows_nothing_off_the_noised_direction(seed):
    calibration, budget = BUDGETS["laplace"]
    mechanism = Repaired(calibration=calibration, repair="projection").calibrate(
        ANSWERS, budget=budget
    )
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, 3))
    v = mechanism.basis[:, 0]
    across = rng.normal(size=(4, 3))
    across -= np.outer(across @ v, v)
    one, other = (mechanism.release(a, np.random.default_rng(1)) for a in (x, x + across))
    assert one == pytest.approx(other, abs=1e-9)
    off = (one - mechanism.centre) - np.outer((one - mechanism.centre) @ v, v)
    assert np.abs(off).max() < 1e-9


def test_leakage_of_a_projection_is_that_of_its_one_number():
    calibration, budget = BUDGETS["gaussian"]
    mechanism = Repaired(calibration=calibration, repair="projection").calibrate(
        ANSWERS, budget=budget
    )
    v = (ANSWERS.means[0] - ANSWERS.means[1]) / np.linalg.norm(ANSWERS.means[0] - ANSWERS.means[1])
    variance = float(v @ SPREAD @ v + v @ mechanism.whole.noise_covariance @ v)
    distance = np.linalg.norm(ANSWERS.means[0] - ANSWERS.means[1]) / variance**0.5
    found = mechanism.leakage(*laws(), 1)
    assert found.delta(0.3).hi == pytest.approx(gaussian_delta(0.3, distance), rel=1e-9)
    whole = mechanism.whole.leakage(*laws(), 1)
    assert found.accuracy().hi < whole.accuracy().hi  # the rest tells, in the model too


def test_leakage_of_a_projection_of_points_on_a_lattice_is_finite():
    calibration, budget = BUDGETS["laplace"]
    mechanism = Repaired(calibration=calibration, repair="projection").calibrate(
        ANSWERS, budget=budget
    )
    points = [FiniteLaw(atoms=[x], weights=[1.0]) for x in ([0.0, 0, 0], [1.0, 0, 0])]
    scale = mechanism.whole.noise.scale
    expected = abs(mechanism.basis[0, 0]) / scale
    assert mechanism.leakage(*points, 1).epsilon(0.0).hi == pytest.approx(expected, rel=1e-9)


def test_scores_of_a_projection_rank_as_the_likelihood_ratio_of_one_number():
    calibration, budget = BUDGETS["gaussian"]
    mechanism = Repaired(calibration=calibration, repair="projection").calibrate(
        ANSWERS, budget=budget
    )
    rng = np.random.default_rng(0)
    x = np.repeat(ANSWERS.means, 4000, axis=0) + rng.multivariate_normal(
        np.zeros(3), SPREAD, size=8000
    )
    releases = mechanism.release(x, rng)[:, None]
    ratio = np.subtract(*(mechanism.marginal_log_density(releases, law) for law in laws()))
    right = ((ratio > 0) == (np.arange(8000) < 4000)).mean()
    assert right == pytest.approx(mechanism.leakage(*laws(), 1).accuracy().hi, abs=0.025)


def test_the_published_relaxation_refuses_answers_on_a_lattice():
    calibration, budget = BUDGETS["gaussian"]
    relaxed = ApproximateModel(calibration=calibration, divergence=0.5)
    with pytest.raises(NotApplicableError, match="answers lie on a lattice"):
        relaxed.calibrate(ANSWERS, budget=budget)
    published = ApproximateModel(calibration=calibration, divergence=0.5, on_lattice=True)
    assert published.calibrate(ANSWERS, budget=budget).guarantee.bound == pytest.approx(1.8)
    free = GaussianAnswers(
        means=ANSWERS.means, covariances=ANSWERS.covariances, pairs=ANSWERS.pairs
    )
    assert relaxed.calibrate(free, budget=budget).guarantee.bound == pytest.approx(1.8)


def test_what_cannot_be_repaired_says_so():
    calibration, budget = BUDGETS["gaussian"]
    free = GaussianAnswers(
        means=ANSWERS.means, covariances=ANSWERS.covariances, pairs=ANSWERS.pairs
    )
    with pytest.raises(NotApplicableError, match="knows no lattice"):
        Repaired(calibration=calibration).calibrate(free, budget=budget)
    whole = ExpectedValueLaplace()
    with pytest.raises(NotApplicableError, match="no known law"):
        Repaired(calibration=whole, repair="projection").calibrate(
            ANSWERS, budget=Epsilon(epsilon=1.0)
        )
    with pytest.raises(ValueError, match="repair must be"):
        Repaired(calibration=whole, repair="ceiling")
    with pytest.raises(ValueError, match="steps must be 3 numbers"):
        GaussianAnswers(
            means=ANSWERS.means, covariances=ANSWERS.covariances, pairs=ANSWERS.pairs,
            steps=np.array([1.0]),
        )  # fmt: skip


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_spared_directions_get_no_noise_by_accident(rank, seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    covariance = (basis[:, :rank] * rng.uniform(1, 1e7, rank)) @ basis[:, :rank].T
    covariance = (covariance + covariance.T) / 2
    root = noise_root(covariance)
    assert np.abs(root.T @ basis[:, rank:]).max() <= 1e-12 * np.sqrt(covariance.max()) * 10
    assert root @ root.T == pytest.approx(covariance, abs=1e-9 * covariance.max())


def test_small_noise_of_a_coordinate_of_its_own_is_kept():
    assert np.diag(noise_root(np.diag([1e8, 1e-12]))).tolist() == [1e4, 1e-6]


def test_a_projection_of_no_noise_is_refused():
    whole = DirectionalGaussian().calibrate(ANSWERS, budget=EpsilonDelta(epsilon=1.0, delta=0.01))
    from dataclasses import replace

    silent = replace(whole, noise=replace(whole.noise, covariance=np.zeros((3, 3))))
    with pytest.raises(NotApplicableError, match="no noised projection"):
        NoisedProjection.of(silent, np.zeros(3))
