"""Gaussian receivers: fitted to public samples, and with singular covariances."""

import math

import numpy as np
import pytest

from mechanisms.deterministic.gaussian_receiver import GaussianReceiver
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.receiver_strength import smallest_class


def test_receivers_fitted_to_samples():
    rng = np.random.default_rng(6)
    scale = np.array([1.0, 100.0, 1e-3])
    samples = rng.normal(size=(400, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]) * scale + 5
    plain = GaussianReceiver.fitted(samples, shrinkage=0.0)
    assert plain.mean == pytest.approx(samples.mean(axis=0))
    assert plain.covariance == pytest.approx(np.cov(samples.T, bias=True))
    whole = GaussianReceiver.fitted(samples, shrinkage=1.0)
    assert whole.correlation == pytest.approx(np.eye(3))
    for rule in ("ledoit_wolf", "oas"):
        fitted = GaussianReceiver.fitted(samples, shrinkage=rule)
        assert 0 < fitted.correlation[0, 1] < plain.correlation[0, 1] + 1e-12
        # Units do not matter: shrinkage acts on standardised entries.
        other = GaussianReceiver.fitted(samples / scale, shrinkage=rule)
        assert other.correlation == pytest.approx(fitted.correlation)
    # Few samples of many entries: the shrunk covariance is regular.
    few = GaussianReceiver.fitted(rng.normal(size=(5, 12)))
    assert np.linalg.eigvalsh(few.covariance)[0] > 0


def test_a_semidefinite_covariance_is_taken_and_its_classes_are_infinite():
    receiver = GaussianReceiver(
        mean=np.zeros(3), covariance=np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    )
    gain, x = LinearStatistics.mean(3).gain(receiver), np.array([1.0, 1.0, 0.5])
    assert smallest_class(gain, x, spread="condition")[1] == math.inf
    assert smallest_class(gain, x, spread="eigenvalue")[1] == math.inf
    r1, r2 = smallest_class(gain, x)
    assert r1 + math.log(r2) >= gain.exact(x).max()
