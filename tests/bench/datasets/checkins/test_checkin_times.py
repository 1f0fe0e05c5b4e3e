import re
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.checkins.checkin_times import TIME, first_second, local_seconds

FORM = "%a %b %d %H:%M:%S +0000 %Y"
moments = st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31), timezones=st.just(UTC))
GOOD = b"Tue Apr 03 18:00:06 +0000 2012"


def seconds(*texts, offset=0):
    return local_seconds(pa.array(texts), pa.array([offset] * len(texts))).tolist()


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(moments, st.integers(-1440, 1440)), min_size=1, max_size=20))
def test_times_agree_with_the_standard_library(rows):
    texts = pa.array([moment.strftime(FORM).encode() for moment, _ in rows])
    found = local_seconds(texts, pa.array([offset for _, offset in rows]))
    assert found.tolist() == [int(moment.timestamp()) + 60 * offset for moment, offset in rows]


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_changed_byte_is_refused_or_another_time_of_the_same_form(data):
    text = bytearray(GOOD)
    text[data.draw(st.integers(0, 29))] = data.draw(st.sampled_from([*b"\t\n\0 -+019azAZ:", 200]))
    try:  # the day of the week is any capital and two small letters
        expected = datetime.strptime("Tue" + text[3:].decode(), FORM).replace(tzinfo=UTC)
        same = text[3:] == expected.strftime(FORM)[3:].encode() and 2000 <= expected.year < 2038
    except ValueError:
        same = False
    if same and text[:1].isupper() and text[1:3].isalpha() and text[1:3].islower():
        assert seconds(bytes(text)) == [int(expected.timestamp())]
    else:
        with pytest.raises(ValueError, match="a time of another form"):
            seconds(GOOD, bytes(text))


def test_a_leap_second_is_the_one_after_it():
    assert seconds(b"Sat Jun 30 23:59:60 +0000 2012") == seconds(b"Sun Jul 01 00:00:00 +0000 2012")


@pytest.mark.parametrize(
    "time",
    [
        "Tue Apr 03 24:00:06 +0000 2012", "Tue Apr 03 18:60:06 +0000 2012",
        "Tue Apr 03 18:00:61 +0000 2012", "Tue Apr  3 18:00:06 +0000 2012",
        "Tue Apr 32 18:00:06 +0000 2012", "Tue Apr 00 18:00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0900 2012", "Tue Apr 03 18:00:06 +0000 1912",
        "Tue Apr 03 18-00:06 +0000 2012", "Tue Axr 03 18:00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0000 2038", "Fri Feb 30 18:00:06 +0000 2012",
        "Fri Feb 29 18:00:06 +0000 2013", "Sun Apr 31 18:00:06 +0000 2012",
        "Tue Jar 30 18:00:06 +0000 2012", "Tue Xan 30 18:00:06 +0000 2012",
        "tue Apr 03 18:00:06 +0000 2012", "Tue apr 03 18:00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0000 20120", "Tue Apr 03 18:00:06", "",
    ],
)  # fmt: skip
def test_times_that_are_none_are_refused(time):
    with pytest.raises(ValueError, match="a time of another form"):
        seconds(GOOD, time.encode())


@pytest.mark.parametrize("offset", [1441, -1441, -(2**15)])
def test_offsets_of_more_than_a_day_are_refused(offset):
    assert seconds(GOOD, offset=1440) == [1333476006 + 86_400]
    with pytest.raises(ValueError, match="an offset of more than 1440 minutes"):
        seconds(GOOD, offset=offset)


def test_what_a_malformed_row_is_told_by_is_what_is_read():

    parts = re.fullmatch(TIME, GOOD.decode())
    assert parts["date"] == "Tue Apr 03 "
    assert first_second((parts["date"] + parts["year"]).encode()) == 1333476006 // 86_400 * 86_400
