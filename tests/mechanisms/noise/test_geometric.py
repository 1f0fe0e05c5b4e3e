"""Two-sided geometric noise: its law, its samples and what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.geometric import GeometricNoise, GeometricRelease
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.indistinguishability import Approximate

PURE = Approximate(delta=0.0)


@given(scale=st.floats(0.05, 20))
@settings(max_examples=40, deadline=None)
def test_the_mass_sums_to_one_with_the_stated_variance_and_ratio(scale):
    noise = GeometricNoise(scales=np.array([scale]))
    z = np.arange(-2000.0, 2001.0)
    logs = noise.log_density(z[:, None])
    mass = np.exp(logs)
    assert mass.sum() == pytest.approx(1)
    assert (mass * z**2).sum() == pytest.approx(noise.covariance[0, 0], rel=1e-6, abs=1e-8)
    assert np.abs(np.diff(logs)).max() == pytest.approx(1 / scale)
    assert noise.shift_epsilon(np.array([[1.0]]), 0.0, 3) == pytest.approx(3 / scale)


def test_samples_have_the_stated_frequencies():
    """41 frequencies at 5 sigma: a false alarm below 1e-4."""
    noise = GeometricNoise(scales=np.array([1.5, 0.3]))
    drawn = noise.sample((200_000, 2), np.random.default_rng(0))
    for column in range(2):
        single = GeometricNoise(scales=noise.scales[column : column + 1])
        z = np.arange(-20.0, 21.0)
        mass = np.exp(single.log_density(z[:, None]))
        seen = (drawn[:, column, None] == z).mean(axis=0)
        assert (np.abs(seen - mass) <= 5 * np.sqrt(mass / 200_000) + 1e-5).all()


def test_what_is_not_whole_has_no_probability_and_no_guarantee():
    noise = GeometricNoise(scales=np.ones(2))
    assert noise.log_density(np.array([[0.5, 0.0]]))[0] == -math.inf
    assert noise.shift_epsilon(np.array([[0.5, 0.0]]), 0.0, 1) == math.inf
    release = GeometricRelease(noise=noise, claim=None)
    with pytest.raises(ValueError, match="whole numbers"):
        release.release(np.array([[0.5, 1.0]]), np.random.default_rng(0))
    released = release.release(np.ones((5, 2)), np.random.default_rng(0))
    assert (released == np.rint(released)).all()


@pytest.mark.parametrize("k", [2, 3])
def test_repeated_releases_are_compared_release_by_release(k):
    """Against the product of the single channels, tails cut where they weigh nothing."""
    laws = [FiniteLaw(atoms=[[0.0], [2.0]], weights=w) for w in ([0.3, 0.7], [0.6, 0.4])]
    noise = GeometricNoise(scales=np.array([0.8]))
    found = noise.leakage(*laws, k)
    seen = np.arange(-40.0, 43.0)
    single = np.exp(noise.log_density(seen[:, None, None] - np.array([[0.0], [2.0]])))
    joint = single
    for _ in range(k - 1):
        joint = (joint[:, None, :] * single).reshape(-1, 2)
    p, q = (joint @ law.weights for law in laws)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.epsilon(0.0).hi == pytest.approx(np.abs(np.log(p / q)).max(), rel=1e-9)
    assert found.delta(0.1).hi == pytest.approx(
        max((p - math.exp(0.1) * q).clip(0).sum(), (q - math.exp(0.1) * p).clip(0).sum()), abs=1e-9
    )


def test_what_has_no_finite_answers_is_not_computable_with_the_reason():
    law = GaussianLaw(mean=np.zeros(1), covariance=np.eye(1))
    noise = GeometricNoise(scales=np.ones(1))
    with pytest.raises(NotComputableError, match="needs finitely many answers"):
        noise.leakage(law, law, 2)
    with pytest.raises(ValueError, match="smallest scale must be in"):
        GeometricNoise(scales=np.array([0.0]))
