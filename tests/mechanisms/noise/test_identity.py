import math

import numpy as np
import pytest

from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_delta
from mechanisms.noise.identity import Noiseless, aligned_pair
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.guarantee import NoClaim

RELEASE = Noiseless().calibrate(budget=NoBudget())


def test_it_changes_nothing_and_claims_nothing():
    x = np.arange(6).reshape(3, 2)
    assert RELEASE.release(x, np.random.default_rng(0)) is x
    assert isinstance(RELEASE.guarantee, NoClaim)


def test_its_density_tells_equal_answers_from_others():
    releases, answers = np.array([[[0, 1]], [[2, 3]]]), np.array([[[0, 1], [2, 4]]])
    assert RELEASE.log_density(releases, answers).tolist() == [[0.0, -math.inf], [-math.inf] * 2]
    scalars = RELEASE.log_density(np.array([[1], [2]]), np.array([[1, 2]]))
    assert scalars.tolist() == [[0.0, -math.inf], [-math.inf, 0.0]]


def test_finite_answers_leak_their_own_divergence_however_often_they_are_released():
    first = FiniteLaw(atoms=np.array([3, 1, 1]), weights=np.array([0.5, 0.25, 0.25]))
    second = FiniteLaw(atoms=np.array([1, 2]), weights=np.array([0.75, 0.25]))
    pair = aligned_pair(first, second)
    assert pair.first.tolist() == [0.5, 0.0, 0.5]
    assert pair.second.tolist() == [0.75, 0.25, 0.0]
    for k in (1, 5):
        leaked = RELEASE.leakage(first, second, k)
        assert leaked.accuracy().hi == pytest.approx(0.75)
        assert leaked.epsilon(0.0).lo == math.inf
        assert leaked.epsilon(0.5).hi == 0.0


def test_vectors_are_aligned_row_by_row():
    first = FiniteLaw(atoms=np.array([[0, 1], [1, 0]]), weights=np.array([0.5, 0.5]))
    second = FiniteLaw(atoms=np.array([[1, 0], [1, 1]]), weights=np.array([0.2, 0.8]))
    pair = aligned_pair(first, second)
    assert sorted(zip(pair.first, pair.second, strict=True)) == [(0.0, 0.8), (0.5, 0.0), (0.5, 0.2)]


def test_gaussian_answers_leak_by_their_distance_and_by_their_covariances():
    first = GaussianLaw(mean=np.array([0.0, 0.0]), covariance=np.diag([1.0, 4.0]))
    second = GaussianLaw(mean=np.array([1.0, 2.0]), covariance=np.diag([1.0, 4.0]))
    exact = RELEASE.leakage(first, second, 3)
    assert exact.delta(0.4).hi == pytest.approx(gaussian_delta(0.4, math.sqrt(2)))
    wider = GaussianLaw(mean=np.array([1.0, 2.0]), covariance=np.diag([1.0, 9.0]))
    told = RELEASE.leakage(first, wider, 1)
    assert told.delta(0.0).lo > 0
    assert told.epsilon(0.0).lo == math.inf
    flat = GaussianLaw(mean=np.array([0.0, 0.0]), covariance=np.diag([1.0, 0.0]))
    assert RELEASE.leakage(first, flat, 1).accuracy().lo == 1.0
    releases = np.array([[[0.0, 0.0]], [[1.0, 2.0]]])
    densities = RELEASE.marginal_log_density(releases, first)
    assert densities == pytest.approx([-math.log(4 * math.pi), -math.log(4 * math.pi) - 1])


def test_laws_of_two_kinds_are_refused_with_the_reason():
    gaussian = GaussianLaw(mean=np.zeros(1), covariance=np.eye(1))
    finite = FiniteLaw(atoms=np.zeros(1), weights=np.ones(1))
    with pytest.raises(NotComputableError, match="needs Gaussian answers"):
        RELEASE.leakage(gaussian, finite, 1)
    with pytest.raises(NotComputableError, match="probabilities"):
        RELEASE.marginal_log_density(np.zeros((1, 1, 1)), finite)
