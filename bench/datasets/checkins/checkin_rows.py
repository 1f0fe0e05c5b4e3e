"""Rows ``user, venue, UTC time, offset`` read as fixed-width words, many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BLOCK = 4 << 20
LONGEST = 4096  # bytes of a line
PAD = 8  # spare bytes before the first line of a block
TAB = ord("\t")
ONE = np.uint64(1)
ID, STAMP = 24, 30
WIDEST_USER = 7  # digits
FARTHEST = 1440  # minutes of an offset
MOST_USERS = 1_000_000_000
USER, OFFSET = r"\d{1,9}", r"-?0*(?:\d{1,3}|1[0-3]\d\d|14[0-3]\d|1440)"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TIME = (
    rf"[A-Z][a-z]{{2}} (?:{'|'.join(MONTHS)}) (?:0[1-9]|[12]\d|3[01]) "
    r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60) \+0000 20(?:[0-2]\d|3[0-7])"
)
FIRST_SECONDS = (
    np.arange("2000-01", "2038-02", dtype="datetime64[M]").astype("datetime64[s]").astype(np.int32)
)
BAD = -(1 << 30)


def every_byte(value: int) -> np.uint64:
    """Return the word of eight equal bytes."""
    return np.uint64(value * 0x0101010101010101)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Check-ins as columns.

    Parameters
    ----------
    user : array of int32, shape (n,)
    venue : array of uint64, shape (n, 3)
        The 24 characters of the id.
    time : array of int32, shape (n,)
        Seconds since 1970, UTC.
    offset : array of int32, shape (n,)
        Minutes to add for local time.
    """

    user: NDArray[np.int32]
    venue: NDArray[np.uint64]
    time: NDArray[np.int32]
    offset: NDArray[np.int32]


def line_blocks(path: Path, first: int, last: int) -> Iterator[NDArray[np.uint8]]:
    """Yield the lines that start at bytes `first` to `last` - 1, each block behind `PAD` bytes.

    A block is overwritten by the next one.

    Raises
    ------
    ValueError
        If a line is longer than `LONGEST` where a block ends.
    """
    buffer = np.empty(PAD + 1 + BLOCK + LONGEST, dtype=np.uint8)
    with path.open("rb") as file:
        for begin in range(first, last, BLOCK):
            # From the byte before the range on: a line starts behind each line end.
            before = min(begin, 1)
            file.seek(begin - before)
            text = buffer[PAD : PAD + file.readinto(buffer.data[PAD:])]
            size = min(BLOCK, last - begin) + before
            start = _after(text, 0) if before else 0
            stop = _after(text, size - 1)
            if start < size:
                yield buffer[start : PAD + stop]


def _after(text: NDArray[np.uint8], place: int) -> int:
    """Return where the first line starts behind a place; the size of the text if none does."""
    ends = np.flatnonzero(text[place : place + LONGEST] == ord("\n"))
    if ends.size:
        return place + int(ends[0]) + 1
    if text.size - place >= LONGEST:
        raise ValueError(f"a line of more than {LONGEST} bytes")
    return text.size


def rows_of(block: NDArray[np.uint8]) -> Rows | None:
    """Read the lines of a block; None unless every line has exactly the original's form.

    That form is: up to seven digits, 24 digits or small letters, a time like ``Tue Apr 03 18:00:06
    +0000 2012`` and an offset of up to a day, between tabs.
    """
    text = block[PAD:]
    end = _line_ends(text)
    if end is None:
        return None
    start = np.concatenate([[0], end[:-1] + 1])
    tail = _windows(block, end, 8)[:, 0]  # the line's last eight bytes
    tab = _tabs(tail)
    if not tab.all() or (tab & (tab - ONE)).any():
        return None
    offset_width = 7 - _lowest_byte(tab)
    third = end - 1 - offset_width
    user_width = third - (ID + STAMP + 2) - start
    if not 1 <= user_width.min() <= user_width.max() <= WIDEST_USER:
        return None
    # 64 bytes from before the first tab: user (7, to the right), tab, venue, tab, time, tab.
    words = _windows(block, third + PAD - 63, 64)
    lower = words[:, 1] & words[:, 2] & words[:, 3] & every_byte(0x20)
    if ((words[:, 0] >> np.uint64(56)) != TAB).any() or (lower != every_byte(0x20)).any():
        return None
    user = _number(words[:, 0] << np.uint64(8), user_width)
    time = _seconds(words[:, 4:].view(np.int64))
    negative = text[third + 1] == ord("-")
    offset = _number(tail, offset_width - negative)
    if user is None or time is None or offset is None or offset.max() > FARTHEST:
        return None
    return Rows(
        user=user, venue=words[:, 1:4], time=time, offset=np.where(negative, -offset, offset)
    )


def _line_ends(text: NDArray[np.uint8]) -> NDArray[np.intp] | None:
    """Return the places of the line ends; None if a line is shorter than eight bytes."""
    ends = text == ord("\n")
    if not ends[-1]:
        return None
    whole = text.size // 8 * 8
    words = ends[:whole].view("<u8")
    at = np.flatnonzero(words != 0)
    bit = words[at]
    if (bit & (bit - ONE)).any() or np.count_nonzero(ends[whole:]) != (whole < text.size):
        return None
    places = 8 * at + _lowest_byte(bit)
    return places if whole == text.size else np.append(places, text.size - 1)


def _lowest_byte(bit: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the byte, 0 to 7, of words with one bit."""
    return (np.bitwise_count(bit - ONE) >> 3).astype(np.intp)


def _tabs(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words whose highest bits of bytes mark the tabs."""
    other, low = words ^ every_byte(TAB), every_byte(0x7F)
    return ~(((other & low) + low) | other | low)


def _windows(block: NDArray[np.uint8], at: NDArray[np.intp], width: int) -> NDArray[np.uint64]:
    """Return the `width` bytes from each place on, as little-endian words."""
    every = np.ndarray(
        shape=(block.size - width + 1,), dtype=f"V{width}", buffer=block, strides=(1,)
    )
    return every[at].view("<u8").reshape(at.size, -1)


def _number(words: NDArray[np.uint64], width: NDArray[np.intp]) -> NDArray[np.int32] | None:
    """Return the value of the last `width` of eight digits; None if one is no digit."""
    if width.min() < 1:
        return None
    spare = (64 - 8 * width).view(np.uint64)
    digits = (words ^ every_byte(0x30)) >> spare << spare
    above = (digits + every_byte(0x76)) | digits  # bit 7 is set in bytes above 9
    if (above & every_byte(0x80)).any():
        return None
    # Neighbours are joined: units with tens, then pairs, then fours of digits.
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return (fours * np.uint64(10_000) + (fours >> np.uint64(32))).astype(np.uint32).view(np.int32)


def seconds(stamps: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return times like ``Tue Apr 03 18:00:06 +0000 2012``, shape (n, 30), in seconds since 1970.

    Raises
    ------
    ValueError
        If one is not of this form.

    Examples
    --------
    >>> stamp = np.frombuffer(b"Tue Apr 03 18:00:06 +0000 2012", dtype=np.uint8)
    >>> seconds(stamp[None]).tolist()
    [1333476006]
    """
    padded = np.zeros((len(stamps), 32), dtype=np.uint8)
    padded[:, 0], padded[:, 1:31] = TAB, stamps
    found = _seconds(padded.view("<i8"))
    if found is None:
        wrong = next(s for s, row in zip(stamps, padded, strict=True)
                     if _seconds(row.view("<i8")[None]) is None)  # fmt: skip
        raise ValueError(f"a time like {wrong.tobytes()!r}")
    return found


def _seconds(words: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Return the times in bytes 1 to 30 of four words, shape (n, 4); None if one is malformed."""
    a, b, c, d = (np.ascontiguousarray(column) for column in words.T)
    if any(
        ((word & mask) != fixed).any()
        for word, (mask, fixed) in zip((a, b, c, d), FIXED, strict=True)
    ):
        return None
    month = MONTH_OF[a >> 48 & 0xFFFF]
    if (INITIAL_OF[month] != (a >> 40 & 0xFF)).any():  # that of an unknown month is none
        return None
    month += YEAR_OF[d >> 40 & 0xFFFF]
    inside = [
        DAY_OF[b >> 8 & 0xFFFF],
        HOUR_OF[b >> 32 & 0xFFFF],
        MINUTE_OF[(b >> 56 & 0xFF) | (c & 0xFF) << 8],
        SECOND_OF[c >> 16 & 0xFFFF],
    ]
    if min(part.min() for part in (month, *inside)) < 0 or month.max() >= FIRST_SECONDS.size - 1:
        return None
    day = FIRST_SECONDS[month] + inside[0]
    if (day >= FIRST_SECONDS[month + 1]).any():
        return None
    return day + inside[1] + inside[2] + inside[3]


def _pairs(low: int, high: int, unit: int) -> NDArray[np.int32]:
    """Return ``unit * (value - low)`` of two digits, by their two bytes; BAD outside."""
    table = np.full(1 << 16, BAD, dtype=np.int32)
    for value in range(low, high + 1):
        table[int.from_bytes(f"{value:02}".encode(), "little")] = unit * (value - low)
    return table


def _month_table() -> NDArray[np.int32]:
    """Return the month (from 0) of its second and third letter; the last of 13 outside."""
    table = np.full(1 << 16, len(MONTHS), dtype=np.int32)
    for number, name in enumerate(MONTHS):
        table[int.from_bytes(name[1:].encode(), "little")] = number
    return table


def _fixed(text: bytes) -> tuple[tuple[int, int], ...]:
    """Return mask and value of each word of a template: # is free, A and a are any letters."""
    masks = {"#": 0, "A": 0xE0, "a": 0xE0}
    mask = np.array([masks.get(chr(byte), 0xFF) for byte in text], dtype=np.uint8)
    values = np.frombuffer(text, dtype=np.uint8) & mask
    return tuple(zip(mask.view("<i8").tolist(), values.view("<i8").tolist(), strict=True))


FIXED = _fixed(b"\tAaa Aaa ## ##:##:## +0000 20###")
INITIAL_OF = np.frombuffer("".join(name[0] for name in MONTHS).encode() + b"?", dtype=np.uint8)
MONTH_OF = _month_table()
DAY_OF = _pairs(1, 31, 86_400)
HOUR_OF, MINUTE_OF, SECOND_OF = _pairs(0, 23, 3600), _pairs(0, 59, 60), _pairs(0, 60, 1)
YEAR_OF = _pairs(0, 99, 12)  # first month
