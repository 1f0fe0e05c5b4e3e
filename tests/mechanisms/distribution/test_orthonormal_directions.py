import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace, multivariate_normal

from mechanisms.base import NotApplicableError
from mechanisms.distribution.directional import DirectionalLaplace
from mechanisms.distribution.orthonormal_directions import (
    OrthonormalDirectionsGaussian,
    OrthonormalDirectionsLaplace,
    SubspaceLaplaceNoise,
    spanning_basis,
)
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.indistinguishability import Approximate

PURE = Approximate(delta=0.0)


def plane_answers(seed=0):
    """Four secrets whose means span a plane of R^4."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((4, 2)) @ rng.standard_normal((2, 4))
    covariance = (lambda r: r @ r.T)(rng.standard_normal((4, 6)))
    return GaussianAnswers(
        means=means,
        covariances=np.broadcast_to(covariance, (4, 4, 4)),
        pairs=((0, 1), (1, 0), (0, 2), (3, 1)),
    )


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.05, 20))
@settings(max_examples=40, deadline=None)
def test_laplace_noise_in_the_span_spends_exactly_the_budget(seed, epsilon):
    release = OrthonormalDirectionsLaplace().calibrate(
        plane_answers(seed), budget=Epsilon(epsilon=epsilon)
    )
    assert release.noise.basis.shape == (4, 2)
    assert release.guarantee.bound == pytest.approx(epsilon, rel=1e-12)
    assert release.repeated_guarantee(3).bound == pytest.approx(3 * epsilon, rel=1e-12)


def test_the_published_scale_is_too_small_for_laplace_noise():
    answers = GaussianAnswers(
        means=np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]),
        covariances=np.broadcast_to(np.eye(2), (3, 2, 2)),
        pairs=((0, 1), (2, 1)),
    )
    basis = np.eye(2)
    published = SubspaceLaplaceNoise(scales=np.full(2, answers.distance(2)), basis=basis)
    assert published.shift_epsilon(answers.differences(), 0.0, 1) == pytest.approx(math.sqrt(2))


def test_one_direction_is_the_directional_mechanism():
    line = GaussianAnswers(
        means=np.array([[0.0, 0.0], [3.0, 4.0], [-6.0, -8.0]]),
        covariances=np.broadcast_to(np.eye(2), (3, 2, 2)),
        pairs=((0, 1), (1, 2)),
    )
    one = DirectionalLaplace().calibrate(line, budget=Epsilon(epsilon=0.7))
    many = OrthonormalDirectionsLaplace().calibrate(line, budget=Epsilon(epsilon=0.7))
    assert many.variances() == pytest.approx(one.variances())
    laws = [GaussianLaw(mean=line.means[i], covariance=np.eye(2)) for i in (0, 1)]
    releases = np.random.default_rng(0).standard_normal((5, 1, 2))
    assert many.marginal_log_density(releases, laws[1]) == pytest.approx(
        one.marginal_log_density(releases, laws[1])
    )
    for epsilon in (0.0, 0.1):
        expected = one.leakage(*laws, 1).delta(epsilon).hi
        assert many.leakage(*laws, 1).delta(epsilon).hi == pytest.approx(expected)


def test_samples_lie_in_the_span_with_the_stated_variances():
    noise = (
        OrthonormalDirectionsLaplace().calibrate(plane_answers(), budget=Epsilon(epsilon=1.0)).noise
    )
    z = noise.sample((200_000, 4), np.random.default_rng(0))
    assert np.cov(z.T) == pytest.approx(noise.covariance, rel=0.03, abs=0.1)
    off = z - z @ noise.basis @ noise.basis.T
    assert np.abs(off).max() < 1e-9


def test_the_marginal_density_is_the_convolution():
    basis = np.linalg.qr(np.array([[1.0, 0.2], [0.5, -1.0], [0.3, 0.4]]))[0]
    noise = SubspaceLaplaceNoise(scales=np.array([0.8, 1.4]), basis=basis)
    root = np.array([[1.0, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.2, 0.6]])
    law = GaussianLaw(mean=np.array([0.5, 0.0, -0.5]), covariance=root @ root.T)
    gaussian = multivariate_normal(law.mean, law.covariance)
    point = np.array([1.0, 0.4, -0.8])
    grid = np.linspace(-14, 14, 1401)
    u, v = np.meshgrid(grid, grid, indexing="ij")
    z = u[..., None] * basis[:, 0] + v[..., None] * basis[:, 1]
    weight = laplace.pdf(u, scale=0.8) * laplace.pdf(v, scale=1.4) * (grid[1] - grid[0]) ** 2
    expected = (gaussian.pdf(point - z) * weight).sum()
    got = math.exp(noise.marginal_log_density(point[None, None], law)[0])
    assert got == pytest.approx(expected, rel=0.03)


def test_leakage_lies_below_the_claim_and_off_the_span_is_refused():
    answers = plane_answers(1)
    release = OrthonormalDirectionsLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    laws = [GaussianLaw(mean=m, covariance=answers.covariances[0]) for m in answers.means]
    pure = [release.leakage(laws[i], laws[j], 1).epsilon(0.0).hi for i, j in answers.pairs]
    assert max(pure) == pytest.approx(1.0, rel=1e-9)
    aside = GaussianLaw(mean=laws[0].mean + np.array([0, 0, 0, 5.0]), covariance=laws[0].covariance)
    with pytest.raises(NotComputableError, match="off the noised directions"):
        release.leakage(laws[0], aside, 1)
    assert release.noise.shift_epsilon(np.array([[0, 0, 0, 5.0]]), 0.0, 1) == math.inf


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.05, 8))
@settings(max_examples=30, deadline=None)
def test_gaussian_noise_in_the_span_spends_the_budget(seed, epsilon):
    budget = EpsilonDelta(epsilon=epsilon, delta=1e-4)
    for calibration in ("classical", "analytic"):
        mechanism = OrthonormalDirectionsGaussian(calibration=calibration)
        release = mechanism.calibrate(plane_answers(seed), budget=budget)
        assert epsilon * (1 - 1e-6) <= release.guarantee.bound <= epsilon * (1 + 1e-9)
        assert np.linalg.matrix_rank(release.noise.covariance) == 2


def test_equal_means_and_bad_bases_are_refused():
    with pytest.raises(NotApplicableError, match="equal means"):
        spanning_basis(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="orthonormal columns"):
        SubspaceLaplaceNoise(scales=np.ones(1), basis=np.array([[2.0], [0.0]]))
    with pytest.raises(ValueError, match="must have 2 columns"):
        SubspaceLaplaceNoise(scales=np.ones(2), basis=np.array([[1.0], [0.0]]))
