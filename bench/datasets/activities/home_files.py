"""The files of activities at home: one file a home, one of names for each list of activities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bench.datasets.source import DataError
from bench.datasets.table.table_file import TableFile

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
    numbers = pd.DataFrame(_rows(path, numeric=("start", "seconds", "activity")))
    if not (numbers % 1 == 0).all(axis=None) or not numbers["start"].is_monotonic_increasing:
        raise DataError(
            f"{path} is not in its published format: lines must hold whole numbers, in order of "
            f"their start."
        )
    return numbers.astype("int64")


def read_names(path: Path) -> dict[int, str]:
    """Read the names of activities by number, in the file's order."""
    rows = _rows(path, numeric=("activity",), texts=("name",))
    numbers = rows["activity"].astype(int).tolist()
    if len(set(numbers)) < len(numbers):
        raise DataError(f"{path} is not in its published format: an activity occurs twice.")
    return dict(zip(numbers, rows["name"], strict=True))


def _rows(path: Path, numeric: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Read lines of fields between tabs, without a header: numbers first, then texts."""
    columns = (*numeric, *texts)
    try:
        table = TableFile(path=str(path), separator="tab", names=columns).read(*columns)
        numbers = {name: table.numbers(name) for name in numeric}
        return numbers | {name: table.text(name).to_pylist() for name in texts}
    except DataError as error:
        listed = ", ".join(columns)
        raise DataError(
            f"{path} is not in its published format, lines of {listed}, between tabs: {error}"
        ) from error
