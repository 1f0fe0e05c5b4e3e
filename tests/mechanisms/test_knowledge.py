import math

import numpy as np
import pytest

from mechanisms.base import NotApplicableError
from mechanisms.knowledge import GaussianAnswers, Sensitivity


def answers(means, pairs=((0, 1), (1, 0))):
    means = np.array(means, dtype=float)
    covariances = np.broadcast_to(np.eye(means.shape[1]), (len(means), *[means.shape[1]] * 2))
    return GaussianAnswers(means=means, covariances=covariances, pairs=pairs)


def test_distances_are_the_largest_over_the_pairs():
    three = answers([[0, 0], [3, 4], [1, 0]], pairs=((0, 1), (1, 0), (0, 2)))
    assert three.distance(1) == 7
    assert three.distance(2) == 5


def test_a_common_direction_is_found_up_to_sign_and_missed_otherwise():
    line = answers([[0, 0], [3, 4], [-6, -8]], pairs=((0, 1), (1, 2), (2, 0)))
    assert np.abs(line.common_direction()) == pytest.approx([0.6, 0.8])
    with pytest.raises(NotApplicableError, match="not parallel"):
        answers([[0, 0], [3, 4], [3, 4.0001]], pairs=((0, 1), (0, 2))).common_direction()
    with pytest.raises(NotApplicableError, match="equal means"):
        answers([[1, 2], [1, 2]]).common_direction()


def test_rounding_errors_of_the_means_are_no_differences():
    rounded = answers([[0.1 + 0.2, 0.0], [0.3, 1.0]])
    assert (rounded.differences()[:, 0] == 0).all()


@pytest.mark.parametrize("pairs", [(), ((0, 2),), ((-1, 0),)])
def test_pairs_must_index_the_means(pairs):
    with pytest.raises(ValueError, match="pairs must index the 2 means"):
        answers([[0, 0], [1, 1]], pairs=pairs)


def test_shapes_and_entries_are_checked():
    with pytest.raises(ValueError, match="means must have shape"):
        GaussianAnswers(means=np.zeros(2), covariances=np.eye(2), pairs=((0, 1),))
    with pytest.raises(ValueError, match="means must be finite"):
        answers([[0, math.nan], [1, 1]])


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, "abc", True])
def test_a_bad_sensitivity_is_refused_in_one_line(bad):
    with pytest.raises((ValueError, TypeError), match=r"^l1 must be .*got l1="):
        Sensitivity(l1=bad, l2=1.0, unit="record", size=10, dimension=2)
