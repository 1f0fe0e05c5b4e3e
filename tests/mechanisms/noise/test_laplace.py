import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, multivariate_normal, norm

from mechanisms.base import NotApplicableError
from mechanisms.laws.answer import GaussianLaw
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise, laplace_scale
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.indistinguishability import Approximate

PURE = Approximate(delta=0.0)
CORRELATED = GaussianLaw(mean=np.array([1.0, 2.0]), covariance=np.array([[1.0, 0.6], [0.6, 0.8]]))


def law(mean, covariance):
    return GaussianLaw(mean=np.array(mean), covariance=np.array(covariance))


def test_samples_have_the_stated_variances():
    rng = np.random.default_rng(0)
    noise = LaplaceNoise(scales=np.array([0.5, 3.0]))
    assert np.cov(noise.sample((200_000, 2), rng).T) == pytest.approx(
        noise.covariance, rel=0.03, abs=0.05
    )
    along = DirectionalLaplaceNoise(scale=2.0, direction=np.array([0.6, -0.8]))
    z = along.sample((200_000, 2), rng)
    assert np.cov(z.T) == pytest.approx(along.covariance, rel=0.03)
    assert z @ np.array([0.8, 0.6]) == pytest.approx(0.0, abs=1e-12)


def test_the_log_ratio_of_densities_attains_the_pure_epsilon_and_never_exceeds_it():
    noise = LaplaceNoise(scales=np.array([0.5, 3.0]))
    shift = np.array([[1.0, -2.0]])
    z = np.random.default_rng(1).uniform(-20, 20, size=(5000, 2))
    ratio = np.abs(noise.log_density(z - shift) - noise.log_density(z)).max()
    assert ratio == pytest.approx(noise.shift_epsilon(shift, 0.0, 1))
    assert noise.shift_epsilon(shift, 0.0, 1) == pytest.approx(1 / 0.5 + 2 / 3)


def test_k_releases_cost_k_times_as_much_and_the_worst_difference_counts():
    noise = LaplaceNoise(scales=np.array([1.0, 2.0]))
    both = np.array([[1.0, 0.0], [0.0, 3.0]])
    assert noise.shift_epsilon(both, 0.0, 4) == pytest.approx(4 * 1.5)
    along = DirectionalLaplaceNoise(scale=0.5, direction=np.array([1.0, 0.0]))
    assert along.shift_epsilon(np.array([[2.0, 0.0], [-1.0, 0.0]]), 0.0, 3) == pytest.approx(12.0)


def test_noise_along_a_direction_hides_nothing_off_it():
    along = DirectionalLaplaceNoise(scale=0.5, direction=np.array([1.0, 0.0]))
    assert along.shift_epsilon(np.array([[1.0, 1e-3]]), 0.0, 1) == math.inf
    pair = (law([0.0, 0.0], np.eye(2)), law([1.0, 1e-3], np.eye(2)))
    # What the noise leaves is a Gaussian shift of 1e-3 across, and one of 1 along, noised.
    assert along.leakage(*pair, 1).epsilon(0.0).hi == math.inf
    hidden = DirectionalLaplaceNoise(scale=1e9, direction=np.array([1.0, 0.0]))
    assert hidden.leakage(*pair, 1).accuracy().hi == pytest.approx(0.5 + 1e-3 / 5.01326, abs=1e-8)


def test_the_marginal_density_in_one_dimension_is_the_convolution():
    noise, answer = LaplaceNoise(scales=np.array([0.7])), law([1.0], [[0.25]])
    releases = np.array([-6.0, 0.0, 1.0, 1.4, 9.0])
    got = noise.marginal_log_density(releases[:, None, None], answer)
    for x, value in zip(releases, got, strict=True):
        density = quad(
            lambda z, x=x: laplace.pdf(x - z, scale=0.7) * norm.pdf(z, 1.0, 0.5),
            -3,
            5,
            points=[1.0, x] if -3 < x < 5 else [1.0],
            epsabs=0,
            epsrel=1e-10,
        )[0]
        assert math.exp(value) == pytest.approx(density, rel=1e-7)


def density_in_the_plane(points, scales, answer):
    """Integrate the Gaussian answer's density against the noise, on a fine grid of the noise."""
    axes = [np.linspace(-18 * b, 18 * b, 1201) for b in scales]
    cells = [laplace.pdf(a, scale=b) * (a[1] - a[0]) for a, b in zip(axes, scales, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    weight = np.outer(*cells)
    gaussian = multivariate_normal(answer.mean, answer.covariance)
    return np.array([(gaussian.pdf(point - grid) * weight).sum() for point in points])


POINTS = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, 3.5], [4.0, 4.0]])


@pytest.mark.parametrize(
    ("answer", "tolerance"), [(law([1.0, 2.0], np.diag([1.0, 0.8])), 1e-3), (CORRELATED, 0.03)]
)
def test_the_marginal_density_in_the_plane_is_the_convolution(answer, tolerance):
    noise = LaplaceNoise(scales=np.array([0.7, 1.5]))
    got = noise.marginal_log_density(POINTS[:, None], answer)
    expected = density_in_the_plane(POINTS, noise.scales, answer)
    assert np.exp(got) == pytest.approx(expected, rel=tolerance)


def test_the_marginal_density_along_a_direction_is_the_convolution():
    direction = np.array([0.6, 0.8])
    noise = DirectionalLaplaceNoise(scale=1.3, direction=direction)
    got = noise.marginal_log_density(POINTS[:, None], CORRELATED)
    gaussian = multivariate_normal(CORRELATED.mean, CORRELATED.covariance)
    for point, value in zip(POINTS, got, strict=True):
        density = quad(
            lambda y, p=point: laplace.pdf(y, scale=1.3) * gaussian.pdf(p - y * direction),
            -25,
            25,
            points=[0.0, *sorted(c for c in (2.0, -2.0))],
            limit=400,
        )[0]
        assert math.exp(value) == pytest.approx(density, rel=1e-6)


def test_directional_leakage_is_that_of_the_likelihood_ratio_of_its_densities():
    direction = np.array([0.6, 0.8])
    noise = DirectionalLaplaceNoise(scale=1.3, direction=direction)
    second = law(CORRELATED.mean + 2 * direction, CORRELATED.covariance)
    pair = noise.leakage(CORRELATED, second, 1)
    rng = np.random.default_rng(5)
    n = 200_000
    releases = CORRELATED.sample(n, rng) + noise.sample((n, 2), rng)
    ratio = noise.marginal_log_density(releases[:, None], CORRELATED) - (
        noise.marginal_log_density(releases[:, None], second)
    )
    assert np.abs(ratio).max() <= pair.epsilon(0.0).hi + 1e-9
    for epsilon in (0.0, 0.5):
        sampled = np.maximum(0, 1 - np.exp(epsilon - ratio)).mean()
        assert sampled == pytest.approx(pair.delta(epsilon).hi, abs=0.005)


def test_a_singular_answer_leaves_the_noise_alone_or_is_refused():
    noise = DirectionalLaplaceNoise(scale=1.0, direction=np.array([0.6, 0.8]))
    flat = np.array([[1.0, 0.0], [0.0, 0.0]])
    pair = noise.leakage(law([0.0, 0.0], flat), law([0.6, 0.8], flat), 1)
    assert pair.delta(0.0).hi == pytest.approx(1 - math.exp(-0.5))
    with pytest.raises(NotComputableError, match="full rank"):
        noise.marginal_log_density(np.zeros((1, 1, 2)), law([0.0, 0.0], flat))


def test_what_has_no_closed_form_is_refused_with_the_reason():
    one = LaplaceNoise(scales=np.array([1.0]))
    with pytest.raises(NotComputableError, match="repeated"):
        one.leakage(law([0.0], [[1.0]]), law([1.0], [[1.0]]), 2)
    with pytest.raises(NotComputableError, match="covariances differ"):
        one.leakage(law([0.0], [[1.0]]), law([1.0], [[1.1]]), 1)
    with pytest.raises(NotComputableError, match="one Gaussian answer"):
        one.marginal_log_density(np.zeros((3, 2, 1)), law([0.0], [[1.0]]))


@pytest.mark.parametrize("scales", [[0.0], [1.0, -1.0], [np.nan], [np.inf], []])
def test_bad_scales_are_refused_in_one_line(scales):
    with pytest.raises(ValueError, match="scale") as caught:
        LaplaceNoise(scales=np.array(scales))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scale", [0, -1.0, math.nan, math.inf, "abc", True])
def test_a_bad_scale_is_refused_in_one_line(scale):
    with pytest.raises((ValueError, TypeError), match=r"^scale must be .*got scale="):
        DirectionalLaplaceNoise(scale=scale, direction=np.array([1.0]))


def test_a_direction_must_be_a_unit_vector():
    with pytest.raises(ValueError, match="unit L2 norm, got norm 2"):
        DirectionalLaplaceNoise(scale=1.0, direction=np.array([2.0, 0.0]))


def test_a_scale_of_zero_is_no_laplace_noise():
    assert laplace_scale(3.0, 1.5) == 2.0
    for distance, epsilon in ((1.0, math.inf), (0.0, 1.0)):
        with pytest.raises(NotApplicableError, match="no Laplace noise is called for"):
            laplace_scale(distance, epsilon)
