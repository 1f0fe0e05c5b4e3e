"""Statistics of a subset of records: means and counts, with their sensitivities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.text_table import TextTable
from mechanisms.check import FloatArray, real


class Statistic(Protocol):
    """A sum over records of one feature, times a weight that depends on the subset size."""

    @property
    def column(self) -> str:
        """The column that is summed up."""

    @property
    def name(self) -> str:
        """How tables name the statistic."""

    def feature(self, table: TextTable) -> FloatArray:
        """Return the feature of each record."""

    def weight(self, size: int) -> float:
        """Return the factor of the sum over a subset of this size."""

    def sensitivity(self, table: TextTable, size: int) -> float:
        """Return the largest change when one record of the subset is replaced."""

    def notes(self, table: TextTable) -> tuple[str, ...]:
        """Return what is to be told of the column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of a numeric column.

    Parameters
    ----------
    column : str
    bounds : pair of float, or None
        Public range of the column, for its sensitivity (high - low)/n; values outside are refused.
        None takes the range of the table at hand, which is itself data-dependent.
    """

    column: str
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.bounds is None:
            return
        if not (isinstance(self.bounds, Sequence) and len(self.bounds) == 2):
            raise ValueError(f"bounds must be (low, high), got {self.bounds!r}.")
        low, high = (real("bounds", end) for end in self.bounds)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"bounds must be finite with low < high, got {self.bounds!r}.")

    @property
    def name(self) -> str:
        """How tables name the statistic."""
        return f"mean {self.column}"

    def feature(self, table: TextTable) -> FloatArray:
        """Return the column as floats."""
        numbers = table.numbers(self.column)
        if self.bounds is not None:
            low, high = self.bounds
            outside = int(((numbers < low) | (numbers > high)).sum())
            if outside:
                # The sensitivity, and with it every claim, would be too small.
                raise DataError(
                    f"column {self.column!r} has {outside} values outside its bounds "
                    f"[{low:g}, {high:g}]."
                )
        return numbers

    def weight(self, size: int) -> float:
        """Return 1/n."""
        return 1 / size

    def sensitivity(self, table: TextTable, size: int) -> float:
        """Return (high - low)/n."""
        low, high = self.bounds or (self.feature(table).min(), self.feature(table).max())
        return float(high - low) / size

    def notes(self, table: TextTable) -> tuple[str, ...]:
        """Return nothing: numbers have one reading."""
        del table
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The number of records whose column has one value.

    Parameters
    ----------
    column : str
    value : str, int or bool
        As the table writes it.
    """

    column: str
    value: object

    def __post_init__(self) -> None:
        label_text("value", self.value)

    @property
    def name(self) -> str:
        """How tables name the statistic."""
        return f"# {self.column}={self.value}"

    def feature(self, table: TextTable) -> FloatArray:
        """Return the indicator of the value."""
        labels = table.labels(self.column)
        label, _ = labels.find("value", self.value)
        return labels.are(label).astype(np.float64)

    def notes(self, table: TextTable) -> tuple[str, ...]:
        """Return how the value was matched, and which labels look like others."""
        labels = table.labels(self.column)
        _, note = labels.find("value", self.value)
        return (*labels.notes, *filter(None, [note]))

    def weight(self, size: int) -> float:
        """Return 1."""
        del size
        return 1.0

    def sensitivity(self, table: TextTable, size: int) -> float:
        """Return 1."""
        del table, size
        return 1.0
