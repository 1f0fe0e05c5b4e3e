"""Which rows of a tidy table belong to one entry of the ledger."""

from __future__ import annotations

import pandas as pd

from bench.config.build import ConfigError, unknown

LEDGER = ("claimed", "exact", "exact_unpooled", "exact_recorded", "certified")
OPTIONAL = ("exact_unpooled", "exact_recorded")  # not of every scenario
PLACES = ("scenario", "cell")


def one_entry(table: pd.DataFrame, notion: str | None = None) -> pd.DataFrame:
    """Return a table with one entry of the ledger a cell; all other rows stay.

    Parameters
    ----------
    table : tidy table
    notion : str or None
        Name or unit of the notion; None takes each cell's own entry, which is its first.

    Raises
    ------
    ConfigError
        If no entry has this name or unit, or a cell has several of this name.
    """
    of_ledger = table["metric"].isin(LEDGER)
    rows = table[of_ledger]
    places = [column for column in PLACES if column in table]
    if notion is None:
        kept = rows["unit"] == rows.groupby(places, dropna=False)["unit"].transform("first")
    else:
        kept = (rows["notion"] == notion) | (rows["unit"] == notion)
        if not kept.any():
            raise ConfigError(unknown("notion", notion, {*rows["notion"], *rows["unit"]}))
        several = rows[kept].groupby(places, dropna=False)["unit"].nunique()
        if (several > 1).any():
            units = sorted(set(rows[kept]["unit"]))
            raise ConfigError(f"notion={notion} has several units in a cell: {', '.join(units)}.")
    return table[~of_ledger | kept.reindex(table.index, fill_value=False)]
