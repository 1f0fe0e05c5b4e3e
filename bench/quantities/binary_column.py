"""One binary column: who has a value and who has not, in Adult or in a table of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.adult import Adult
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import MISSING, Columns, TableFile
from bench.scenarios.statistics import Count
from mechanisms.check import IntArray, whole


class Bits(Protocol):
    """A binary column whose share of ones is public."""

    synthetic: ClassVar[bool]

    @property
    def bits(self) -> IntArray:
        """The column, shape (rows,)."""

    @property
    def share(self) -> float:
        """Share of ones, in (0, 1)."""

    @property
    def digest(self) -> str:
        """Identity of the data."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while the column was read."""


@dataclass(frozen=True, kw_only=True)
class BalancedColumn:
    """An invented column of which half of the rows have the value.

    Parameters
    ----------
    rows : even int of at least 2
    """

    synthetic: ClassVar[bool] = True
    notes: ClassVar[tuple[str, ...]] = ()
    share: ClassVar[float] = 0.5
    rows: int

    def __post_init__(self) -> None:
        if whole("rows", self.rows, low=2) % 2:
            raise ValueError(f"rows must be even, got rows={self.rows}.")

    @property
    def digest(self) -> str:
        """Identity of the column."""
        return f"{self.rows} rows, half of them ones"

    @property
    def bits(self) -> IntArray:
        """Zeros and ones in turn."""
        return np.arange(self.rows) % 2


@dataclass(frozen=True, kw_only=True)
class BinaryColumn:
    """Whether each row has a value in a column.

    Parameters
    ----------
    path : str or None
        A CSV, TSV or parquet file; None is the embedded UCI Adult.
    column : str
    value : str, int or bool
        The value that is counted, as the file writes it.
    separator, encoding, names, missing
        As in `bench.datasets.table.table_file.TableFile`.
    """

    synthetic: ClassVar[bool] = False
    path: str | None = None
    column: str = "income"
    value: object = ">50K"
    separator: str | None = None
    encoding: str = "utf-8"
    names: Sequence[str] | None = None
    missing: Sequence[str] = MISSING

    @cached_property
    def _data(self) -> Adult | Columns:
        if self.path is None:
            return Adult()
        file = TableFile(
            path=self.path, separator=self.separator, encoding=self.encoding, names=self.names,
            missing=self.missing,
        )  # fmt: skip
        return Columns(file=file, wanted=(label_text("column", self.column),))

    @property
    def _count(self) -> Count:
        return Count(column=label_text("column", self.column), value=self.value)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while the column was read."""
        records = self._data.records
        return (*records.notes, *self._count.notes(records))

    @property
    def digest(self) -> str:
        """The sha256 of the file; a column that does not fit is refused before anything runs."""
        self.bits  # noqa: B018  (computed once, kept)
        return self._data.digest

    @cached_property
    def bits(self) -> IntArray:
        """1 where the row has the value, shape (rows,)."""
        bits = self._count.feature(self._data.records).astype(np.int64)
        if bits.all():
            raise DataError(
                f"column {self.column!r} has the value {self.value!r} in every row: "
                "nobody's entry is a secret."
            )
        return bits

    @property
    def share(self) -> float:
        """The public share of rows with the value, in (0, 1)."""
        return float(self.bits.mean())
