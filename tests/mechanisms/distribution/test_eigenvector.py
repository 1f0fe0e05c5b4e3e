import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.distribution.adversarial_uncertainty import common_eigenvectors
from mechanisms.distribution.eigenvector import EigenvectorGaussian
from mechanisms.knowledge import GaussianAnswers
from mechanisms.privacy.budget import EpsilonDelta


@given(seed=st.integers(0, 10**6), m=st.integers(1, 5), repeated=st.booleans())
@settings(max_examples=40, deadline=None)
def test_common_eigenvectors_are_found_also_where_eigenvalues_repeat(seed, m, repeated):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.standard_normal((m, m)))[0]
    values = rng.integers(1, 3, size=(3, m)) if repeated else rng.uniform(0.1, 5, size=(3, m))
    covariances = np.stack([(rotation * v) @ rotation.T for v in values])
    found = common_eigenvectors(covariances)
    assert found.T @ found == pytest.approx(np.eye(m), abs=1e-9)
    for covariance in covariances:
        rotated = found.T @ covariance @ found
        assert rotated == pytest.approx(np.diag(np.diag(rotated)), abs=1e-7)


def test_a_small_twist_of_one_covariance_is_noticed():
    angle = 1e-4
    twist = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    plain = np.diag([1.0, 3.0])
    with pytest.raises(NotApplicableError, match="no common eigenvectors"):
        common_eigenvectors(np.stack([plain, twist @ plain @ twist.T]))


def test_every_direction_is_raised_to_the_isotropic_variance_for_the_least_spread_pair():
    answers = GaussianAnswers(
        means=np.array([[0.0, 0.0], [0.3, 0.4], [1.0, 1.0], [1.0, 1.1]]),
        covariances=np.stack(
            [np.diag(v) for v in ([1.0, 9.0], [1.0, 9.0], [4.0, 2.0], [4.0, 2.0])]
        ),
        pairs=((0, 1), (2, 3)),
    )
    budget = EpsilonDelta(epsilon=1.0, delta=1e-2)
    needed = (0.5 * np.sqrt(2 * np.log(125))) ** 2  # the longer pair: 2.414
    release = EigenvectorGaussian().calibrate(answers, budget=budget)
    assert release.noise.covariance == pytest.approx(np.diag([needed - 1, needed - 2]))
