"""Tab-separated check-in files of any size, read block by block in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as ds

from bench.datasets.checkins.checkin_times import first_second, local_seconds
from bench.datasets.read_progress import progress_over
from bench.datasets.source import DataError

BLOCK = 8 << 20


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
        A ``time`` with its ``offset`` is replaced by ``local``, seconds since 1970 in local time.

    Raises
    ------
    DataError
        If the file is missing, not in a byte encoding of ASCII, or has malformed rows: their
        number, and the first of them.
    """
    check_encoding(path)
    try:
        text = ds.CsvFileFormat(
            read_options=pacsv.ReadOptions(column_names=list(columns), block_size=BLOCK),
            parse_options=pacsv.ParseOptions(
                delimiter="\t", quote_char=False, ignore_empty_lines=False
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict(columns), check_utf8=False, null_values=[],
                strings_can_be_null=False,
            ),
        )  # fmt: skip
        source = ds.dataset(path, schema=pa.schema(columns), format=text)
        with progress_over(path) as advance:
            for batch in source.to_batches(columns=list(wanted)):
                advance(batch.num_rows)
                if "time" in wanted:
                    local = local_seconds(batch.column("time"), batch.column("offset"))
                    batch = batch.drop_columns(["time"]).append_column("local", pa.array(local))
                yield batch
    except (pa.ArrowKeyError, ValueError) as error:
        raise malformed_error(path, patterns, str(error)) from error


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


def malformed_error(path: Path, patterns: Sequence[str], reason: str) -> DataError:
    """Return the error that counts a file's malformed rows and shows the first."""
    whole = re.compile("\t".join(patterns).encode() + rb"\r?\n?")
    bad, first = 0, ""
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            found = whole.fullmatch(line)
            if found is None or _off_calendar(found.groupdict()):
                bad += 1
                if bad == 1:
                    shown = decode(line.rstrip(b"\r\n")[:120])
                    fields = line.count(b"\t") + 1
                    first = f"line {number} ({fields} of {len(patterns)} fields): {shown!r}"
    if not bad:
        return DataError(f"{path} cannot be read: {reason.splitlines()[0]}.")
    return DataError(f"{path} has {bad} malformed rows, the first is {first}.")


def _off_calendar(parts: Mapping[str, bytes]) -> bool:
    return "date" in parts and first_second(parts["date"] + parts["year"]) is None


def decode(text: bytes) -> str:
    """Return text in UTF-8, or else in latin-1."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
