import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw


@pytest.mark.parametrize(
    ("mean", "covariance", "message"),
    [
        ([0.0, 0.0], [[1.0]], "must have shape"),
        ([0.0, np.nan], np.eye(2), "mean must be finite"),
        ([0.0, 0.0], [[1.0, 0.5], [0.2, 1.0]], "symmetric"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "positive semi-definite"),
        ([0.0, 0.0], [[1e12, 0.0], [0.0, -1.0]], "positive semi-definite"),
        ([0.0, 0.0], [[1e12, 1.0], [1.0, 0.0]], "positive semi-definite|symmetric"),
        ([0.0, 0.0], [[1e12, 2e3], [2e3, 1e-6]], "positive semi-definite"),
    ],
)
def test_what_is_no_gaussian_law_is_refused_in_one_line(mean, covariance, message):
    with pytest.raises(ValueError, match=message) as caught:
        GaussianLaw(mean=np.array(mean), covariance=np.array(covariance))
    assert "\n" not in str(caught.value)


def test_samples_have_the_mean_and_covariance_of_their_law():
    law = GaussianLaw(mean=np.array([1.0, -2.0]), covariance=np.array([[4.0, 1.9], [1.9, 1.0]]))
    x = law.sample(200_000, np.random.default_rng(0))
    assert x.mean(axis=0) == pytest.approx(law.mean, abs=0.03)
    assert np.cov(x.T) == pytest.approx(law.covariance, abs=0.06)


def test_a_finite_law_refuses_weights_that_do_not_fit():
    with pytest.raises(ValueError, match="one row per weight"):
        FiniteLaw(atoms=np.arange(3), weights=np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="sum to 1"):
        FiniteLaw(atoms=np.arange(2), weights=np.array([0.5, 0.6]))
    with pytest.raises(ValueError, match="non-negative"):
        FiniteLaw(atoms=np.arange(2), weights=np.array([1.5, -0.5]))


def test_the_density_is_the_normal_one_in_any_units_and_on_a_flat_support():
    rng = np.random.default_rng(1)
    root, x = rng.standard_normal((3, 4)), rng.standard_normal((6, 3))
    plain = GaussianLaw(mean=np.array([0.1, 0.0, -0.3]), covariance=root @ root.T)
    expected = multivariate_normal(plain.mean, plain.covariance).logpdf(x)
    assert plain.log_density(x) == pytest.approx(expected)
    units = np.array([1e-7, 1.0, 1e7])
    square = np.outer(units, units)
    scaled = GaussianLaw(mean=units * plain.mean, covariance=plain.covariance * square)
    assert scaled.log_density(units * x) == pytest.approx(expected)
    flat = GaussianLaw(mean=np.zeros(2), covariance=np.diag([4.0, 0.0]))
    on_it = flat.log_density(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert on_it == pytest.approx(norm.logpdf([1.0, 0.0], scale=2))
