"""The search for the largest dial whose number is at most a value."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.matching.search import largest_safe


def search(number, value, floor=0.0, wide=0.0):
    def read(epsilon):
        found = number(epsilon)
        return Bracket(found - wide, found)

    return largest_safe(read, value, what="the number", floor=floor)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.6, 4), st.floats(1e-3, 1e3))
def test_a_power_of_the_dial_is_inverted(power, value):
    low, high = search(lambda e: e**power, value)
    assert low**power <= value
    assert low == pytest.approx(value ** (1 / power), rel=1e-9)
    assert high >= low


def test_the_upper_end_of_a_bracket_is_put_at_the_value():
    low, _ = search(lambda e: 2 * e, 3.0, wide=1.0)
    assert 2 * low <= 3.0
    assert 2 * low == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("value", [1.0, 1.5, 1.999999])
def test_a_number_that_jumps_stays_at_the_nearest_value_below(value):
    # 0 below 1, 1 from 1 to below 2, then 2, ...
    low, high = search(math.floor, value)
    assert math.floor(low) == 1
    assert low == pytest.approx(2.0, rel=1e-11)
    assert math.floor(high) == 2


def test_a_number_that_is_zero_for_a_while_is_matched_at_the_end_of_that():
    low, _ = search(lambda e: max(0.0, e - 0.37), 0.0)
    assert low == pytest.approx(0.37, rel=1e-11)


def bounded(epsilon):
    return 0.6 + 0.2 * math.tanh(epsilon)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.55, r"^the number cannot be as low as 0\.55: it can be matched from 0\.6 to 0\.8$"),
        (0.9, r"^the number cannot be as high as 0\.9: it can be matched from 0\.6\S* to 0\.8$"),
    ],
)
def test_what_cannot_be_reached_is_refused_with_the_range_that_can(value, told):
    with pytest.raises(NotApplicableError, match=told):
        search(bounded, value, floor=0.5)


def test_the_largest_number_itself_needs_no_more_than_the_largest_dial():
    low, high = search(bounded, 0.8, floor=0.5)
    assert bounded(low) == pytest.approx(0.8, rel=1e-12)
    assert high == math.inf


def bump(epsilon):
    """Rises to 3 at 1, falls to 1 at 10, rises from there."""
    return float(np.interp(math.log10(epsilon), [-4, 0, 1, 4], [0, 3, 1, 7]))


@pytest.mark.parametrize("value", [1.0, 2.0, 3.0])
def test_a_value_that_is_passed_more_than_once_is_refused(value):
    told = r"^the number is not monotone: it is 3 at epsilon 1 and 1 at 10; .* from 0 to 7, but not"
    with pytest.raises(NotApplicableError, match=told):
        search(bump, value)


@pytest.mark.parametrize("value", [0.5, 5.0])
def test_values_beside_a_fall_are_matched(value):
    low, _ = search(bump, value)
    assert bump(low) == pytest.approx(value, rel=1e-9)


def test_a_fall_between_two_rungs_is_seen():
    # Between 1 and 10 the number rises, falls and rises again.
    def number(epsilon):
        at = [-4, 0, 0.3, 0.7, 1, 4]
        return float(np.interp(math.log10(epsilon), at, [0, 1, 4, 2, 5, 6]))

    with pytest.raises(NotApplicableError, match=r"^the number is not monotone"):
        search(number, 3.0)


def test_dials_without_a_number_are_left_out_and_the_reason_is_told():
    def read(epsilon):
        if epsilon < 0.05:
            raise NotApplicableError("no noise is enough there")
        return Bracket(epsilon, epsilon)

    assert largest_safe(read, 0.5, what="x", floor=0.0)[0] == pytest.approx(0.5, rel=1e-9)
    with pytest.raises(NotApplicableError, match=r"from 0\.1 to 10000 \(no noise is enough there"):
        largest_safe(read, 0.01, what="x", floor=0.0)

    def never(epsilon):
        raise NotApplicableError("there is none")

    with pytest.raises(NotApplicableError, match=r"^there is none$"):
        largest_safe(never, 1.0, what="x", floor=0.0)
