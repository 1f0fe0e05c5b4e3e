import math

import numpy as np
import pytest
from scipy.stats import geom

from attacks.reconstruction.runs import RunsUntilRevealed

CUT = RunsUntilRevealed(runs=np.array([2, 3, 3, math.inf]), cap=5)


def test_what_is_cut_off_is_said_and_gives_no_mean():
    assert CUT.not_yet_revealed == 0.25
    assert CUT.revealed_within().tolist() == [0, 0, 0.25, 0.75, 0.75, 0.75]
    assert CUT.median == 3
    assert CUT.quantile(0.9) is None
    assert CUT.mean is None
    assert RunsUntilRevealed(runs=np.array([1.0, 2.0]), cap=5).mean == 1.5


def test_intervals_of_a_median_cover_it():
    rng = np.random.default_rng(0)
    cap, covered = 20, 0
    truth = geom.ppf(0.5, 0.1)
    for _ in range(400):
        drawn = rng.geometric(0.1, 40).astype(float)
        found = RunsUntilRevealed(runs=np.where(drawn <= cap, drawn, math.inf), cap=cap)
        low, high = found.quantile_interval(0.5)
        covered += low <= truth <= high
    assert covered / 400 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 400)


def test_an_interval_that_passes_the_cap_is_open():
    low, high = CUT.quantile_interval(0.9)
    assert low <= 3
    assert high == math.inf


@pytest.mark.parametrize(
    ("runs", "cap", "message"),
    [
        ([1.0, 6.0], 5, r"runs must be in \[0, 5\] or inf, got 6"),
        ([-1.0], 5, "runs must be in"),
        ([math.nan], 5, "runs must be in"),
        ([], 5, "runs must have shape"),
        ([1.0], 0, "cap must be a whole number"),
    ],
)
def test_bad_runs_are_refused(runs, cap, message):
    with pytest.raises(ValueError, match=message):
        RunsUntilRevealed(runs=np.array(runs), cap=cap)
