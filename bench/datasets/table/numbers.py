"""Numbers of a column, in the sign convention that was stated."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.datasets.source import DataError
from bench.datasets.table.place import Place
from mechanisms.check import FloatArray

LARGEST = 1e150  # squares of larger numbers are infinite
OTHER_SIGN = {".": ",", ",": "."}


def number(decimal: str) -> str:
    """Return the form of a number; ``decimal`` is the sign before its decimals."""
    sign = re.escape(decimal)
    return rf"[+-]?([0-9]+({sign}[0-9]*)?|{sign}[0-9]+)([eE][+-]?[0-9]+)?"


def numbers_of(column: pa.ChunkedArray, decimal: str, where: Place) -> FloatArray:
    """Return a column of texts as numbers, blanks around them left out.

    Raises
    ------
    DataError
        With the first text that is no number, its row, and the sign convention it seems to be in.
    """
    text = pc.utf8_trim(column, " ")
    fits = pc.match_substring_regex(text, f"^{number(decimal)}$")
    plain = text if decimal == "." else pc.replace_substring(text, decimal, ".")
    bad = _first(fits)
    if bad is None:
        values = np.asarray(pc.utf8_ltrim(plain, "+").cast(pa.float64()), dtype=np.float64)
        large = ~(np.abs(values) <= LARGEST)
        if not large.any():
            return values
        bad, count = int(large.argmax()), int(large.sum())
    else:
        count = len(fits) - int(pc.sum(fits).as_py() or 0)
    got = column[bad].as_py()
    raise DataError(
        f"{where} must hold finite numbers within +-{LARGEST:g}, got {got!r} in data row "
        f"{bad + 1} ({count} such rows){_hint(got.strip(), decimal)}."
    )


def _first(fits: pa.ChunkedArray) -> int | None:
    place = pc.index(fits, pa.scalar(False)).as_py()
    return None if place < 0 else int(place)


def _hint(got: str, decimal: str) -> str:
    other = OTHER_SIGN[decimal]
    if other in got and re.fullmatch(number(other), got):
        return f"; if {other!r} is the decimal sign, set decimal={other!r}"
    if re.fullmatch(r"[+-]?[0-9]{1,3}([,. '_\u00a0\u202f][0-9]{3})+([.,][0-9]*)?", got):
        return "; write numbers without marks between thousands"
    if re.fullmatch(r"[\u2212\u2013(][0-9].*|[0-9.,]+-", got):
        return "; write what is below 0 with a leading '-'"
    return ""
