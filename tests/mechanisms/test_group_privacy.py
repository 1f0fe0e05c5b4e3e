import math

import numpy as np
import pytest

from mechanisms.base import NotApplicableError
from mechanisms.group_privacy import GroupGaussian, GroupGeometric, GroupLaplace, group_epsilon
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.gaussian import GaussianNoise, mahalanobis
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.guarantee import NoClaim

SENSITIVITY = Sensitivity(l1=3.0, l2=2.0, unit="record", size=50, dimension=4)


def test_a_group_of_all_records_is_claimed_and_a_smaller_one_is_not():
    whole = GroupLaplace().calibrate(SENSITIVITY, budget=Epsilon(epsilon=0.5))
    assert whole.noise.scales == pytest.approx([50 * 3 / 0.5] * 4)
    assert whole.guarantee.bound == pytest.approx(0.5)
    assert whole.repeated_guarantee(2).bound == pytest.approx(1.0)
    record = GroupLaplace(group=1).calibrate(SENSITIVITY, budget=Epsilon(epsilon=0.5))
    assert record.noise.scales == pytest.approx([3 / 0.5] * 4)
    assert isinstance(record.guarantee, NoClaim)
    assert "1 of 50 records" in record.guarantee.reason


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_gaussian_noise_spends_the_budget_on_the_whole_group(epsilon):
    budget = EpsilonDelta(epsilon=epsilon, delta=1e-3)
    for calibration in ("classical", "analytic"):
        release = GroupGaussian(calibration=calibration).calibrate(SENSITIVITY, budget=budget)
        assert release.guarantee.bound == pytest.approx(epsilon, rel=1e-6)
    c = math.sqrt(2 * math.log(1250))
    classical = GroupGaussian().calibrate(SENSITIVITY, budget=budget)
    assert np.sqrt(classical.variances()) == pytest.approx([50 * 2 * c / epsilon] * 4)


def test_the_worst_move_of_a_group_is_found_for_unequal_noise():
    rng = np.random.default_rng(0)
    delta = 1e-3
    root = rng.standard_normal((4, 4))
    gaussian = GaussianNoise(covariance=1e4 * root @ root.T, calibration="analytic")
    laplace = LaplaceNoise(scales=np.array([40.0, 10.0, 30.0, 20.0]))
    moves = rng.standard_normal((4000, 4))
    spherical = 5 * 2 * moves / np.linalg.norm(moves, axis=1, keepdims=True)
    diamond = 5 * 3 * moves / np.abs(moves).sum(axis=1, keepdims=True)
    found = group_epsilon(gaussian, SENSITIVITY, 5, delta, 1)
    worst = max(mahalanobis(move, gaussian.covariance) for move in spherical)
    assert gaussian.epsilon_at(worst, 1e-3) <= found <= gaussian.epsilon_at(1.1 * worst, 1e-3)
    found = group_epsilon(laplace, SENSITIVITY, 5, delta, 1)
    assert laplace.shift_epsilon(diamond, delta, 1) <= found
    assert found == pytest.approx(15 / 10)


def test_bad_groups_are_refused_in_one_line():
    with pytest.raises(NotApplicableError, match="a group of 51 exceeds the 50 units"):
        GroupLaplace(group=51).calibrate(SENSITIVITY, budget=Epsilon(epsilon=1.0))
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match=r"^group must be .*got group="):
            GroupLaplace(group=bad).calibrate(SENSITIVITY, budget=Epsilon(epsilon=1.0))


def test_geometric_noise_has_the_scale_of_laplace_and_whole_numbers():
    counts = Sensitivity(l1=2.0, l2=2.0**0.5, unit="record", size=10, dimension=3)
    mechanism = GroupGeometric().calibrate(counts, budget=Epsilon(epsilon=0.5))
    assert mechanism.guarantee.bound == pytest.approx(0.5)
    scale = 10 * 2.0 / 0.5
    expected = 1 / (2 * np.sinh(0.5 / scale) ** 2)
    assert mechanism.variances() == pytest.approx(np.full(3, expected))
    released = mechanism.release(np.zeros((5, 3)), np.random.default_rng(0))
    assert (released == np.rint(released)).all()
    one = GroupGeometric(group=1).calibrate(counts, budget=Epsilon(epsilon=0.5))
    assert isinstance(one.guarantee, NoClaim)
    half = Sensitivity(l1=0.5, l2=0.5, unit="record", size=10, dimension=1)
    with pytest.raises(NotApplicableError, match="whole-number answers"):
        GroupGeometric().calibrate(half, budget=Epsilon(epsilon=0.5))
