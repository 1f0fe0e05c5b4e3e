"""Text columns of a file of rows and separators: CSV, TSV and the like."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.csv as pacsv

from bench.datasets.source import DataError
from bench.datasets.table.opening import open_unpacked
from bench.datasets.table.utf8_stream import BLOCK, BlankBeforeQuoteError, Utf8Stream

SHOWN = 80  # characters of a damaged row


@dataclass(kw_only=True)
class Delimited:
    """A file of rows and separators; one reading of it counts what it leaves out.

    Parameters
    ----------
    path : str
    content : bytes or None
        The file's bytes where they are at hand.
    separator, encoding : str
    names : tuple of str, or None
        Of the columns of a file without header.
    quoted : bool
        Whether a field may stand in double quotes.
    notes : list of str
        Blank lines left out, line breaks inside fields: complete when all blocks are read.
    """

    path: str
    content: bytes | None
    separator: str
    encoding: str
    names: tuple[str, ...] | None
    quoted: bool
    notes: list[str] = field(default_factory=list)
    _unblanked: bool = False

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of all columns."""
        with self._stream(watch=False) as stream:
            start = stream.start()
        found = self._first_row(start, skip=False)
        if len(found) > 1 and all(name.startswith(" ") for name in found[1:]):
            found = self._first_row(start, skip=True)
        if self.names is None:
            return tuple(found)
        if tuple(name.strip() for name in found) == self.names:
            raise DataError(f"{self.path} has a header of its own: leave names out.")
        return self.names

    def whole(self, places: Sequence[int]) -> list[pa.Table]:
        """Return all blocks of some columns; a blank before a quote is moved behind it."""
        try:
            return list(self._read(places))
        except BlankBeforeQuoteError:
            with self._stream(watch=False) as stream:
                text = b"".join(iter(stream.read, b"")).decode()
            self.content = move_blanks(text, self.separator).encode()
            self.encoding, self._unblanked = "utf-8", True
            return list(self._read(places))

    def batches(self, places: Sequence[int]) -> Iterator[pa.Table]:
        """Yield some columns block by block, for files that do not fit into memory."""
        try:
            yield from self._read(places)
        except BlankBeforeQuoteError:
            raise DataError(
                f"{self.path} has a blank between a separator and a quote: write it without."
            ) from None

    @contextmanager
    def _stream(self, *, watch: bool) -> Iterator[Utf8Stream]:
        # Once blanks are moved, the bytes at hand are what the archive held.
        with open_unpacked(self.path, self.content, packed=not self._unblanked) as source:
            yield Utf8Stream(source, self.path, self.separator, self.encoding, watch=watch)

    def _read(self, places: Sequence[int]) -> Iterator[pa.Table]:
        titles = 0 if self.names is not None else 1  # rows that are no data
        rows, skipped = 0, titles
        with self._stream(watch=self.quoted and not self._unblanked) as stream:
            for batch in self._parsed(stream, [f"f{place}" for place in places]):
                table = pa.Table.from_batches([batch.slice(skipped)])
                skipped = max(0, skipped - batch.num_rows)
                rows += table.num_rows
                yield table
        self._account(stream, rows + titles)

    def _first_row(self, start: str, *, skip: bool) -> list[str]:
        rows = csv.reader(
            io.StringIO(start, newline=""), delimiter=self.separator, skipinitialspace=skip,
            strict=True, quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
        )  # fmt: skip
        try:
            return next(row for row in rows if row)
        except csv.Error as error:
            raise DataError(f"{self.path} has no readable header: {error}.") from error
        except StopIteration:
            raise DataError(f"{self.path} is empty: no header, no rows.") from None

    def _parsed(self, stream: Utf8Stream, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        damaged: list[pacsv.InvalidRow] = []

        def note(row: pacsv.InvalidRow) -> str:
            damaged.append(row)
            return "error"

        try:
            # One thread: several do not say which row is damaged, and are no faster here.
            yield from pacsv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=pacsv.ReadOptions(
                    column_names=[f"f{i}" for i in range(len(self.header))],
                    use_threads=False, block_size=BLOCK,
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=self.separator, quote_char='"' if self.quoted else False,
                    newlines_in_values=self.quoted, invalid_row_handler=note,
                    ignore_empty_lines=len(self.header) > 1,
                ),
                convert_options=pacsv.ConvertOptions(
                    include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()),
                    strings_can_be_null=False, check_utf8=False,
                ),
            )  # fmt: skip
        except pa.ArrowInvalid as error:
            if damaged:
                raise self._ragged(damaged[0]) from error
            self._strict()
            raise DataError(f"{self.path} cannot be read: {str(error).splitlines()[0]}.") from error

    def _ragged(self, row: pacsv.InvalidRow) -> DataError:
        number = row.number - (self.names is None)
        width, got = row.expected_columns, row.actual_columns
        text = row.text.rstrip("\r\n")
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
        what = (
            f"nothing for column {self.header[got]!r}"
            if got < width
            else f"field {width + 1} has no column"
        )
        return DataError(
            f"{self.path}: data row {number} has {got} fields, the header has {width}: {what} "
            f"in {shown!r}."
        )

    def _account(self, stream: Utf8Stream, rows: int) -> None:
        """Tell blank lines and line breaks inside fields; refuse quotes that do not close."""
        blank = stream.lines + stream.unfinished - rows
        if self.quoted and stream.quotes and (blank or stream.quotes % 2):
            blank, broken = self._strict()
            if broken:
                self.notes.append(f"{broken} rows with a line break inside a field")
        if blank:
            self.notes.append(f"{blank} blank lines left out")

    def _strict(self) -> tuple[int, int]:
        """Read the file as the standard of CSV says; count blank lines and broken fields."""
        blank = broken = 0
        with self._stream(watch=False) as stream:
            lines = io.TextIOWrapper(io.BufferedReader(_Raw(stream)), "utf-8", newline="")
            rows = csv.reader(lines, delimiter=self.separator, strict=True)
            try:
                for row in rows:
                    blank += not row
                    broken += any("\n" in text or "\r" in text for text in row)
            except csv.Error as error:
                raise DataError(
                    f"{self.path}: a quote opens before line {rows.line_num} and does not close "
                    f"at the end of its field ({error})."
                ) from error
        return blank, broken


class _Raw(io.RawIOBase):
    """The stream as the standard library wants it."""

    def __init__(self, stream: Utf8Stream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)


def move_blanks(text: str, separator: str) -> str:
    """Move a blank between a separator and a quote behind the quote, where it is text.

    Examples
    --------
    >>> move_blanks('a, "b, c", d', ",")
    'a," b, c", d'
    """
    after, field = rf"(?<=[{re.escape(separator)}])", r'"(?:[^"]|"")*"'
    # A quoted field is passed over as a whole, so that what looks like one inside it stays.
    return re.sub(
        rf"(?:{after}|(?<=[\n\r])|\A)(?P<kept>{field})|{after} (?P<moved>{field})",
        lambda found: found["kept"] or f'" {found["moved"][1:]}',
        text,
    )
