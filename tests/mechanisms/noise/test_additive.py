import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mechanisms.base import guarantee_of
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.additive import (
    AdditiveNoise,
    TranslationClaim,
    equal_covariances,
    shared_gaussian,
    spread_along,
)
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.indistinguishability import Approximate


def claim(delta=0.0):
    return TranslationClaim(
        differences=np.array([[1.0, 0.0], [0.0, 2.0]]),
        theorem="t",
        notion=Approximate(delta=delta),
        assumptions=Assumptions(conditions=("c",)),
    )


def test_fresh_noise_is_added_to_every_answer():
    release = AdditiveNoise(noise=LaplaceNoise(scales=np.array([1.0, 2.0])), claim=claim())
    x = np.array([[1, 2]] * 50_000)
    y = release.release(x, np.random.default_rng(0))
    assert y.shape == x.shape
    assert y.mean(axis=0) == pytest.approx([1, 2], abs=0.06)
    assert y.var(axis=0) == pytest.approx(release.variances(), rel=0.05)
    float_release = replace(release, arithmetic="float").release(x, np.random.default_rng(0))
    assert np.unique(float_release).size == y.size
    assert np.unique(y).size < y.size / 5  # snapped


def test_the_claim_is_read_off_the_noise():
    release = AdditiveNoise(noise=LaplaceNoise(scales=np.array([1.0, 4.0])), claim=claim())
    assert replace(release, arithmetic="float").guarantee.bound == 1.0
    assert 1.0 < release.guarantee.bound <= 1 + 1e-9
    assert release.guarantee.assumptions.conditions == ("c",)
    assert guarantee_of(release, 1) == release.guarantee
    assert guarantee_of(release, 3).bound == pytest.approx(3.0, rel=1e-9)
    assert isinstance(guarantee_of(ExactRelease(), 3), NoClaim)


def test_densities_of_releases_given_answers_broadcast():
    release = AdditiveNoise(
        noise=GaussianNoise(covariance=np.diag([1.0, 4.0]), calibration="analytic"),
        claim=claim(1e-3),
    )
    releases, answers = np.arange(6.0).reshape(3, 1, 2), np.arange(4.0).reshape(1, 2, 2)
    got = release.log_density(releases, answers)
    expected = multivariate_normal(np.zeros(2), np.diag([1.0, 4.0])).logpdf(releases - answers)
    assert got.shape == (3, 2)
    assert got == pytest.approx(expected)


def test_the_spread_along_a_direction_is_that_given_the_rest():
    covariance = np.array([[2.0, 0.9], [0.9, 1.0]])
    # The conditional variance of the first coordinate given the second.
    assert spread_along(covariance, np.array([1.0, 0.0])) ** 2 == pytest.approx(2 - 0.81)
    flat = np.diag([1.0, 0.0])
    assert spread_along(flat, np.array([1.0, 0.0])) == 1.0
    assert spread_along(flat, np.array([0.0, 1.0])) == 0.0


def test_covariances_are_compared_in_units_of_their_own_deviations():
    scales = np.outer([1e-6, 1e6], [1e-6, 1e6])
    first = GaussianLaw(mean=np.zeros(2), covariance=np.eye(2) * scales)
    close = GaussianLaw(mean=np.ones(2), covariance=np.eye(2) * scales * (1 + 1e-12))
    twice = GaussianLaw(mean=np.ones(2), covariance=np.diag([2.0, 1.0]) * scales)
    assert equal_covariances(first, close)
    assert not equal_covariances(first, twice)
    difference, covariance = shared_gaussian(first, close)
    assert difference == pytest.approx([-1, -1])
    assert (covariance == first.covariance).all()
    with pytest.raises(NotComputableError, match="covariances differ"):
        shared_gaussian(first, twice)
    with pytest.raises(NotComputableError, match="needs Gaussian answers"):
        shared_gaussian(first, FiniteLaw(atoms=np.zeros(1), weights=np.ones(1)))


def test_gaussian_noise_on_unequal_covariances_is_accounted_exactly():
    noise = GaussianNoise(covariance=np.array([[0.5]]), calibration="analytic")
    first = GaussianLaw(mean=np.array([0.0]), covariance=np.array([[0.5]]))
    second = GaussianLaw(mean=np.array([0.0]), covariance=np.array([[3.5]]))
    # N(0, 1) against N(0, 4): the densities cross at x^2 = 8 log(2) / 3.
    cross = math.sqrt(8 * math.log(2) / 3)
    variation = math.erf(cross / math.sqrt(2)) - math.erf(cross / math.sqrt(8))
    bracket = noise.leakage(first, second, 1).delta(0.0)
    assert bracket.exact
    assert bracket.lo == pytest.approx(variation, abs=1e-12)
    again = noise.leakage(first, second, 2).delta(0.0)
    assert again.lo > bracket.hi
