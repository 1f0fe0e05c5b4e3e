"""The property scenario on a table of the user, set up by overrides alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import MISSING, Columns, TableFile
from bench.scenarios.property_subsets import PropertySubsets
from bench.scenarios.statistics import Count, Mean, Statistic
from bench.scenarios.subset_records import Model


def numeric_table(
    *,
    path: str | None,
    column: str | None,
    value: Any,  # noqa: ANN401
    means: Sequence[str] = (),
    counts: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    size: int = 100,
    gap: float = 0.1,
    shares: Sequence[float] = (0.25, 0.25),
    separator: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    names: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    model: Model = "sampled",
    model_subsets: int = 1000,
    worlds: Literal["data", "model"] = "data",
    seed: int = 0,
) -> PropertySubsets:
    """Build the scenario of `PropertySubsets` on any CSV, TSV or parquet file.

    Parameters
    ----------
    path : str
    column, value : str, int or bool
        The property: which column has which value, as the file writes it.
    means : sequence of str
        Numeric columns whose mean is released.
    counts : mapping of column to value
        Columns whose number of records with that value is released.
    bounds : mapping of column to (low, high)
        Public ranges of the means, for sensitivities; without them the table's own range is used.
    size, gap, model, model_subsets, worlds, seed
        As in `PropertySubsets`.
    shares : pair of float
        Shares of the records for shadow and for test worlds; the rest is for modelling.
    separator, encoding, decimal, names, missing
        As in `bench.datasets.table.table_file.TableFile`.
    """
    for name, given in (("path", path), ("column", column), ("value", value)):
        if given is None:
            hint = ", in quotes within quotes if it is \"'null'\"" if name == "value" else ""
            raise ValueError(f"numeric_table needs scenario.{name}=..., got none{hint}.")
    if isinstance(means, str) or not isinstance(means, Sequence):
        raise ValueError(f"scenario.means must be a list of columns, got {means!r}.")
    for name, mapping in (("counts", counts), ("bounds", bounds)):
        if not isinstance(mapping or {}, Mapping):
            raise ValueError(f"scenario.{name} must map columns to values, got {mapping!r}.")
    for column_name, ends in (bounds or {}).items():
        if not isinstance(ends, Sequence) or len(ends) != 2:
            raise ValueError(f"scenario.bounds.{column_name} must be [low, high], got {ends!r}.")
    ranges = {str(k): (float(v[0]), float(v[1])) for k, v in (bounds or {}).items()}
    averaged = [label_text("scenario.means", m) for m in means]
    statistics: list[Statistic] = [Mean(column=m, bounds=ranges.get(m)) for m in averaged]
    for c, v in (counts or {}).items():
        label_text(f"scenario.counts.{c}", v)
        statistics.append(Count(column=str(c), value=v))
    secret = label_text("scenario.column", column)
    label_text("scenario.value", value)
    if not statistics:
        raise ValueError("numeric_table needs scenario.means=[...] or scenario.counts={...}.")
    if not _are_shares(shares):
        raise ValueError(f"shares must be two positive shares that sum below 1, got {shares}.")
    file = TableFile(
        path=path, separator=separator, encoding=encoding, decimal=decimal, names=names,
        missing=missing,
    )  # fmt: skip
    data = Columns(file=file, wanted=(secret, *(statistic.column for statistic in statistics)))
    rows = len(data.records)
    split = (int(shares[0] * rows), int(shares[1] * rows))
    if not all(split):
        raise DataError(f"{path} has {rows} rows, too few to split.")
    return PropertySubsets(
        data=data,
        statistics_of=tuple(statistics),
        properties={secret: Count(column=secret, value=value)},
        secret=secret,
        gap=gap,
        size=size,
        split=split,
        model=model,
        model_subsets=model_subsets,
        worlds=worlds,
        seed=seed,
    )


def _are_shares(shares: object) -> bool:
    """Whether these are two positive numbers whose sum is below 1."""
    if not isinstance(shares, Sequence) or isinstance(shares, str) or len(shares) != 2:
        return False
    return all(isinstance(s, int | float) and s > 0 for s in shares) and sum(shares) < 1
