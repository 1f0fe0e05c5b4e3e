"""A numeric column and a secret column of any table: CSV, parquet, or an embedded count table."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

from bench.config.build import unknown
from bench.datasets.source import DataError
from mechanisms.laws.finite import FiniteLaw

PARQUET = (".parquet", ".pq")
LARGEST = 1e150  # squares of larger numbers are infinite


@dataclass(frozen=True, kw_only=True)
class NumericTable:
    """A table read as text, so that a secret value such as ``NA`` stays what it is.

    Parameters
    ----------
    path : str
        A CSV (``.gz`` allowed) or parquet file; ``embedded:NAME`` for a table of this package.
    value, secret : str
        Columns of the numbers and of the secret.
    count : str or None
        Column that says how often a row counts; None counts every row once.
    separator : str
        Of a CSV file.
    """

    path: str
    value: str
    secret: str
    count: str | None = None
    separator: str = ","

    @cached_property
    def _content(self) -> bytes:
        try:
            if self.path.startswith("embedded:"):
                name = self.path.removeprefix("embedded:")
                return (resources.files("bench.datasets") / "data" / name).read_bytes()
            return Path(self.path).read_bytes()
        except OSError as error:
            raise DataError(f"cannot read {self.path}: {error.strerror}.") from error

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return hashlib.sha256(self._content).hexdigest()

    @cached_property
    def _table(self) -> pd.DataFrame:
        content = io.BytesIO(self._content)
        try:
            if self.path.endswith(PARQUET):
                table = pd.read_parquet(content)
            else:
                table = pd.read_csv(
                    content, sep=self.separator, dtype=str, na_filter=False, skipinitialspace=True,
                    encoding="utf-8-sig", compression="gzip" if self.path.endswith(".gz") else None,
                )  # fmt: skip
        except (ValueError, OSError, pd.errors.ParserError) as error:
            line = str(error).strip().splitlines()[0]
            raise DataError(f"{self.path} is not a readable table: {line}.") from error
        for column in filter(None, (self.value, self.secret, self.count)):
            if column not in table.columns:
                names = [str(c) for c in table.columns]
                raise DataError(f"{self.path}: {unknown('column', column, names)}")
        if table.empty:
            raise DataError(f"{self.path} has no rows.")
        return table

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Secret labels, values, and counts, one a row."""
        table = self._table
        labels = np.array([label_of(v) for v in table[self.secret]], dtype=object)
        values = self._numbers(self.value)
        counts = np.ones(len(table), dtype=np.int64)
        if self.count is not None:
            numbers = self._numbers(self.count)
            if (numbers < 0).any() or (numbers != np.round(numbers)).any():
                raise DataError(f"{self.path}: column {self.count!r} must hold whole counts.")
            counts = numbers.astype(np.int64)
        return labels, values, counts

    def _numbers(self, column: str) -> np.ndarray:
        texts = self._table[column]
        kind = texts.dtype
        if pd.api.types.is_bool_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind):
            raise DataError(f"{self.path}: column {column!r} must hold numbers, got {kind}.")
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        bad = np.flatnonzero(~(np.abs(numbers) <= LARGEST))
        if bad.size:
            got = str(texts.iloc[bad[0]])
            raise DataError(
                f"{self.path}: column {column!r} must hold finite numbers, "
                f"got {got!r} in row {bad[0] + 1} of {len(numbers)} (within +-{LARGEST:g})."
            )
        return numbers

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value of the column."""
        _, values, _ = self._columns
        return float(values.min()), float(values.max())

    def law(self, secret: str) -> FiniteLaw:
        """Return the empirical law of the value where the secret column says `secret`."""
        labels, values, counts = self._columns
        where = labels == secret
        if not where.any():
            line = unknown("value", secret, sorted(set(labels)))
            raise DataError(f"{self.path}: column {self.secret!r}: {line}")
        if not counts[where].any():
            raise DataError(f"{self.path}: no rows with {self.secret}={secret}.")
        atoms, index = np.unique(values[where], return_inverse=True)
        totals = np.zeros(len(atoms), dtype=np.int64)
        np.add.at(totals, index, counts[where])
        return FiniteLaw.of_counts(atoms=atoms, counts=totals)


def label_of(value: object) -> str:
    """Return a secret's value as text: ``1.0`` as ``1``, ``True`` as ``true``.

    Examples
    --------
    >>> label_of(1.0), label_of(True), label_of("NA")
    ('1', 'true', 'NA')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
