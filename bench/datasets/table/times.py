"""Times of a column: an order, or a clock where a calendar or windows of seconds are used."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from bench.datasets.source import DataError
from bench.datasets.table.numbers import number
from bench.datasets.table.place import Place
from mechanisms.check import IntArray, one_of

SECOND = 10**9  # nanoseconds
UNITS = {"s": SECOND, "ms": 10**6, "us": 10**3, "ns": 1}
WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
FROM, UNTIL = 631_152_000, 4_102_444_800  # 1990 and 2100, in seconds since 1970
AS_MOMENTS = "times with offsets read as moments"
NUMBER = f"^{number('.')}$"
WHOLE = r"^[+-]?[0-9]{1,18}$"
DATE = r"[0-9]{4}-[0-9]{2}(-[0-9]{2}([ T][0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?)?)?"
OFFSET = r" ?(Z|UTC|GMT|[+-][0-9]{2}(:?[0-9]{2})?)"
ZONE = r" ?\[[A-Za-z0-9_/+-]+\]"


def check_unit(unit: str | None) -> None:
    """Refuse what is no unit of times."""
    if unit is not None:
        one_of("unit", unit, tuple(UNITS))


def order_of(column: pa.ChunkedArray, where: Place) -> IntArray:
    """Return times as whole numbers that are in the same order: no digit is lost.

    Times are all numbers, of any size, or all ISO dates, which are compared as moments.

    Raises
    ------
    DataError
        With the first time that is neither.
    """
    if _all(column, WHOLE):
        return np.asarray(column.cast(pa.int64()), dtype=np.int64)
    if _all(column, NUMBER):
        coded = column.dictionary_encode().unify_dictionaries()
        sizes = [Decimal(text) for text in coded.chunk(0).dictionary.to_pylist()]
        # Equal numbers written in several ways are one time.
        rank = {size: i for i, size in enumerate(sorted(set(sizes)))}
        ranks = np.array([rank[size] for size in sizes], dtype=np.int64)
        return np.concatenate([ranks[c.indices.to_numpy()] for c in coded.chunks])
    dates, _ = _iso(column, where, local=False)
    # Dates beyond the range of nanoseconds keep the coarser unit in which they were read.
    return dates if isinstance(dates, np.ndarray) else dates.astype("int64").to_numpy()


def clock_of(
    column: pa.ChunkedArray, where: Place, *, unit: str | None = None, local: bool = False
) -> tuple[IntArray, str]:
    """Return times in nanoseconds since 1970, and how they were read.

    Parameters
    ----------
    column : chunked array of str
    where : Place
        File and column, for errors and notes.
    unit : {"s", "ms", "us", "ns"}, or None
        Of numbers, which then may count from any moment; None finds the one unit under which all
        of them lie in 1990 to 2100.
    local : bool
        Whether the clock on the wall is wanted: an offset behind it is cut. Otherwise times with
        offsets are moments.

    Raises
    ------
    DataError
        If the times are of no form or of several, or no unit or several fit.
    """
    if _all(column, NUMBER):
        if unit is None and _all(column, r"^[0-9]{14}$"):
            stamps = pd.to_datetime(column.to_pandas(), format="%Y%m%d%H%M%S", errors="coerce")
            if stamps.notna().all() and stamps.dt.year.between(1990, 2099).all():
                return _nanoseconds(stamps, where), f"{where.column}: read as 14-digit stamps"
        return _counted(column, where, unit)
    dates, told = _iso(column, where, local=local)
    return dates if isinstance(dates, np.ndarray) else _nanoseconds(dates, where), told


def _counted(column: pa.ChunkedArray, where: Place, unit: str | None) -> tuple[IntArray, str]:
    """Return numbers of a unit since 1970 as nanoseconds; digits are never rounded."""
    if unit is None:
        plain = np.asarray(pc.utf8_ltrim(column, "+").cast(pa.float64()), dtype=np.float64)
        low, high = float(plain.min()), float(plain.max())
        fitting = [
            name for name, size in UNITS.items()
            if low >= FROM * (SECOND // size) and high < UNTIL * (SECOND // size)
        ]  # fmt: skip
        if len(fitting) != 1:
            raise DataError(
                f"{where} holds times from {low:.15g} to {high:.15g}, which lie in 1990 to 2100 "
                f"in {'no unit' if not fitting else ' and in '.join(fitting)}: set unit= to one of "
                f"{', '.join(UNITS)}."
            )
        unit = fitting[0]
    size = UNITS[unit]
    text = column.to_pandas()
    try:
        if _all(column, WHOLE):
            whole = text.astype("int64").to_numpy()
            if np.abs(whole).max(initial=0) > (2**63 - 1) // size:
                raise OverflowError
            values = whole * size
        else:
            values = np.array([int(Decimal(t) * size) for t in text], dtype=np.int64)
    except OverflowError as error:
        raise DataError(f"{where} holds times too large for unit={unit}.") from error
    return values, f"{where.column}: numbers read as {WORDS[unit]}"


def _iso(
    column: pa.ChunkedArray, where: Place, *, local: bool
) -> tuple[IntArray | pd.Series[Any], str]:
    """Return ISO dates in nanoseconds since 1970, or as dates where they are no plain stamps."""
    try:
        plain = column.cast(pa.timestamp("ns"))
        return np.asarray(plain.cast(pa.int64()), dtype=np.int64), ""
    except pa.ArrowInvalid:
        pass
    form = f"^{DATE}({OFFSET})?({ZONE})?$"
    zoned = f"^{DATE}{OFFSET}({ZONE})?$"
    fits = pc.match_substring_regex(column, form)
    if not pc.all(fits).as_py():
        _refuse(column, fits, where)
    with_offset = pc.match_substring_regex(column, zoned)
    offsets = bool(pc.any(with_offset).as_py())
    told = ""
    if local:
        if offsets:
            told = f"{where.column}: the local clock counts, offsets behind it are cut"
        text = pc.replace_substring_regex(column, f"^({DATE}).*$", r"\1")
    else:
        if len(pc.unique(with_offset)) > 1:
            row = int(pc.index(with_offset, pa.scalar(not with_offset[0].as_py())).as_py())
            raise DataError(
                f"{where}: times must all have an offset or none, got {column[0].as_py()!r} and, "
                f"in data row {row + 1}, {column[row].as_py()!r}."
            )
        text = pc.replace_substring_regex(column, f"{ZONE}$", "")
        text = pc.replace_substring_regex(text, r" ?(UTC|GMT)$", "Z")
        if offsets:
            told = f"{where.column}: {AS_MOMENTS}"
    dates = pd.to_datetime(text.to_pandas(), errors="coerce", format="ISO8601", utc=True)
    if dates.isna().any():
        _refuse(column, pa.chunked_array([dates.notna().to_numpy()]), where)
    return dates, told


def _refuse(column: pa.ChunkedArray, fits: pa.ChunkedArray, where: Place) -> None:
    """Raise for the rarer of what does not fit: no ISO dates, or no numbers."""
    numbers = pc.match_substring_regex(column, NUMBER)
    wrong = min(fits, numbers, key=lambda good: len(good) - (pc.sum(good).as_py() or 0))
    row = int(pc.index(wrong, pa.scalar(False)).as_py())
    count = len(wrong) - (pc.sum(wrong).as_py() or 0)
    raise DataError(
        f"{where}: times must all be numbers or all ISO dates, got {column[row].as_py()!r} in data "
        f"row {row + 1} ({count} such rows)."
    )


def _all(column: pa.ChunkedArray, form: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, form)).as_py())


def _nanoseconds(dates: pd.Series[Any], where: Place) -> IntArray:
    try:
        return dates.dt.as_unit("ns").astype("int64").to_numpy()
    except pd.errors.OutOfBoundsDatetime as error:
        raise DataError(f"{where} holds dates outside 1678 to 2261: {error}.") from error
