"""Tab-separated check-in files of any size, read block by block in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from bench.datasets.reading import progress_over
from bench.datasets.source import DataError

BLOCK = 8 << 20
TIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2} \+0000 \d{4}"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TEXT_TIME = pa.binary(30)
BAD_MONTH = 255
DIGITS = (8, 9, 11, 12, 14, 15, 17, 18, 26, 27, 28, 29)  # places of digits in a stamp


def blocks(
    path: Path, columns: Mapping[str, pa.DataType], patterns: Sequence[str], wanted: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the wanted columns of a file without header, a block at a time.

    Parameters
    ----------
    path : Path
        Also compressed (``.gz``).
    columns : mapping of name to type
        All columns in order; text is left as bytes.
    patterns : sequence of str
        One regular expression a column, to tell malformed rows when reading fails.
    wanted : sequence of str

    Raises
    ------
    DataError
        If the file is missing, not in a byte encoding of ASCII, or has malformed rows: their
        number, and the first of them.
    """
    check_encoding(path)
    try:
        with progress_over(path) as advance:
            reader = pacsv.open_csv(
                path,
                read_options=pacsv.ReadOptions(column_names=list(columns), block_size=BLOCK),
                parse_options=pacsv.ParseOptions(
                    delimiter="\t", quote_char=False, ignore_empty_lines=False
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=dict(columns), include_columns=list(wanted), check_utf8=False,
                    null_values=[], strings_can_be_null=False,
                ),
            )  # fmt: skip
            for batch in reader:
                advance(batch.num_rows)
                yield batch
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise malformed(path, patterns, str(error)) from error


def check_encoding(path: Path) -> None:
    """Refuse a missing or empty file and one in an encoding of two bytes a character."""
    if not path.is_file():
        raise DataError(f"no file {path}: give its folder.")
    try:
        with _opened(path) as file:
            start = file.read(4096)
    except (OSError, EOFError) as error:
        raise DataError(f"cannot read {path}: {error}.") from error
    if not start:
        raise DataError(f"{path} is empty.")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start:
        raise DataError(f"{path} must be UTF-8 or latin-1, got UTF-16 or a binary file.")


def _opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def malformed(path: Path, patterns: Sequence[str], reason: str) -> DataError:
    """Return the error that counts a file's malformed rows and shows the first."""
    whole = re.compile("\t".join(patterns).encode() + rb"\r?\n?")
    bad, first = 0, ""
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            if whole.fullmatch(line) is None:
                bad += 1
                if bad == 1:
                    shown = decoded(line.rstrip(b"\r\n")[:120])
                    fields = line.count(b"\t") + 1
                    first = f"line {number} ({fields} of {len(patterns)} fields): {shown!r}"
    if not bad:
        return DataError(f"{path} cannot be read: {reason.splitlines()[0]}.")
    return DataError(f"{path} has {bad} malformed rows, the first is {first}.")


def decoded(text: bytes) -> str:
    """Return text in UTF-8, or else in latin-1."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def fixed(column: pa.Array, width: int) -> NDArray[np.uint8]:
    """Return a column of texts of one width as bytes, shape (n, width)."""
    buffer = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    start = column.offset * width
    return buffer[start : start + len(column) * width].reshape(-1, width)


def seconds(stamps: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return ``Tue Apr 03 18:00:06 +0000 2012`` as seconds since 1970.

    Raises
    ------
    ArrowInvalid
        If a stamp is not of this form.

    Examples
    --------
    >>> stamp = np.frombuffer(b"Tue Apr 03 18:00:06 +0000 2012", dtype=np.uint8)
    >>> seconds(stamp[None]).tolist()
    [1333476006]
    """
    digits = {place: stamps[:, place] - np.uint8(48) for place in DIGITS}
    month = MONTH_OF[stamps[:, 5].astype(np.uint16) << 8 | stamps[:, 6]]
    wrong = month == BAD_MONTH
    for digit in digits.values():
        wrong |= digit > 9
    if wrong.any():
        raise pa.ArrowInvalid(f"a time like {stamps[wrong.argmax()].tobytes()!r}")
    year, day, hour, minute, second = (
        _number(digits, places)
        for places in ((26, 27, 28, 29), (8, 9), (11, 12), (14, 15), (17, 18))
    )
    days = FIRST_DAYS[np.clip(year - 1970, 0, len(FIRST_DAYS) // 12 - 1) * 12 + month] + day - 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def _number(digits: Mapping[int, NDArray[np.uint8]], places: Sequence[int]) -> NDArray[np.int32]:
    total = digits[places[0]].astype(np.int32)
    for place in places[1:]:
        total = total * np.int32(10) + digits[place]
    return total


def _month_table() -> NDArray[np.uint8]:
    """Return the month (from 0) of its second and third letter."""
    table = np.full(1 << 16, BAD_MONTH, dtype=np.uint8)
    for number, name in enumerate(MONTHS):
        table[ord(name[1]) << 8 | ord(name[2])] = number
    return table


MONTH_OF = _month_table()
FIRST_DAYS = (
    np.arange("1970-01", "2038-01", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int32)
)


def by_user(user: NDArray[np.integer], time: NDArray[np.integer]) -> tuple[NDArray[np.int32], int]:
    """Return the order by user, then time, then row, and how many rows were late in the file.

    Parameters
    ----------
    user : array of int
        Codes 0, 1, ...
    time : array of int
    """
    n = user.size
    # A counting sort: rows of a sparse matrix keep the order of their columns.
    rows = csr_matrix((np.ones(n, dtype=np.bool_), (user, np.arange(n, dtype=np.int32))))
    order = rows.indices
    first = rows.indptr[:-1]
    late = np.zeros(n, dtype=bool)
    ordered = time[order]
    late[1:] = ordered[1:] < ordered[:-1]
    late[first[first < n]] = False
    if not late.any():
        return order, 0
    again = np.isin(user[order], user[order[late]])
    part = order[again]
    order[again] = part[np.lexsort((part, time[part], user[part]))]
    return order, int(late.sum())
