import math

import numpy as np
import pytest

from mechanisms.base import NotApplicableError, guarantee_of
from mechanisms.distribution.expected_value import ExpectedValueLaplace
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.noise.identity import Noiseless
from mechanisms.noise.rounded import Rounded
from mechanisms.privacy.budget import Epsilon, NoBudget
from mechanisms.privacy.sharing import calibrate

ANSWERS = GaussianAnswers(
    means=np.array([[0.0], [1.0]]), covariances=np.ones((2, 1, 1)), pairs=((0, 1),)
)
LAWS = [GaussianLaw(mean=m, covariance=np.eye(1)) for m in ANSWERS.means]


def calibrated(decimals):
    rounded = Rounded(calibration=ExpectedValueLaplace(), decimals=decimals)
    assert (rounded.requires, rounded.accepts) == ((GaussianAnswers,), Epsilon)
    return rounded.calibrate(ANSWERS, budget=Epsilon(epsilon=0.5))


@pytest.mark.parametrize("decimals", [0, 2])
def test_releases_are_those_of_the_wrapped_mechanism_rounded(decimals):
    mechanism, x = calibrated(decimals), np.linspace(0, 1, 50)[:, None]
    exact = mechanism.inner.release(x, np.random.default_rng(1))
    rounded = mechanism.release(x, np.random.default_rng(1))
    assert mechanism.rounding == 10**-decimals
    assert np.abs(rounded - exact).max() <= mechanism.rounding / 2 * (1 + 1e-9)
    steps = rounded / mechanism.rounding
    assert steps == pytest.approx(np.rint(steps), abs=1e-9)
    assert mechanism.noise_covariance == pytest.approx(np.array([[8.0]]))


def test_the_claim_stays_and_the_leakage_is_an_upper_bound():
    mechanism = calibrated(1)
    assert mechanism.guarantee == mechanism.inner.guarantee
    assert guarantee_of(mechanism, 3).bound == pytest.approx(1.5)
    bound = mechanism.leakage(*LAWS, 1).epsilon(0.0)
    assert (bound.lo, bound.hi) == (0.0, mechanism.inner.leakage(*LAWS, 1).epsilon(0.0).hi)


def test_an_infinite_budget_rounds_the_answer_itself():
    mechanism = Rounded(calibration=ExpectedValueLaplace(), decimals=1).without_noise(ANSWERS)
    assert mechanism.release(np.array([[0.123]]), np.random.default_rng(0)).tolist() == [[0.1]]
    assert mechanism.leakage(*LAWS, 1).accuracy().hi < 1


def test_rounding_alone_is_deterministic_and_spends_nothing():
    without = Rounded(calibration=ExpectedValueLaplace(), decimals=1).without_noise(ANSWERS)
    assert without.deterministic
    assert without.split_among(3) is without
    noisy = calibrated(1)
    assert not noisy.deterministic
    shared = calibrate(
        Rounded(calibration=ExpectedValueLaplace(), decimals=1), (ANSWERS,),
        budget=Epsilon(epsilon=0.5), n_releases=3, share="together",
    )  # fmt: skip
    assert guarantee_of(shared, 3).bound == pytest.approx(noisy.guarantee.bound)


def test_bad_parameters_are_refused():
    for bad in (-1, 1.5, math.nan, True):
        with pytest.raises(ValueError, match=r"^decimals must be a whole number .*got decimals="):
            Rounded(calibration=ExpectedValueLaplace(), decimals=bad)
    with pytest.raises(NotApplicableError, match="only additive noise"):
        Rounded(calibration=Noiseless(), decimals=1).calibrate(budget=NoBudget())
