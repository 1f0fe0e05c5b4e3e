"""Receivers with two-point priors: below the epsilon of probabilistic DP, and up to it."""

import math

import numpy as np
import pytest

from bench.quantities.two_point import TwoPointKappa

CHANNEL = [[0.5, 0.3, 0.15, 0.05], [0.1, 0.25, 0.3, 0.35]]


def drawn(**changes):
    given = {"channel": CHANNEL, "delta": 0.0, "q": [1e-9, 0.01, 0.5, 1.0]}
    quantity = TwoPointKappa(**(given | changes))
    return [bracket.hi for bracket in quantity.curve(np.asarray(quantity.x, dtype=float))]


def test_the_gain_falls_with_the_prior_and_never_attains_its_limit():
    found, limit = drawn(), drawn(form="limit")
    assert limit == [pytest.approx(math.log(7))] * 4
    assert found == sorted(found, reverse=True)
    assert all(f < bound for f, bound in zip(found, limit, strict=True))
    assert found[0] == pytest.approx(math.log(7), abs=1e-7)
    assert found[2] == pytest.approx(math.log(7 / (0.5 * 7 + 0.5)))
    assert found[3] == 0.0


def test_delta_drops_the_worst_outputs():
    # Given the second row, .35 has ratio 7; dropping it leaves ratio 2. Given the first, .5 stays.
    assert drawn(delta=0.4, form="limit")[0] == pytest.approx(math.log(5))
    assert drawn(delta=0.55, form="limit")[0] == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": [0.0]}, "q must be in"),
        ({"q": [2.0]}, r"q must be in \(0, 1\]"),
        ({"delta": 1.0}, "delta must be in"),
        ({"channel": CHANNEL[:1]}, "channel must have two rows"),
        ({"channel": [[0.5, 0.4], [0.5, 0.5]]}, "sum to 1"),
        ({"form": "x"}, "form must be"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        drawn(**changes)
