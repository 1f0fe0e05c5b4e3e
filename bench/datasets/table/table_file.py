"""A table of a user: one reader for every file, with the same options and the same errors."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import pyarrow as pa

from bench.datasets.source import DataError
from bench.datasets.table.chosen import places_of, refuse_missing, strip_blanks
from bench.datasets.table.delimited import Delimited
from bench.datasets.table.label_option import label_text
from bench.datasets.table.opening import is_parquet
from bench.datasets.table.parquet_text import ParquetText
from bench.datasets.table.text_table import TextTable
from bench.datasets.table.utf8_stream import MIXED

EMBEDDED = "embedded:"
MISSING = ("", "?")
TABBED = (".tsv", ".tab", ".tsv.gz", ".tsv.zip")
OF_TEXT = {"separator": None, "encoding": "utf-8", "decimal": ".", "names": None}


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """The columns of a CSV, TSV (plain, gzip or zip) or Parquet file, read as text.

    No value depends on what stands elsewhere in the file, but for three readings of a whole
    column, which are told: how true and false are written, the blank after every separator, and
    the unit of times.

    Parameters
    ----------
    path : str
        Of the file; ``embedded:NAME`` is a table of this package.
    separator : str or None
        One character, or ``tab``; None is a tab where the name ends in ``.tsv``, else a comma.
    encoding : str
        Of the text; ``utf-8+latin-1`` is UTF-8 with stray bytes of latin-1.
    decimal : {".", ","}
        The sign before the decimals of a number.
    names : sequence of str, or None
        Of all columns, where the file has no header.
    missing : sequence of str
        What stands for a missing value; nothing else does, so that a country "NA" or a label
        "None" survives. A missing value in a column that is used is refused.
    """

    path: str | None
    separator: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    names: Sequence[str] | None = None
    missing: Sequence[str] = MISSING

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise DataError(f"path must name a CSV, TSV or parquet file, got path={self.path!r}.")
        separator = self.separated_by
        if len(separator) != 1 or not separator.isascii() or separator in "\"'\r\n":
            raise ValueError(
                f"separator must be one character or tab, got separator={self.separator!r}."
            )
        if not _known(self.encoding):
            raise DataError(f"encoding must be one that Python knows, got {self.encoding!r}.")
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got decimal={self.decimal!r}.")
        for option, given in (("names", self.names), ("missing", self.missing)):
            listed = isinstance(given, Sequence) and not isinstance(given, str)
            if not (listed or (option == "names" and given is None)):
                raise ValueError(f"{option} must be a list, got {option}={given!r}.")
            for text in given or ():
                label_text(option, text)

    @property
    def separated_by(self) -> str:
        """The character between two fields."""
        if self.separator is None:
            return "\t" if str(self.path).lower().endswith(TABBED) else ","
        return {"tab": "\t", "\\t": "\t"}.get(self.separator, str(self.separator))

    @cached_property
    def digest(self) -> str:
        """The sha256 of the file."""
        content = self._embedded
        if content is not None:
            return hashlib.sha256(content).hexdigest()
        try:
            with Path(str(self.path)).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            raise DataError(f"no file {self.path}.") from None
        except OSError as error:
            raise DataError(f"cannot read {self.path}: {error.strerror}.") from error

    def read(
        self, *columns: object, content: bytes | None = None, quoted: bool = True
    ) -> TextTable:
        """Return some columns; refuse a file without rows, and a missing value in any of them.

        Parameters
        ----------
        columns : str, int or bool
            Names; one may be given several times.
        content : bytes or None
            The file's bytes where they are at hand.
        quoted : bool
            Whether a field may stand in double quotes.

        Raises
        ------
        DataError
            With the file, and the row and column where there is one.
        """
        source = self._source(content, quoted=quoted)
        places = places_of(str(self.path), source.header, columns)
        parts = source.whole(places)
        table = pa.concat_tables(parts) if parts else None
        if table is None or not table.num_rows:
            raise DataError(f"{self.path} has no rows.")
        names = [source.header[place] for place in places]
        found, without = strip_blanks(dict(zip(names, table.columns, strict=True)), places)
        refuse_missing(str(self.path), found, self.missing)
        notes = [f"{Path(str(self.path)).name}: {table.num_rows} rows", *source.notes]
        if without:
            notes.append(f"a blank after every separator is left out of {', '.join(without)}")
        decimal = "." if isinstance(source, ParquetText) else self.decimal
        return TextTable(path=str(self.path), columns=found, decimal=decimal, notes=tuple(notes))

    def batches(self, *columns: object) -> Iterator[TextTable]:
        """Yield some columns block by block, missing values included; for files of any size."""
        source = self._source(None, quoted=True)
        places = places_of(str(self.path), source.header, columns)
        names = [source.header[place] for place in places]
        for part in source.batches(places):
            if part.num_rows:
                found = dict(zip(names, part.columns, strict=True))
                yield TextTable(path=str(self.path), columns=found, decimal=self.decimal)

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self._source(None, quoted=True).header

    @property
    def _embedded(self) -> bytes | None:
        path = str(self.path)
        if not path.startswith(EMBEDDED):
            return None
        file = resources.files("bench.datasets") / "data" / path.removeprefix(EMBEDDED)
        if not file.is_file():
            raise DataError(f"no table {path} in this package.")
        return file.read_bytes()

    def _source(self, content: bytes | None, *, quoted: bool) -> Delimited | ParquetText:
        path = str(self.path)
        content = self._embedded if content is None else content
        if not is_parquet(path, content):
            names = None
            if self.names is not None:
                names = tuple(label_text("names", name) for name in self.names)
            return Delimited(
                path=path, content=content, separator=self.separated_by, encoding=self.encoding,
                names=names, quoted=quoted,
            )  # fmt: skip
        for option, default in OF_TEXT.items():
            if getattr(self, option) != default:
                raise DataError(f"{path} is Parquet: {option} is of text, leave it out.")
        return ParquetText(path=path, content=content)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Some columns of a file, read once.

    Parameters
    ----------
    file : TableFile
    wanted : tuple of str
    """

    file: TableFile
    wanted: tuple[str, ...]

    @cached_property
    def records(self) -> TextTable:
        """The columns' rows."""
        return self.file.read(*self.wanted)

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return self.file.digest


def _known(encoding: object) -> bool:
    try:
        return encoding == MIXED or codecs.lookup(str(encoding))._is_text_encoding
    except LookupError:
        return False
