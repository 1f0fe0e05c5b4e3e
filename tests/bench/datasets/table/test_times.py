"""Times: an order of any size, or a clock whose unit is found and told."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.activities.recording_clock import RecordingClock
from bench.datasets.source import DataError
from bench.datasets.table.text_table import TextTable

few = settings(max_examples=60, deadline=None)
MOMENTS = st.lists(
    st.datetimes(datetime.datetime(1990, 1, 2), datetime.datetime(2099, 12, 30)), min_size=1,
    max_size=6,
)  # fmt: skip
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def times(*texts):
    return TextTable(path="t.csv", columns={"time": pa.chunked_array([list(map(str, texts))])})


def nanoseconds(moment):
    since = moment - datetime.datetime(1970, 1, 1)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


@few
@given(st.lists(st.one_of(st.integers(-(10**30), 10**30), st.integers(0, 99)), min_size=1))
def test_whole_numbers_of_any_size_keep_their_order(numbers):
    order = times(*numbers).order("time")
    assert order.dtype == np.int64
    for i, one in enumerate(numbers):
        for j, other in enumerate(numbers):
            assert (order[i] < order[j]) == (one < other)


@few
@given(st.lists(st.decimals(-(10**12), 10**12, places=9), min_size=1, max_size=8))
def test_decimals_keep_every_digit(numbers):
    order = times(*(f"{number:f}" for number in numbers)).order("time")
    for i, one in enumerate(numbers):
        for j, other in enumerate(numbers):
            assert (order[i] < order[j]) == (one < other)


def test_nineteen_digits_are_not_rounded():
    order = times("1704067200000001950", "1704067200000001949", "1704067200000001951").order("time")
    assert np.argsort(order).tolist() == [1, 0, 2]


@few
@given(MOMENTS, st.sampled_from(sorted(UNITS)))
def test_the_one_unit_of_numbers_is_found_and_told(moments, unit):
    whole = [nanoseconds(m) // (10**9 // UNITS[unit]) for m in moments]
    found, told = times(*whole).clock("time")
    assert found.tolist() == [n * (10**9 // UNITS[unit]) for n in whole]
    assert told == f"column 'time': numbers read as {WORDS[unit]}"


@few
@given(MOMENTS)
def test_stamps_of_fourteen_digits_are_told(moments):
    found, told = times(*(m.strftime("%Y%m%d%H%M%S") for m in moments)).clock("time")
    assert found.tolist() == [nanoseconds(m.replace(microsecond=0)) for m in moments]
    assert told == "column 'time': read as 14-digit stamps"


@few
@given(MOMENTS, st.sampled_from([" ", "T"]), st.sampled_from(["", "Z", "+01:00", "-0330", "+02"]),
       st.sampled_from(["", " [Europe/London]"]))  # fmt: skip
def test_iso_dates_with_offsets_and_zone_names(moments, between, offset, zone):
    texts = [m.isoformat(between) + offset + zone for m in moments]
    minutes = {"": 0, "Z": 0, "+01:00": 60, "-0330": -210, "+02": 120}[offset]
    found, told = times(*texts).clock("time")
    assert found.tolist() == [nanoseconds(m) - minutes * 60 * 10**9 for m in moments]
    assert bool(told) == bool(offset)
    local, told = times(*texts).clock("time", local=True)
    assert local.tolist() == [nanoseconds(m) for m in moments]
    assert bool(told) == bool(offset)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["5", "6"], "lie in 1990 to 2100 in no unit: set unit= to one of s, ms, us, ns"),
        (["1333476000", "1333476000000"], "in no unit"),
        (["1333476000", "noon"], r"got 'noon' in data row 2 \(1 such rows\)"),
        (["2024-01-01", "2024-13-01"], "got '2024-13-01' in data row 2"),
        (["2024-01-01T10:00", "2024-01-01T10:00Z"], "all have an offset or none"),
        (["2024-01-01", "1333476000"], "must all be numbers or all ISO dates"),
        (["1/2/2024"], "got '1/2/2024' in data row 1"),
        (["99999999999999999999"], "in no unit"),
    ],
)
def test_clocks_of_no_form_or_of_several_are_refused(texts, said):
    with pytest.raises(DataError, match=said) as error:
        times(*texts).clock("time")
    assert "column 'time'" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_stated_unit_counts_from_any_moment():
    assert times("0", "30.5", "-1").clock("time", unit="s")[0].tolist() == [
        0, 30_500_000_000, -1_000_000_000,
    ]  # fmt: skip
    assert times("1500").clock("time", unit="ms")[0].tolist() == [1_500_000_000]
    with pytest.raises(DataError, match="times too large for unit=s"):
        times(10**12).clock("time", unit="s")


def test_dates_far_from_today_are_an_order_and_never_wrap():
    order = times("0001-01-01", "2024-01-01", "9999-12-31").order("time")
    assert np.argsort(order).tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="column 'time' holds dates outside 1678 to 2261"):
        times("0001-01-01").clock("time")


SECOND = 10**9


def test_a_clock_set_back_by_an_hour_goes_on(monkeypatch):
    clock = RecordingClock()
    before = ["2015-10-25 01:59:00", "2015-10-25 01:59:30"]
    after = ["2015-10-25 01:00:00", "2015-10-25 01:00:30"]
    assert clock.since_start(times(*before), "time").tolist() == [0, 30 * SECOND]
    assert clock.since_start(times(*after), "time").tolist() == [60 * SECOND, 90 * SECOND]
    assert clock.set_back == [3]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("2015-10-25 01:59:25", "step back of 5 s in data row 2"),
        ("2015-10-24 23:59:30", "step back of 7200 s in data row 2"),
        ("1445731200000", "must all be in one form"),
        ("2015-10-25 01:59:40Z", "must all be in one form"),
    ],
)
def test_rows_in_another_order_or_form_are_refused(second, said):
    clock = RecordingClock()
    clock.since_start(times("2015-10-25 01:59:30"), "time")
    with pytest.raises(DataError, match=said):
        clock.since_start(times(second), "time")


def test_moments_do_not_step_back():
    clock = RecordingClock()
    clock.since_start(times("2015-10-25 01:59:30+01:00"), "time")
    with pytest.raises(DataError, match="must be in order of time"):
        clock.since_start(times("2015-10-25 01:00:00+01:00"), "time")
