from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.checkins import checkin_rows, foursquare_checkins
from bench.datasets.checkins.checkin_rows import PAD, line_blocks, rows_of, seconds
from bench.datasets.checkins.foursquare import CHECKINS, CITIES, POIS
from bench.datasets.checkins.foursquare_checkins import other_rows, read_rows
from bench.datasets.checkins.foursquare_venues import read_countries, read_venues
from bench.datasets.checkins.venue_ids import IdTable, mixed
from tests.support.synthetic_files import write_files

few = settings(max_examples=60, deadline=None)
FORM = "%a %b %d %H:%M:%S +0000 %Y"
moments = st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31), timezones=st.just(UTC))
check_ins = st.tuples(
    st.integers(0, 9_999_999), st.binary(min_size=12, max_size=12).map(bytes.hex),
    moments.map(lambda moment: moment.replace(microsecond=0)), st.integers(-1440, 1440),
)  # fmt: skip


def text(rows):
    return "".join(f"{u}\t{v}\t{t.strftime(FORM)}\t{o}\n" for u, v, t, o in rows).encode()


def block(content):
    return np.frombuffer(b"\xff" * PAD + content, dtype=np.uint8)


def columns(rows):
    return rows.user.tolist(), rows.venue.tolist(), rows.time.tolist(), rows.offset.tolist()


@few
@given(rows=st.lists(check_ins, min_size=1, max_size=20))
def test_rows_are_those_of_python_and_of_arrow(rows):
    content = text(rows)
    found = rows_of(block(content))
    assert found.user.tolist() == [u for u, *_ in rows]
    assert [bytes(v.view(np.uint8)).decode() for v in found.venue] == [v for _, v, *_ in rows]
    assert found.time.tolist() == [int(t.timestamp()) for *_, t, _ in rows]
    assert found.offset.tolist() == [o for *_, o in rows]
    assert columns(other_rows(block(content))) == columns(found)


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(check_ins, min_size=1, max_size=3), data=st.data())
def test_a_changed_byte_is_noticed_or_read_as_arrow_reads_it(rows, data):
    content = bytearray(text(rows))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.sampled_from([*b"\t\n\r\0 -+9az:", 200]))
    found = rows_of(block(bytes(content)))
    if found is not None:
        assert columns(other_rows(block(bytes(content)))) == columns(found)


@pytest.mark.parametrize(
    "line",
    [
        "12345678\t{v}\t{t}\t60\n",
        "7\t{v}\t{t}\t60\r\n",
        "7\t{v}\t{t}\t60",
        "7\t{v}\t{t}\t-00000060\n",
        "7\t{V}\t{t}\t60\n",
    ],
)
def test_other_widths_are_left_to_arrow(line):
    content = line.format(v="a" * 24, V="A" * 24, t="Tue Apr 03 18:00:06 +0000 2012").encode()
    assert rows_of(block(content)) is None
    rows = other_rows(block(content))
    assert abs(int(rows.user[0])) in (7, 12345678)
    assert abs(int(rows.offset[0])) == 60
    assert rows.time.tolist() == [1333476006]


@pytest.mark.parametrize(
    "time",
    [
        "Tue Apr 03 24:00:06 +0000 2012", "Tue Apr 03 18:60:06 +0000 2012",
        "Tue Apr 32 18:00:06 +0000 2012", "Tue Apr 00 18:00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0900 2012", "Tue Apr 03 18:00:06 +0000 1912",
        "Tue Apr 03 18-00:06 +0000 2012", "Tue Axr 03 18:00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0000 2038", "Fri Feb 30 18:00:06 +0000 2012",
        "Fri Feb 29 18:00:06 +0000 2013", "Sun Apr 31 18:00:06 +0000 2012",
        "Tue Jar 30 18:00:06 +0000 2012", "Tue Xan 30 18:00:06 +0000 2012",
        "tue Apr 03 18:00:06 +0000 2012", "Tue apr 03 18:00:06 +0000 2012",
    ],
)  # fmt: skip
def test_times_that_are_none_are_refused(time):
    assert rows_of(block(f"7\t{'a' * 24}\t{time}\t60\n".encode())) is None
    with pytest.raises(ValueError, match="a time like"):
        seconds(np.frombuffer(time.encode(), dtype=np.uint8)[None])


def test_blocks_hold_every_line_once_whatever_their_size(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [bytes(rng.integers(65, 90, size)) + b"\n" for size in rng.integers(0, 40, 300)]
    path = tmp_path / "lines"
    for content in (b"".join(lines), b"".join(lines)[:-1]):
        path.write_bytes(content)
        for size, step in ((1, 7), (16, 64), (50, 50), (64, 1000), (1 << 20, 1 << 20)):
            monkeypatch.setattr(checkin_rows, "BLOCK", size)
            parts = [
                bytes(part[PAD:])
                for first in range(0, len(content), step)
                for part in line_blocks(path, first, min(first + step, len(content)))
            ]
            assert b"".join(parts) == content
            assert all(part.endswith(b"\n") for part in parts[:-1])


OUT_OF_RANGE = [("-7", "60"), ("1000000000", "60"), ("7", "1441"), ("7", "-1441"),
                ("7", "-2147483648")]  # fmt: skip


@pytest.mark.parametrize(("user", "offset"), OUT_OF_RANGE)
def test_users_and_offsets_out_of_range_are_refused(user, offset):
    content = block(f"{user}\t{'a' * 24}\tTue Apr 03 18:00:06 +0000 2012\t{offset}\n".encode())
    assert rows_of(content) is None
    with pytest.raises(ValueError, match="out of range"):
        other_rows(content)


def test_a_line_longer_than_a_block_allows_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    monkeypatch.setattr(checkin_rows, "BLOCK", 5000)
    path.write_bytes(b"short\n" * 700 + b"x" * 9000 + b"\n" + b"short\n" * 700)
    with pytest.raises(ValueError, match="a line of more than 4096 bytes"):
        list(line_blocks(path, 0, path.stat().st_size))


def test_files_read_in_small_ranges_are_read_the_same(tmp_path, monkeypatch):
    write_files(tmp_path, 10_000, seed=1)
    venues = read_venues(tmp_path / POIS, read_countries(tmp_path / CITIES))
    at_once, none = read_rows(tmp_path / CHECKINS, venues)
    monkeypatch.setattr(checkin_rows, "BLOCK", 5000)
    monkeypatch.setattr(foursquare_checkins, "RANGE", 12_345)
    in_parts, dropped = read_rows(tmp_path / CHECKINS, venues)
    for one, other in zip(at_once, in_parts, strict=True):
        assert (one == other).all()
    assert none == dropped


LARGEST = 2**64 - 1
numbers = st.integers(0, LARGEST) | st.sampled_from([0, 1, LARGEST - 1, LARGEST])


@few
@given(kept=st.sets(numbers, max_size=50), asked=st.lists(numbers, max_size=50))
def test_numbers_are_found_where_they_are(kept, asked):
    ordered = sorted(kept)
    table = IdTable.of(np.array(ordered, dtype=np.uint64))
    place = {number: i for i, number in enumerate(ordered)}
    wanted = [*asked, *ordered]
    found = table.find(np.array(wanted, dtype=np.uint64))
    assert found.tolist() == [place.get(number, -1) for number in wanted]


def test_mixed_ids_are_distinct_and_spread():
    ids = np.arange(3 * 20_000, dtype=np.uint64).reshape(-1, 3)
    keys = mixed(ids)
    assert np.unique(keys).size == keys.size
    leading = np.bincount((keys >> np.uint64(56)).astype(np.intp), minlength=256)
    assert leading.min() > 30
    assert leading.max() < 130
