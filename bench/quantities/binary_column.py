"""One binary column: who has a value and who has not, in Adult or in a table of the user."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.adult import Adult
from bench.datasets.table.user_table import UserTable
from bench.scenarios.statistics import Count
from mechanisms.check import IntArray


@dataclass(frozen=True, kw_only=True)
class BinaryColumn:
    """Whether each row has a value in a column.

    Parameters
    ----------
    path : str or None
        A CSV (``.gz`` allowed) or parquet file; None is the embedded UCI Adult.
    column : str
    value : object
        The value that is counted.
    separator : str
        Of a CSV.
    """

    path: str | None = None
    column: str = "income"
    value: object = ">50K"
    separator: str = ","

    @cached_property
    def _data(self) -> Adult | UserTable:
        if self.path is None:
            return Adult()
        return UserTable(path=str(self.path), separator=self.separator)

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return self._data.digest

    @cached_property
    def bits(self) -> IntArray:
        """1 where the row has the value, shape (rows,)."""
        found = Count(column=self.column, value=self.value).feature(self._data.table)
        bits = found.astype(np.int64)
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
