"""The expected error of noise: closed forms and simulation; calibrations at a given error."""

import math

import numpy as np
import pytest

from mechanisms.base import NotApplicableError
from mechanisms.distribution.expected_value import ExpectedValueGaussian
from mechanisms.group_privacy import GroupGaussian, GroupLaplace
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.noise.mean_error import mean_l2_error
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.matching.equal_error import EqualError

SENSITIVITY = Sensitivity(l1=3.86, l2=1.87505, unit="record", size=100, dimension=5)


def gaussian(covariance):
    return GaussianNoise(covariance=np.asarray(covariance, dtype=float), calibration="analytic")


@pytest.mark.parametrize(
    ("noise", "error"),
    [
        (gaussian(np.eye(5)), 2.12769),
        (gaussian(np.diag([4.0, 0, 0])), 2 * math.sqrt(2 / math.pi)),
        (gaussian(np.zeros((2, 2))), 0.0),
        (LaplaceNoise(scales=np.full(5, 1.0)), 2.86388),
        (LaplaceNoise(scales=np.array([2.0])), 2.0),
        (DirectionalLaplaceNoise(scale=3.0, direction=np.array([0.6, 0.8])), 3.0),
    ],
)
def test_closed_forms(noise, error):
    assert mean_l2_error(noise) == pytest.approx(error, abs=1e-5)


def test_unequal_coordinates_agree_with_simulation():
    rng = np.random.default_rng(0)
    for noise in (gaussian([[4.0, 1.0], [1.0, 0.5]]), LaplaceNoise(scales=np.array([0.1, 3.0]))):
        drawn = np.linalg.norm(noise.sample((400_000, 2), rng), axis=1)
        error = 4 * drawn.std() / math.sqrt(len(drawn))
        assert mean_l2_error(noise) == pytest.approx(drawn.mean(), abs=error)


@pytest.mark.parametrize("of", [GroupGaussian(group=1), GroupGaussian(group=10)])
@pytest.mark.parametrize("error", [0.01, 15.0663, 1e4])
def test_calibrations_meet_the_error(of, error):
    equal = EqualError(of=of, error=error, delta=0.001)
    mechanism = equal.calibrate(SENSITIVITY, budget=NoBudget())
    assert equal.achieved(mechanism, None, 1).hi == pytest.approx(error, rel=1e-9)
    assert mechanism.noise.covariance[0, 0] == pytest.approx((error / 2.127692) ** 2, rel=1e-5)


def test_an_error_out_of_reach_is_refused_with_the_range():
    equal = EqualError(of=GroupLaplace(group=1), error=1e12)
    with pytest.raises(NotApplicableError, match="above the largest one"):
        equal.calibrate(SENSITIVITY, budget=NoBudget())


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="error must be"):
        EqualError(of=GroupLaplace(), error=0.0)
    with pytest.raises(ValueError, match="delta must be given"):
        EqualError(of=GroupGaussian(), error=1.0)
    with pytest.raises(ValueError, match="delta must be left out"):
        EqualError(of=GroupLaplace(), error=1.0, delta=0.1)
    with pytest.raises(NotComputableError, match="no known form"):
        mean_l2_error(object())


def test_answers_without_a_difference_need_no_noise():
    still = GaussianAnswers(means=np.zeros((2, 1)), covariances=np.ones((2, 1, 1)), pairs=((0, 1),))
    equal = EqualError(of=ExpectedValueGaussian(), error=1.0, delta=0.001)
    with pytest.raises(NotApplicableError):
        equal.calibrate(still, budget=NoBudget())
