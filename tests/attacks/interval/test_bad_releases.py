"""Releases that no table fits, and input that is not a release: one clear line each."""

import numpy as np
import pytest

from attacks.interval.cell_limits import CellLimits, rounded_cells, suppressed_cells
from attacks.interval.feasible_intervals import interval_attack
from attacks.interval.propagation import InconsistentReleaseError
from attacks.interval.two_way import two_way_intervals
from mechanisms.deterministic.count_table import Margin
from mechanisms.deterministic.marks import UNLIMITED
from mechanisms.deterministic.rounding import Rounding


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: interval_attack(
                suppressed_cells(np.array([[-1, 5], [5, -1]]), threshold=3),
                (Margin.exact((0,), [6, 6]), Margin.exact((1,), [6, 7])),
            ),
            r"margins must add up: those over axes \(0,\) sum to 12, those over \(1,\) to 13",
        ),
        (
            lambda: interval_attack(
                suppressed_cells(np.array([[-1, 5], [5, 9]]), threshold=3),
                (Margin.exact((0,), [6, 15]),),
            ),
            "totals must fit the cells",
        ),
        (
            lambda: interval_attack(
                suppressed_cells(np.array([[-1, 5], [5, 9]]), threshold=3),
                (Margin.exact((0,), [6, 14, 2]),),
            ),
            r"must have shape \(2,\)",
        ),
        (
            lambda: interval_attack(
                suppressed_cells(np.array([[-1, 5], [5, 9]]), threshold=3),
                (Margin.exact((2,), [6, 14]),),
            ),
            "axes must be among 0 to 1",
        ),
        (lambda: suppressed_cells(np.array([-4, 5]), threshold=3), "marks must be -1, -2 or -3"),
        (
            lambda: suppressed_cells(
                np.array([-1, 5]), threshold=3, structural=np.array([True, False])
            ),
            "structural",
        ),
        (lambda: rounded_cells(np.array([4, 5]), Rounding(base=5)), "multiples of 5"),
        (lambda: Margin.exact((1, 0), [[1]]), "axes must be ascending"),
        (lambda: Margin.exact((0,), [1.5]), r"whole numbers, got 1.5 in cell \(0,\)"),
        (
            lambda: Margin(axes=(0,), lower=np.array([2]), upper=np.array([1])),
            "lower <= upper",
        ),
    ],
)
def test_bad_input_is_told_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)


def test_limits_that_flows_alone_find_inconsistent():
    """Each total fits by itself; together no table does."""
    upper = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 5]])
    margins = (Margin.exact((0,), [2, 2, 0]), Margin.exact((1,), [2, 1, 1]))
    with pytest.raises(InconsistentReleaseError, match="no"):
        interval_attack(
            CellLimits(lower=np.zeros((3, 3), dtype=int), upper=upper, hidden=upper > 0), margins
        )
    with pytest.raises(ValueError, match="uncertain counts must be at most"):
        two_way_intervals(
            np.zeros((2, 2), dtype=int),
            np.full((2, 2), 2**40),
            [Margin.of(np.full((2, 2), 2**33), (0,))],
        )
    assert UNLIMITED > 2**53
