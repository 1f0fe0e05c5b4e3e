"""The file of careers (mvad): monthly states of 712 school leavers, July 1993 to June 1999."""

from __future__ import annotations

import io

import pandas as pd

from bench.datasets.source import DataError, decompress, locate

FILE = "har_labels/traminer/mvad.csv.gz"
FIRST, LAST = "Jul.93", "Jun.99"


def read_mvad(path: str | None) -> pd.DataFrame:
    """Read the file as text, one row a person; `path` None looks where optional files are.

    CSV (``.gz`` allowed) with a header, columns ``Jul.93`` to ``Jun.99`` and public ones.

    References
    ----------
    McVicar and Anyadike-Danes (2002).
    """
    file = locate(FILE, path)
    wrong = f"{file} is not in its published format"
    try:
        table = pd.read_csv(io.BytesIO(decompress(file)), dtype=str, na_filter=False)
    except ValueError as error:
        raise DataError(f"{wrong}: {str(error).splitlines()[0]}.") from error
    if not {FIRST, LAST} <= set(table.columns):
        raise DataError(f"{wrong}: no columns {FIRST} to {LAST}.")
    return table


def careers(table: pd.DataFrame) -> list[list[str]]:
    """Return the monthly states of every person."""
    return table.iloc[:, table.columns.slice_indexer(FIRST, LAST)].to_numpy().tolist()
