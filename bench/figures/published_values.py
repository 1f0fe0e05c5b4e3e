"""Values of published tables, one CSV a table in `published/`; its first line names the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

import pandas as pd

from bench.config.build import ConfigError, unknown

FOLDER = resources.files("bench.figures") / "published"


def read_published(
    table: str, ours: Mapping[str, Mapping[str, str | Sequence[str]]], metric: str
) -> tuple[str, pd.DataFrame]:
    """Return the source of a published table and its values of a metric, under our names.

    Parameters
    ----------
    table : str
        Name of a file in `published/`, without ``.csv``.
    ours : mapping of column to {name in the table: our name, or several}
        What the paper calls otherwise; rows of other names are left out. A value with several of
        our names is compared with each of them.
    metric : str
        Of a table with a column ``metric``, the rows to take.

    Examples
    --------
    >>> ours = {"mechanism": {"MQM": ["a", "b"]}, "scenario": {"certain": "s"}}
    >>> source, values = read_published("bai_2026_table_2", ours, "acc_at_1")
    >>> source
    'Bai et al. (2026), Table 2: 33 million real check-ins'
    >>> values.groupby(["mechanism", "scenario"]).size().to_dict()
    {('a', 's'): 6, ('b', 's'): 6}
    """
    file = FOLDER / f"{table}.csv"
    if not file.is_file():
        there = [entry.name.removesuffix(".csv") for entry in FOLDER.iterdir()]
        raise ConfigError(unknown("published table", table, there))
    with file.open(encoding="utf-8") as lines:
        source = lines.readline().removeprefix("#").strip()
        values = pd.read_csv(lines)
    if "metric" in values:
        values = values[values["metric"] == metric].drop(columns="metric")
    for column, names in ours.items():
        if column not in values:
            raise ConfigError(unknown("column", column, map(str, values.columns)))
        values = values.assign(**{column: values[column].map(dict(names))})
        values = values.dropna(subset=column).explode(column)
    order = [name for names in ours.values() for own in names.values() for name in _several(own)]
    if ours:
        values = values.sort_values(list(ours), key=lambda column: column.map(order.index))
    return source, values.reset_index(drop=True)


def _several(own: str | Sequence[str]) -> Sequence[str]:
    return [own] if isinstance(own, str) else own
