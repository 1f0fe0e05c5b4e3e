"""Times like ``Tue Apr 03 18:00:06 +0000 2012`` and the minutes from them to local time."""

from __future__ import annotations

import functools
import itertools
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

FARTHEST = 1440  # minutes of an offset
OFFSET = r"-?0*(?:\d{1,3}|1[0-3]\d\d|14[0-3]\d|1440)"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
CLOCK = slice(11, 19)
CLOCK_PATTERN = r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)"
DATE_PATTERN = (
    rf"(?P<date>[A-Z][a-z]{{2}} (?P<month>{'|'.join(MONTHS)}) (?P<day>0[1-9]|[12]\d|3[01]) )%s"
    r"(?P<year> \+0000 20(?:[0-2]\d|3[0-7]))"
)
TIME = DATE_PATTERN % CLOCK_PATTERN
DATE = re.compile((DATE_PATTERN % "").encode())


def local_seconds(time: pa.Array, offset: pa.Array) -> NDArray[np.int32]:
    """Return local times in seconds since 1970.

    Each distinct date is read once, and clocks are looked up: strict, and several times faster than
    a general parser of times, which also takes 30 February for 1 March.

    Parameters
    ----------
    time : Array of binary
        UTC, years 2000 to 2037; a leap second is the one after it.
    offset : Array of integers
        Minutes to add, at most a day.

    Raises
    ------
    ValueError
        If a time is not of this form, or an offset is out of range.

    Examples
    --------
    >>> time = pa.array([b"Tue Apr 03 18:00:06 +0000 2012"])
    >>> local_seconds(time, pa.array([-1])).tolist()
    [1333475946]
    """
    minutes = offset.to_numpy().astype(np.int32)
    if minutes.size and max(-int(minutes.min()), int(minutes.max())) > FARTHEST:
        raise ValueError(f"an offset of more than {FARTHEST} minutes")
    clock = pc.index_in(pc.binary_slice(time, CLOCK.start, CLOCK.stop), value_set=clocks())
    date = pc.binary_replace_slice(time, CLOCK.start, CLOCK.stop, b"").dictionary_encode()
    first = [first_second(text) for text in date.dictionary.to_pylist()]
    if clock.null_count or None in first:
        raise ValueError("a time of another form, or a day that is not in the calendar")
    minute, second = np.divmod(clock.to_numpy(), 61)
    return (
        np.array(first, dtype=np.int32)[date.indices.to_numpy()] + 60 * (minute + minutes) + second
    )


@functools.cache
def clocks() -> pa.Array:
    """Return every ``18:00:06``, 61 seconds a minute."""
    parts = itertools.product(range(24), range(60), range(61))
    return pa.array([b"%02d:%02d:%02d" % clock for clock in parts])


@functools.lru_cache(maxsize=1 << 16)
def first_second(date: bytes) -> int | None:
    """Return when a date like ``Tue Apr 03  +0000 2012`` begins; None if there is none."""
    found = DATE.fullmatch(date)
    if found is None:
        return None
    month = MONTHS.index(found["month"].decode()) + 1
    try:
        day = np.datetime64(f"{found['year'][-4:].decode()}-{month:02}-{found['day'].decode()}")
    except ValueError:
        return None
    return 86_400 * int(day.astype(np.int64))
