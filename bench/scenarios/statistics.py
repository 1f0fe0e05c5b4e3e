"""Statistics of a subset of records: means and counts, with their sensitivities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from bench.datasets.source import DataError, unsplit
from bench.datasets.table.column import LARGEST
from mechanisms.check import FloatArray, real


class Statistic(Protocol):
    """A sum over records of one feature, times a weight that depends on the subset size."""

    @property
    def column(self) -> str:
        """The column that is summed up."""

    @property
    def name(self) -> str:
        """How tables name the statistic."""

    def feature(self, table: pd.DataFrame) -> FloatArray:
        """Return the feature of each record."""

    def weight(self, size: int) -> float:
        """Return the factor of the sum over a subset of this size."""

    def sensitivity(self, table: pd.DataFrame, size: int) -> float:
        """Return the largest change when one record of the subset is replaced."""


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

    def feature(self, table: pd.DataFrame) -> FloatArray:
        """Return the column as floats."""
        values = column_of(table, self.column)
        if not pd.api.types.is_numeric_dtype(values):
            wrong = pd.to_numeric(values, errors="coerce").isna().to_numpy()
            row = int(wrong.argmax())
            raise DataError(
                f"column {self.column!r} must be numeric for a mean, got {values.iloc[row]!r} in "
                f"data row {row + 1} ({int(wrong.sum())} such rows)."
            )
        numbers = values.to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            count = int((~np.isfinite(numbers)).sum())
            raise DataError(f"column {self.column!r} has {count} missing or infinite values.")
        if np.abs(numbers).max(initial=0.0) > LARGEST:
            raise DataError(
                f"column {self.column!r} must hold numbers within +-{LARGEST:g}, got "
                f"{numbers[np.abs(numbers).argmax()]:g}."
            )
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

    def sensitivity(self, table: pd.DataFrame, size: int) -> float:
        """Return (high - low)/n."""
        low, high = self.bounds or (self.feature(table).min(), self.feature(table).max())
        return float(high - low) / size


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The number of records whose column has one value.

    Parameters
    ----------
    column : str
    value : object
    """

    column: str
    value: object

    @property
    def name(self) -> str:
        """How tables name the statistic."""
        return f"# {self.column}={self.value}"

    def feature(self, table: pd.DataFrame) -> FloatArray:
        """Return the indicator of the value."""
        values = column_of(table, self.column)
        hits: FloatArray = (values == self.value).to_numpy().astype(np.float64)
        if not hits.any():
            raise DataError(f"column {self.column!r} never has the value {self.value!r}.")
        return hits

    def weight(self, size: int) -> float:
        """Return 1."""
        del size
        return 1.0

    def sensitivity(self, table: pd.DataFrame, size: int) -> float:
        """Return 1."""
        del table, size
        return 1.0


def column_of(table: pd.DataFrame, name: str) -> pd.Series:
    """Return a column without missing values, or say which columns there are."""
    if name not in table.columns:
        columns = [str(column) for column in table.columns]
        hint = "; set scenario.separator" if unsplit(columns) else ""
        raise DataError(f"no column {name!r}; there are {', '.join(columns)}{hint}.")
    column = table[name]
    if isinstance(column, pd.DataFrame):
        raise DataError(f"{column.shape[1]} columns have the name {name!r}.")
    if column.isna().any():
        raise DataError(f"column {name!r} has {int(column.isna().sum())} missing values.")
    return column
