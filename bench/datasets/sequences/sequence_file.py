"""Sequences of a user: any table of (user, time, label, group)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from bench.datasets.sequences.sequence_statistics import (
    OTHER,
    Entries,
    SequenceStatistics,
    Steps,
    check_steps,
    from_entries,
)
from bench.datasets.source import DataError, unsplit
from mechanisms.check import within

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class SequenceFile:
    """Label sequences of a CSV (also compressed) or parquet file with a header, a row an entry.

    Rows may come in any order: a user's rows are sorted by time, ties in file order. Times are
    numbers or ISO dates, which are compared as moments, whatever their offsets. Rows that repeat
    user, time, label and group are dropped and counted. The first `train` of all rows in time
    train the chain, the rest are queried. Nothing is read as a missing value but an empty field (in
    parquet also a null), so that the country "NA" and the label "None" survive.

    Parameters
    ----------
    path : str
    user, time, label : str
        Names of the columns.
    group : str or None
        Column of the public groups; None puts all entries into one.
    train : float in (0, 1)
        Share of the rows, in order of time, that train.
    labels : sequence of str, or None
        All labels; any other becomes "Other", counted in the notes. None takes those found.
    steps : {"all", "changes"}
        Every row is a step, or only a change of label.
    separator, encoding : str
        Of a CSV.
    """

    path: str | None
    user: str = "user"
    time: str = "time"
    label: str = "label"
    group: str | None = "group"
    train: float = 0.8
    labels: Sequence[str] | None = None
    steps: Steps = "all"
    separator: str = ","
    encoding: str = "utf-8"

    synthetic = False

    def __post_init__(self) -> None:
        within("train", self.train, 0, 1, ends="()")
        check_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The file's statistics."""
        columns = [self.user, self.time, self.label, *([self.group] if self.group else [])]
        table = read_columns(self.path, columns, self.separator, self.encoding)
        moment = moments(table[self.time], str(self.path))
        group = table[self.group] if self.group else pd.Series(ALL, index=table.index)
        return from_entries(
            order_entries(
                user=table[self.user], moment=moment, label=table[self.label], group=group,
                train=self.train, labels=self.labels,
            ),
            self.steps,
        )  # fmt: skip


def order_entries(
    *,
    user: pd.Series,
    moment: pd.Series,
    label: pd.Series,
    group: pd.Series,
    train: float,
    labels: Sequence[str] | None,
    venue: pd.Series | None = None,
) -> Entries:
    """Return rows as sequences in order of time, identical rows once, split at a time."""
    columns = {"user": user, "moment": moment, "label": label, "group": group}
    table, notes = in_order(columns if venue is None else columns | {"venue": venue})
    names = tuple(dict.fromkeys(map(str, labels))) if labels is not None else ()
    if names:
        unknown = ~table["label"].isin(names)
        if unknown.any():
            worst = table.loc[unknown, "label"].value_counts().index[0]
            notes.append(f"{int(unknown.sum())} rows with unknown labels counted as {OTHER}, "
                         f"most often {worst!r}")  # fmt: skip
            table["label"] = table["label"].where(~unknown, OTHER)
            names = names if OTHER in names else (*names, OTHER)
    else:
        names = tuple(sorted(table["label"].unique()))
    groups = tuple(sorted(table["group"].unique()))
    in_time = np.sort(table["moment"].to_numpy())
    border = in_time[min(len(in_time) - 1, round(train * len(in_time)))]
    sizes = np.bincount(table["sequence"])
    if (sizes == 1).any():
        notes.append(f"{int((sizes == 1).sum())} users with one entry: it has no step")
    return Entries(
        states=names,
        groups=groups,
        sequence=table["sequence"].to_numpy(),
        state=pd.Categorical(table["label"], categories=names).codes.astype(np.int64),
        group=pd.Categorical(table["group"], categories=groups).codes.astype(np.int64),
        training=(table["moment"] < border).to_numpy(),
        notes=tuple(notes),
    )


def in_order(columns: Mapping[str, pd.Series]) -> tuple[pd.DataFrame, list[str]]:
    """Return rows user by user in order of time, identical ones once, and what was done to them.

    Users come in order of first appearance, numbered by the column ``sequence``; rows of one
    moment stay in file order.
    """
    rows = pd.DataFrame(columns)
    notes = []
    late = int((rows["moment"] < rows.groupby("user", sort=False)["moment"].cummax()).sum())
    if late:
        notes.append(f"{late} rows came before an earlier row of their user: sorted by time")
    table = rows.drop_duplicates()
    if len(table) < len(rows):
        notes.append(f"{len(rows) - len(table)} identical rows dropped")
    table = table.assign(sequence=pd.factorize(table["user"])[0])
    return table.sort_values(["sequence", "moment"], kind="stable"), notes


def read_columns(
    path: str | None, columns: Sequence[str], separator: str = ",", encoding: str = "utf-8"
) -> pd.DataFrame:
    """Read columns as text; refuse a missing file, a missing column, an empty field."""
    if path is None:
        raise DataError("path must name a CSV or parquet file, got path=None.")
    if len(set(columns)) < len(columns):
        raise DataError(f"{path}: the columns must be different ones, got {', '.join(columns)}.")
    try:
        if Path(path).suffix in (".parquet", ".pq"):
            typed = pd.read_parquet(path)
            table = typed.astype(str).where(typed.notna(), "")
        else:
            table = pd.read_csv(
                path, dtype=str, na_filter=False, skipinitialspace=True, sep=separator,
                encoding="utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding,
            )  # fmt: skip
    except FileNotFoundError:
        raise DataError(f"no file {path}.") from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not {encoding.upper()}: byte {error.object[error.start]:#04x} at "
            f"{error.start}; set its encoding, such as latin-1."
        ) from error
    except LookupError:
        raise DataError(f"encoding must be one that Python knows, got {encoding!r}.") from None
    except (OSError, ValueError, ImportError) as error:
        line = str(error).splitlines()[0]
        raise DataError(f"{path} cannot be read as a table: {line}.") from error
    for name in columns:
        if name not in table:
            found = [str(column) for column in table.columns]
            hint = "; set its separator" if unsplit(found) else ""
            raise DataError(f"{path} has no column {name!r}; it has {', '.join(found)}{hint}.")
    table = table[list(columns)]
    empty = (table == "").any(axis=1)
    if table.empty or empty.any():
        where = (
            f"{int(empty.sum())} rows with an empty field, first in data row "
            f"{int(empty.to_numpy().argmax()) + 1}"
            if len(table)
            else "no rows"
        )
        raise DataError(f"{path} must have {', '.join(columns)} in every row, got {where}.")
    return table


def moments(times: pd.Series, path: str) -> pd.Series:
    """Return times that can be subtracted and compared: numbers, or dates in ISO form."""
    numbers = pd.to_numeric(times, errors="coerce")
    no_number = ~np.isfinite(numbers.astype(np.float64))
    if not no_number.any():
        return numbers.astype(np.float64)
    dates = pd.to_datetime(times, errors="coerce", format="ISO8601", utc=True)
    if dates.isna().any():
        wrong = min(no_number, dates.isna(), key=lambda missing: int(missing.sum()))
        bad = int(wrong.to_numpy().argmax())
        raise DataError(
            f"{path}: times must all be numbers or all ISO dates, got {times.iloc[bad]!r} in data "
            f"row {bad + 1} ({int(wrong.sum())} such rows)."
        )
    return (dates - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
