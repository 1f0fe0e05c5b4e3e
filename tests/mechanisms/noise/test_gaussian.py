import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from mechanisms.laws.answer import GaussianLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.noise.gaussian import GaussianNoise, mahalanobis, target_distance
from mechanisms.noise.rank import noise_root
from mechanisms.privacy.budget import EpsilonDelta

COVARIANCE = np.array([[2.0, -0.5], [-0.5, 1.0]])


def test_samples_have_the_stated_covariance_also_where_it_is_singular():
    rng = np.random.default_rng(0)
    for covariance in (COVARIANCE, np.outer([0.6, 0.8], [0.6, 0.8])):
        noise = GaussianNoise(covariance=covariance, calibration="analytic")
        z = noise.sample((200_000, 2), rng)
        assert np.cov(z.T) == pytest.approx(covariance, abs=0.04)
        assert noise.covariance == pytest.approx(covariance)


def test_a_covariance_is_factored_once_and_no_number_depends_on_that(monkeypatch):
    factor, factored = np.linalg.eigh, []
    monkeypatch.setattr(np.linalg, "eigh", lambda a: factored.append(a) or factor(a))
    for covariance in (COVARIANCE, np.outer([0.6, 0.8], [0.6, 0.8])):
        noise = GaussianNoise(covariance=covariance, calibration="analytic")
        drawn, again = np.random.default_rng(7), np.random.default_rng(7)
        root = noise_root(covariance)
        factored.clear()
        for shape in ((3, 2), (2, 4, 2), (1, 2)):
            assert (noise.sample(shape, drawn) == again.standard_normal(shape) @ root.T).all()
        sent = pickle.loads(pickle.dumps(noise))
        assert (sent.sample((2,), drawn) == again.standard_normal(2) @ root.T).all()
        half = noise.split_among(4)  # another covariance, its own root
        assert half.sample((5, 2), drawn) == pytest.approx(
            again.standard_normal((5, 2)) @ (2 * root.T)
        )
        assert len(factored) == 2


def test_density_and_marginal_density_are_those_of_the_normal_law():
    noise = GaussianNoise(covariance=COVARIANCE, calibration="analytic")
    z = np.random.default_rng(1).standard_normal((4, 3, 2))
    expected = multivariate_normal(np.zeros(2), COVARIANCE).logpdf(z)
    assert noise.log_density(z) == pytest.approx(expected)
    law = GaussianLaw(mean=np.array([1.0, 2.0]), covariance=np.eye(2))
    averaged = multivariate_normal(law.mean, np.eye(2) + COVARIANCE / 3)
    got = noise.marginal_log_density(z, law)
    assert got == pytest.approx(averaged.logpdf(z.mean(axis=1)))


def test_the_average_of_k_releases_carries_their_whole_likelihood_ratio():
    noise = GaussianNoise(covariance=COVARIANCE, calibration="analytic")
    laws = [GaussianLaw(mean=np.array(m), covariance=np.eye(2)) for m in ([0.0, 0.0], [1.0, 2.0])]
    releases = np.random.default_rng(2).standard_normal((5, 3, 2))
    stacked = np.kron(np.ones((3, 3)), np.eye(2)) + np.kron(np.eye(3), COVARIANCE)
    joint = [
        multivariate_normal(np.tile(law.mean, 3), stacked).logpdf(releases.reshape(5, 6))
        for law in laws
    ]
    marginal = [noise.marginal_log_density(releases, law) for law in laws]
    assert marginal[0] - marginal[1] == pytest.approx(joint[0] - joint[1])
    distance = mahalanobis(np.tile([1.0, 2.0], 3), stacked)
    assert noise.leakage(*laws, 3).accuracy().hi == pytest.approx(
        multivariate_normal.cdf(distance / 2)
    )


@given(k=st.integers(1, 20), delta=st.floats(1e-8, 0.1))
@settings(max_examples=30, deadline=None)
def test_k_releases_are_as_telling_as_one_with_a_kth_of_the_noise(k, delta):
    shift = np.array([[0.4, 0.3]])
    for name in ("classical", "analytic"):
        many = GaussianNoise(covariance=COVARIANCE, calibration=name)
        less = GaussianNoise(covariance=COVARIANCE / k, calibration=name)
        expected = less.shift_epsilon(shift, delta, 1)
        assert many.shift_epsilon(shift, delta, k) == pytest.approx(expected)


def test_analytic_epsilon_is_exact_and_never_above_the_classical_one_up_to_one():
    for epsilon in (0.1, 0.5, 1.0):
        budget = EpsilonDelta(epsilon=epsilon, delta=1e-5)
        classical, analytic = (target_distance(budget, c) for c in ("classical", "analytic"))
        assert classical < analytic
        assert gaussian_delta(epsilon, analytic) == pytest.approx(1e-5, rel=1e-6)
        assert gaussian_delta(epsilon, classical) < 1e-5


def test_rank_one_noise_hides_its_own_direction_only():
    noise = GaussianNoise(covariance=np.outer([3.0, 4.0], [3.0, 4.0]), calibration="analytic")
    delta = 1e-3
    assert noise.shift_epsilon(np.array([[0.6, 0.8]]), delta, 1) < 1
    assert noise.shift_epsilon(np.array([[0.6, 0.81]]), delta, 1) == math.inf


def test_without_noise_equal_answers_cost_nothing_and_others_everything():
    noise = GaussianNoise(covariance=np.zeros((2, 2)), calibration="analytic")
    delta = 1e-3
    assert noise.shift_epsilon(np.zeros((1, 2)), delta, 1) == 0.0
    assert noise.shift_epsilon(np.array([[1e-9, 0.0]]), delta, 1) == math.inf


def test_an_unknown_calibration_is_refused_in_one_line():
    with pytest.raises(ValueError, match="calibration must be 'classical' or 'analytic', got"):
        GaussianNoise(covariance=np.eye(2), calibration="exact")
