"""The check-ins of the global Foursquare files: read, ordered by user and local time, counted."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import acero

from bench.datasets.checkins.checkin_labels import common_labels
from bench.datasets.checkins.checkin_stream import blocks, malformed_error
from bench.datasets.checkins.checkin_times import OFFSET, TIME
from bench.datasets.checkins.foursquare_venues import Venues
from bench.datasets.sequences.sequence_statistics import (
    OTHER,
    Entries,
    SequenceStatistics,
    Steps,
    from_entries,
)
from bench.datasets.source import DataError

DAY = 86_400
COLUMNS = {"user": pa.int32(), "venue": pa.binary(24), "time": pa.binary(), "offset": pa.int16()}
MOST_USERS = 1_000_000_000
TOGETHER = 64  # blocks, of which the ids of venues are held and looked up at once
PATTERNS = (r"\d{1,9}", r"[^\t]{24}", TIME, OFFSET)


class CheckIns(NamedTuple):
    """Columns of check-ins: user, venue's place in the table, offset in minutes, local seconds."""

    user: NDArray[np.int32]
    venue: NDArray[np.int32]
    offset: NDArray[np.int16]
    time: NDArray[np.int32]

    def take(self, rows: NDArray[np.integer | np.bool_]) -> CheckIns:
        """Return some of the rows."""
        return CheckIns(*(column[rows] for column in self))


def read_checkins(
    path: Path, venues: Venues, training_days: int, days: int, steps: Steps
) -> SequenceStatistics:
    """Read the check-ins, order each user's by local time, cut off the days and count."""
    rows = read_rows(path, venues)
    listed = rows.venue >= 0
    inside = listed & (venues.group[rows.venue] >= 0)
    if not inside.any():
        raise DataError(f"{path} has no check-in in a country of the city table.")
    n, known, local = listed.size, int(listed.sum()), int(inside.sum())
    rows = rows.take(inside)
    order, late = by_user(rows.user, rows.time)
    rows = rows.take(order)
    first = int(rows.time.min()) // DAY * DAY
    query, end = first + training_days * DAY, first + days * DAY
    again, due = repeats(rows), rows.time < end
    kept = rows.take(due & ~again)
    sequence = np.cumsum(np.append(False, kept.user[1:] != kept.user[:-1]), dtype=np.int32)
    entries = Entries(
        states=common_labels(),
        groups=venues.countries,
        sequence=sequence,
        state=venues.state[kept.venue],
        group=venues.group[kept.venue],
        training=kept.time < query,
    )
    told = {
        "check-ins read": n,
        "check-ins at unlisted venues dropped": n - known,
        "check-ins in countries without a city dropped": known - local,
        f"check-ins after day {days} dropped": local - due.sum(),
        "check-ins before an earlier one in local time, sorted": late,
        "identical check-ins dropped": (again & due).sum(),
        f"check-ins of unknown categories counted as {OTHER}": venues.unknown[kept.venue].sum(),
        "users with one check-in, which has no step": (np.bincount(sequence) == 1).sum(),
    }
    notes = (*venues.notes, *(f"{count} {what}" for what, count in told.items() if count))
    return dataclasses.replace(from_entries(entries, steps), notes=notes)


def read_rows(path: Path, venues: Venues) -> CheckIns:
    """Return the check-ins of a file in its order; the venue is -1 where it is not listed."""
    stream, parts = blocks(path, COLUMNS, PATTERNS, list(COLUMNS)), []
    while part := list(itertools.islice(stream, TOGETHER)):
        table = pa.Table.from_batches(part)
        user, offset, time = (table[name].to_numpy() for name in ("user", "offset", "local"))
        if not 0 <= user.min() <= user.max() < MOST_USERS:
            raise malformed_error(path, PATTERNS, f"users must be below {MOST_USERS}")
        parts.append((user, places(table["venue"], venues.ids), offset, time))
        del part, table
    pa.default_memory_pool().release_unused()  # a gigabyte of texts, before rows are ordered
    return CheckIns(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def places(asked: pa.ChunkedArray, ids: pa.Array) -> NDArray[np.int32]:
    """Return where each text stands among distinct ids, -1 where it does not."""
    sides = (
        pa.table({"id": texts, name: pa.array(np.arange(len(texts), dtype=np.int32))})
        for name, texts in (("row", asked), ("place", ids))
    )
    join = acero.HashJoinNodeOptions("inner", ["id"], ["id"], ["row"], ["place"])
    inputs = [acero.Declaration("table_source", acero.TableSourceNodeOptions(t)) for t in sides]
    found = acero.Declaration("hashjoin", join, inputs).to_table()
    place = np.full(len(asked), -1, dtype=np.int32)
    place[found["row"].to_numpy()] = found["place"].to_numpy()
    return place


def by_user(user: NDArray[np.int32], time: NDArray[np.int32]) -> tuple[NDArray[np.intp], int]:
    """Return the order by user, then time, then row; how many come after a later one of a user."""
    moment = user.astype(np.int64)
    moment <<= 32
    rows = moment | np.arange(user.size)
    rows.sort()  # whole numbers sort much faster than a stable order of users is found
    rows &= (1 << 32) - 1
    moment = (moment | time)[rows]
    late = int(np.count_nonzero(moment < np.maximum.accumulate(moment)))
    return rows[np.argsort(moment, kind="stable")], late


def repeats(rows: CheckIns) -> NDArray[np.bool_]:
    """Return which of check-ins in order of user and time equal an earlier one."""
    level = (rows.user[1:] == rows.user[:-1]) & (rows.time[1:] == rows.time[:-1])
    at_once = np.flatnonzero(np.append(level, False) | np.append(False, level))
    again = np.zeros(rows.user.size, dtype=bool)
    again[at_once] = pd.DataFrame(rows.take(at_once)._asdict()).duplicated()
    return again
