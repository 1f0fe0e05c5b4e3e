"""Columns of text, converted by declared need: to labels, numbers or times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from bench.config.build import unknown
from bench.datasets.source import DataError
from bench.datasets.table.label_option import match_label
from bench.datasets.table.labels import Labels
from bench.datasets.table.numbers import numbers_of
from bench.datasets.table.place import Place
from bench.datasets.table.times import clock_of, order_of
from mechanisms.check import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTable:
    """Some columns of a table as they are written, without a missing value.

    Parameters
    ----------
    path : str
        For errors and notes.
    columns : mapping of str to chunked array of str
    decimal : str
        The sign before the decimals of numbers.
    notes : tuple of str
        How many rows there are, and what was left out or assumed while they were read.
    """

    path: str
    columns: Mapping[str, pa.ChunkedArray]
    decimal: str = "."
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def text(self, column: object) -> pa.ChunkedArray:
        """Return a column as it is written."""
        return self.columns[self._name(column)]

    def labels(self, column: object) -> Labels:
        """Return a column as labels."""
        return Labels.of(self.text(column), self._where(column))

    def numbers(self, column: object) -> FloatArray:
        """Return a column as finite numbers; refuse a column that holds anything else."""
        return numbers_of(self.text(column), self.decimal, self._where(column))

    def order(self, column: object) -> IntArray:
        """Return times that can be compared, not subtracted: numbers of any size, or ISO dates."""
        return order_of(self.text(column), self._where(column))

    def clock(
        self, column: object, *, unit: str | None = None, local: bool = False
    ) -> tuple[IntArray, str]:
        """Return times in nanoseconds since 1970, and how they were read."""
        return clock_of(self.text(column), self._where(column), unit=unit, local=local)

    def _name(self, column: object) -> str:
        name, _ = match_label("column", column, self.columns)
        if name is None:
            line = unknown("column", column, self.columns)
            raise DataError(f"{self.path}: {line}")
        return name

    def _where(self, column: object) -> Place:
        return Place(self.path, self._name(column))
