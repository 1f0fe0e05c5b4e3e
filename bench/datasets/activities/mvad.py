"""The file of careers (mvad): monthly states of 712 school leavers, July 1993 to June 1999."""

from __future__ import annotations

from bench.datasets.source import DataError, locate
from bench.datasets.table.table_file import TableFile
from bench.datasets.table.text_table import TextTable

FILE = "har_labels/traminer/mvad.csv.gz"
FIRST, LAST = "Jul.93", "Jun.99"


def read_mvad(path: str | None, *groups: str) -> tuple[TextTable, list[str]]:
    """Read the months and some public columns; `path` None looks where optional files are.

    CSV (``.gz`` allowed) with a header, one row a person, columns ``Jul.93`` to ``Jun.99`` and
    public ones.

    Returns
    -------
    TextTable
    list of str
        Names of the months, in order.

    References
    ----------
    McVicar and Anyadike-Danes (2002).
    """
    file = TableFile(path=str(locate(FILE, path)))
    header = file.header
    if not {FIRST, LAST} <= set(header):
        raise DataError(
            f"{file.path} is not in its published format: no columns {FIRST} to {LAST}."
        )
    months = list(header[header.index(FIRST) : header.index(LAST) + 1])
    return file.read(*months, *groups), months


def careers(table: TextTable, months: list[str]) -> list[list[str]]:
    """Return the monthly states of every person."""
    columns = (table.text(month).to_pylist() for month in months)
    return [list(states) for states in zip(*columns, strict=True)]
