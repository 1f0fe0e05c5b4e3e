"""The files of activities at home: one file a home, one of names for each list of activities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bench.datasets.source import DataError, decompress

FOLDER = "har_labels/adl_houses"
NAMES = {"ABC": "houseABC.activity_names", "DE": "houseDE.activity_names"}


def name_of(home: str) -> str:
    """Return the name of a home's file."""
    return f"house{home}.activities"


def read_home(path: Path) -> pd.DataFrame:
    """Read ``start`` (seconds), ``seconds`` and ``activity``, whole numbers in order of time.

    References
    ----------
    Van Kasteren et al. (2008); Tapia, Intille, Larson (2004).
    """
    rows = _rows(path, ("start", "seconds", "activity"))
    numbers = rows.apply(pd.to_numeric, errors="coerce")
    whole = numbers.notna().all(axis=None) and (numbers % 1 == 0).all(axis=None)
    if not whole or not numbers["start"].is_monotonic_increasing:
        raise DataError(
            f"{path} is not in its published format: lines must hold whole numbers, in order of "
            f"their start."
        )
    return numbers.astype("int64")


def read_names(path: Path) -> dict[int, str]:
    """Read the names of activities by number, in the file's order."""
    rows = _rows(path, ("activity", "name"))
    if not rows["activity"].str.fullmatch(r"\d+").all():
        raise DataError(f"{path} is not in its published format: activities must be numbers.")
    return dict(zip(rows["activity"].astype(int), rows["name"], strict=True))


def _rows(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    wrong = f"{path} is not in its published format"
    try:
        lines = decompress(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{wrong}: {error}.") from error
    rows = [line.split("\t") for line in lines if line.strip()]
    if not rows or any(len(row) != len(columns) for row in rows):
        raise DataError(f"{wrong}: lines must be of {', '.join(columns)}, between tabs.")
    return pd.DataFrame(rows, columns=list(columns))
