import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mechanisms.distribution.minimum_noise import (
    BARRIER,
    CLOSED_FORM,
    MinimumNoiseGaussian,
    least_covariance,
)
from mechanisms.knowledge import GaussianAnswers
from mechanisms.privacy.budget import EpsilonDelta


def random_deficits(seed, m, p):
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((p, m)) * rng.uniform(0.5, 4, size=(p, 1))
    roots = rng.standard_normal((p, m, m + 1)) * 0.7
    return w[:, :, None] * w[:, None, :] - roots @ roots.transpose(0, 2, 1)


def sum_of_positive_parts(deficits):
    values, vectors = np.linalg.eigh(deficits)
    return ((vectors * np.maximum(values, 0)[:, None]) @ vectors.transpose(0, 2, 1)).sum(axis=0)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 6), p=st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_every_condition_holds_and_the_trace_lies_between_its_bounds(seed, m, p):
    deficits = random_deficits(seed, m, p)
    noise, method = least_covariance(deficits)
    scale = np.abs(deficits).max()
    for lower in (*deficits, np.zeros((m, m))):
        assert np.linalg.eigvalsh(noise - lower)[0] >= -1e-9 * scale
    single = max(np.maximum(np.linalg.eigvalsh(d), 0).sum() for d in deficits)
    assert single * (1 - 1e-9) <= np.trace(noise)
    assert np.trace(noise) <= np.trace(sum_of_positive_parts(deficits)) * (1 + 1e-7)
    if method == CLOSED_FORM:
        assert np.trace(noise) == pytest.approx(single)


@pytest.mark.parametrize("seed", range(6))
def test_no_covariance_in_the_plane_has_less_variance(seed):
    """A second route: direct search over Cholesky factors with a penalty."""
    deficits = random_deficits(seed, 2, 3)
    noise, _ = least_covariance(deficits)

    def covariance(x):
        root = np.array([[x[0], 0.0], [x[1], x[2]]])
        return root @ root.T

    def short(x):
        return max(0.0, float(np.linalg.eigvalsh(deficits - covariance(x)).max()))

    best = np.inf
    for start in np.random.default_rng(seed).uniform(0, 4, size=(8, 3)):
        found = minimize(
            lambda x: np.trace(covariance(x)) + 20 * short(x),
            start,
            method="Nelder-Mead",
            options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-11},
        )
        best = min(best, found.fun)
    assert np.trace(noise) == pytest.approx(best, rel=2e-3)
    assert np.trace(noise) <= best * (1 + 1e-6)


def pairs_of(means, covariance, pairs):
    return GaussianAnswers(
        means=np.array(means, dtype=float),
        covariances=np.broadcast_to(covariance, (len(means), *covariance.shape)),
        pairs=pairs,
    )


BUDGET = EpsilonDelta(epsilon=1.0, delta=1e-3)


def test_parallel_differences_with_one_covariance_need_the_longest_alone():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    short = pairs_of([[0, 0], [2, 2]], covariance, ((0, 1), (1, 0)))
    long = pairs_of([[0, 0], [2, 2], [-3, -3]], covariance, ((0, 1), (1, 0), (1, 2), (2, 1)))
    ends = pairs_of([[2, 2], [-3, -3]], covariance, ((0, 1),))
    noise = [
        MinimumNoiseGaussian().calibrate(a, budget=BUDGET).noise.covariance
        for a in (short, long, ends)
    ]
    assert noise[1] == pytest.approx(noise[2])
    assert np.trace(noise[0]) < np.trace(noise[1])
    assert np.linalg.matrix_rank(noise[1]) == 1


def test_the_method_is_stated():
    covariance = np.eye(2)
    one = pairs_of([[0, 0], [9, 0]], covariance, ((0, 1), (1, 0)))
    two = pairs_of([[0, 0], [9, 0], [0, 9]], covariance, ((0, 1), (0, 2)))
    for answers, method in ((one, CLOSED_FORM), (two, BARRIER)):
        release = MinimumNoiseGaussian().calibrate(answers, budget=BUDGET)
        assert method in release.guarantee.notes
        assert release.guarantee.bound == pytest.approx(1.0, rel=1e-6)
