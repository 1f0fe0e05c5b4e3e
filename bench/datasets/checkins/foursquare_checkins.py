"""The check-ins of the global Foursquare files, read by several threads at once."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from joblib import cpu_count
from numpy.typing import NDArray

from bench.datasets.checkins.checkin_labels import common_labels
from bench.datasets.checkins.checkin_order import Visits, by_user, repeats, user_codes
from bench.datasets.checkins.checkin_rows import (
    FARTHEST,
    MOST_USERS,
    OFFSET,
    PAD,
    TIME,
    USER,
    Rows,
    line_blocks,
    rows_of,
    seconds,
)
from bench.datasets.checkins.checkin_stream import (
    TEXT_TIME,
    check_encoding,
    fixed,
    malformed,
    read_csv,
)
from bench.datasets.checkins.foursquare_venues import Venues
from bench.datasets.checkins.venue_ids import mixed
from bench.datasets.read_progress import progress_over
from bench.datasets.sequences.sequence_statistics import (
    OTHER,
    Entries,
    SequenceStatistics,
    Steps,
    accumulate,
)
from bench.datasets.source import DataError

DAY = 86_400
COLUMNS = {"user": pa.int32(), "venue": pa.binary(24), "time": TEXT_TIME, "offset": pa.int32()}
PATTERNS = (USER, r"[^\t]{24}", TIME, OFFSET)
SHORTEST = 60  # bytes of a line
RANGE = 32 << 20  # bytes of a file that one thread reads in turn
PART = 1_000_000  # check-ins that are counted at once
UNLISTED, FOREIGN = (
    "check-ins at unlisted venues dropped", "check-ins in countries without a city dropped",
)  # fmt: skip
BEYOND, TWICE = "check-ins after day {} dropped", "identical check-ins dropped"
UNKNOWN = f"check-ins of unknown categories counted as {OTHER}"
SINGLE = "users with one check-in, which has no step"

Columns = tuple[NDArray[np.int32], ...]  # user, local time, venue, offset


def read_checkins(
    path: Path, venues: Venues, training_days: int, days: int, steps: Steps
) -> SequenceStatistics:
    """Read the check-ins, order each user's by local time, cut off the days and count."""
    (user, time, venue, offset), dropped = read_rows(path, venues)
    if not user.size:
        raise DataError(f"{path} has no check-in in a country of the city table.")
    first = int(time.min()) // DAY * DAY
    place, offsets = places(venue, offset, venues.state.size)
    visits = by_user(user_codes(user), time, place)
    del user, time, venue, offset, place
    counts = dict.fromkeys((BEYOND, TWICE, UNKNOWN, SINGLE), 0)
    query, end = first + training_days * DAY, first + days * DAY
    parts = _entries(visits, venues, offsets, query, end, counts)
    statistics = accumulate(parts, steps, ())
    told = {
        "check-ins read": visits.time.size + sum(dropped.values()),
        **dropped,
        BEYOND.format(days): counts.pop(BEYOND),
        "check-ins before an earlier one in local time, sorted": visits.late,
        **counts,
    }
    notes = (*venues.notes, *(f"{count} {what}" for what, count in told.items() if count))
    return dataclasses.replace(statistics, notes=notes)


def places(
    venue: NDArray[np.int32], offset: NDArray[np.int16], venues: int
) -> tuple[NDArray[np.integer], int]:
    """Return venue and offset as one number, and how many offsets there are."""
    there = np.zeros(2 * FARTHEST + 1, dtype=bool)
    there[offset + np.int16(FARTHEST)] = True
    code, offsets = np.cumsum(there) - 1, int(there.sum())
    small = venues * offsets <= np.iinfo(np.int32).max
    place: NDArray[np.integer] = np.empty(venue.size, dtype=np.int32 if small else np.int64)
    for start in range(0, venue.size, PART):
        own = slice(start, start + PART)
        place[own] = venue[own].astype(np.int64) * offsets + code[offset[own] + np.int16(FARTHEST)]
    return place, offsets


def _entries(
    visits: Visits, venues: Venues, offsets: int, query: int, end: int, counts: dict[str, int]
) -> Iterator[Entries]:
    """Yield the check-ins before `end`, some users at a time, and count what is dropped."""
    borders = np.searchsorted(visits.start, np.arange(0, visits.time.size, PART))
    for first, last in itertools.pairwise([*np.unique(borders).tolist(), visits.start.size - 1]):
        size = np.diff(visits.start[first : last + 1])
        own = slice(visits.start[first], visits.start[last])
        user = np.repeat(np.arange(size.size), size)
        time, place = visits.time[own], visits.place[own]
        again = repeats(user, time, place)
        venue = place // offsets
        inside = time < end
        kept = inside & ~again
        if not kept.all():
            user, time, venue = user[kept], time[kept], venue[kept]
        counts[BEYOND] += inside.size - int(np.count_nonzero(inside))
        counts[TWICE] += int(np.count_nonzero(again & inside))
        counts[UNKNOWN] += int(np.count_nonzero(venues.unknown[venue]))
        counts[SINGLE] += int(np.count_nonzero(np.bincount(user) == 1))
        yield Entries(
            states=common_labels(),
            groups=venues.countries,
            sequence=user,
            state=venues.state[venue],
            group=venues.group[venue],
            training=time < query,
        )


def read_rows(path: Path, venues: Venues) -> tuple[list[NDArray[Any]], dict[str, int]]:
    """Return user, local time, venue and offset of each row; how many were dropped, by reason."""
    check_encoding(path)
    size = path.stat().st_size
    longest = (size + 1) // SHORTEST
    types = (np.int32, np.int32, np.int32, np.int16)
    columns: list[NDArray[Any]] = [np.empty(longest, dtype=kind) for kind in types]
    rows, dropped = 0, dict.fromkeys((UNLISTED, FOREIGN), 0)
    ranges = range(0, size, RANGE)
    read = functools.partial(_located, path, venues)
    try:
        with progress_over(path) as advance, ThreadPoolExecutor(min(4, cpu_count())) as pool:
            for part in pool.map(read, ranges, (min(first + RANGE, size) for first in ranges)):
                before = rows + sum(dropped.values())
                for found in part:
                    stop = rows + found.columns[0].size
                    for column, values in zip(columns, found.columns, strict=True):
                        column[rows:stop] = values
                    rows = stop
                    dropped[UNLISTED] += found.unlisted
                    dropped[FOREIGN] += found.foreign
                advance(rows + sum(dropped.values()) - before)
    except (pa.ArrowInvalid, ValueError) as error:
        raise malformed(path, PATTERNS, str(error)) from error
    return [column[:rows] for column in columns], dropped


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Located:
    """Check-ins of a block, without those that are dropped."""

    columns: Columns
    unlisted: int
    foreign: int


def _located(path: Path, venues: Venues, first: int, last: int) -> list[Located]:
    """Read the lines that start in a range of bytes."""
    parts = []
    for block in line_blocks(path, first, last):
        rows = rows_of(block) or other_rows(block)
        venue = venues.ids.find(mixed(rows.venue))
        columns: Columns = (rows.user, rows.time + 60 * rows.offset, venue, rows.offset)
        listed = venue >= 0
        inside = listed & (venues.group[venue] >= 0)
        if not inside.all():
            columns = tuple(column[inside] for column in columns)
        n, known = listed.size, int(np.count_nonzero(listed))
        parts.append(Located(columns=columns, unlisted=n - known, foreign=known - columns[0].size))
    return parts


def other_rows(block: NDArray[np.uint8]) -> Rows:
    """Read lines that are well-formed but not of the original's usual widths.

    Raises
    ------
    ArrowInvalid, ValueError
        If a line is malformed.
    """
    text = pa.BufferReader(block[PAD:].tobytes())
    table = read_csv(text, COLUMNS, list(COLUMNS)).read_all().combine_chunks()
    columns = [column.chunk(0) for column in table.columns]
    user, offset = columns[0].to_numpy(), columns[3].to_numpy()
    ranges = ((user, 0, MOST_USERS - 1), (offset, -FARTHEST, FARTHEST))
    if any(values.min() < low or values.max() > high for values, low, high in ranges):
        raise ValueError("a user or an offset out of range")
    return Rows(
        user=user,
        venue=fixed(columns[1], 24).view("<u8"),
        time=seconds(fixed(columns[2], 30)),
        offset=offset,
    )
