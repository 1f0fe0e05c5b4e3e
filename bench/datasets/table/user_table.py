"""A table of a user: any CSV or parquet file."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from bench.datasets.source import DataError

MISSING = ("", "?")
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class UserTable:
    """The rows of a CSV (``.gz`` allowed, UTF-8) or parquet file.

    Parameters
    ----------
    path : str
    missing : sequence of str
        What stands for a missing value in a CSV; nothing else does, so that a country "NA" or a
        label "None" survives.
    separator : str
        Of a CSV.
    """

    path: str
    missing: tuple[str, ...] = MISSING
    separator: str = ","

    @cached_property
    def digest(self) -> str:
        """The sha256 of the file."""
        return hashlib.sha256(self._content).hexdigest()

    @cached_property
    def _content(self) -> bytes:
        try:
            return Path(self.path).read_bytes()
        except OSError as error:
            raise DataError(f"cannot read {self.path}: {error.strerror}.") from error

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows."""
        content = io.BytesIO(self._content)
        packed = "gzip" if self.path.endswith(".gz") else None
        try:
            if Path(self.path).suffix in PARQUET:
                table = pd.read_parquet(content)
            else:
                table = pd.read_csv(
                    content, sep=self.separator, compression=packed,
                    encoding="utf-8-sig", keep_default_na=False, na_values=list(self.missing),
                    skipinitialspace=True,
                )  # fmt: skip
        except Exception as error:
            first = str(error).strip().splitlines()[0]
            raise DataError(f"{self.path} cannot be read as a table: {first}.") from error
        if table.empty:
            raise DataError(f"{self.path} has no rows.")
        return table
