"""Sequences of a user: any table of (user, time, label, group)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text, match_label
from bench.datasets.table.labels import Labels
from bench.datasets.table.place import Place
from bench.datasets.table.table_file import TableFile
from bench.datasets.table.text_table import TextTable
from mechanisms.check import IntArray, within

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class SequenceFile(TableFile):
    """Label sequences of a table, a row an entry.

    Rows may come in any order: a user's rows are sorted by time, ties in file order. Times are
    numbers of any size or ISO dates, which are compared as moments, whatever their offsets. Rows
    that repeat user, time, label and group are dropped and counted. The first `train` of all rows
    in time train the chain, the rest are queried.

    Parameters
    ----------
    user, time, label : str
        Names of the columns.
    group : str or None
        Column of the public groups; None puts all entries into one.
    train : float in (0, 1)
        Share of the rows, in order of time, that train.
    labels : sequence of str, int or bool, or None
        All labels as the file writes them, which are public. None takes those of the training
        part, which is public. Any other label becomes "Other", counted in the notes: a list of
        labels read off the queried rows would show that an entry of a new label is there.
    steps : {"all", "changes"}
        Every row is a step, or only a change of label.

    Notes
    -----
    `path`, `separator`, `encoding`, `decimal`, `names` and `missing` are those of `TableFile`.
    """

    user: str | int = "user"
    time: str | int = "time"
    label: str | int = "label"
    group: str | int | None = "group"
    train: float = 0.8
    labels: Sequence[str | int | bool] | None = None
    steps: Steps = "all"

    synthetic = False

    def __post_init__(self) -> None:
        super().__post_init__()
        within("train", self.train, 0, 1, ends="()")
        check_steps(self.steps)
        for label in self.labels or ():
            label_text("labels", label)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The file's statistics."""
        table = read_sequences(self, self.user, self.time, self.label, self.group)
        label = table.labels(self.label)
        wanted = None if self.labels is None else states_of(self.labels, label, "labels")
        return from_entries(
            order_entries(
                user=table.labels(self.user), moment=table.order(self.time), label=label,
                group=constant(len(table)) if self.group is None else table.labels(self.group),
                train=self.train, labels=wanted, notes=table.notes,
            ),
            self.steps,
        )  # fmt: skip


def read_sequences(file: TableFile, *columns: object) -> TextTable:
    """Read different columns, None left out."""
    named = [label_text("column", column) for column in columns if column is not None]
    if len(set(named)) < len(named):
        raise DataError(f"{file.path}: the columns must be different ones, got {', '.join(named)}.")
    return file.read(*named)


def states_of(given: Sequence[object], labels: Labels, option: str) -> tuple[str, ...]:
    """Return labels as the file writes them; one that is not there stays as it was typed."""
    found = [match_label(option, g, labels.names)[0] or label_text(option, g) for g in given]
    return tuple(dict.fromkeys(found))


def constant(size: int) -> Labels:
    """Return one label for all rows."""
    return Labels(where=Place("", ALL), names=(ALL,), codes=np.zeros(size, dtype=np.int64))


def order_entries(
    *,
    user: Labels,
    moment: IntArray,
    label: Labels,
    group: Labels,
    train: float,
    labels: Sequence[str] | None,
    venue: Labels | None = None,
    notes: Sequence[str] = (),
) -> Entries:
    """Return rows as sequences in order of time, identical rows once, split at a time."""
    columns = {"label": label, "group": group} | ({} if venue is None else {"venue": venue})
    table, told = in_order(user, moment, **columns)
    told = [*notes, *told]
    in_time = np.sort(table["moment"].to_numpy())
    border = in_time[min(len(in_time) - 1, round(train * len(in_time)))]
    training = (table["moment"] < border).to_numpy()
    if labels is None:
        seen = np.bincount(table["label"][training], minlength=len(label.names)) > 0
        # "Other" is always there, so that its being there tells nothing of the queried rows.
        names = (
            *sorted(n for n, s in zip(label.names, seen, strict=True) if s and n != OTHER),
            OTHER,
        )
    else:
        names = tuple(labels)
    listed = set(names)
    unknown = np.array([name not in listed for name in label.names], dtype=bool)
    if unknown.any():
        rows = np.bincount(table["label"], minlength=len(label.names)) * unknown
        worst = label.names[int(rows.argmax())]
        kind = "unknown labels" if labels is not None else "labels that the training part lacks"
        told.append(f"{int(rows.sum())} rows with {kind} counted as {OTHER}, most often {worst!r}")
        names = names if OTHER in names else (*names, OTHER)
    number = {name: i for i, name in enumerate(names)}
    state = np.array([number[n if n in listed else OTHER] for n in label.names])
    groups = tuple(sorted(group.names))
    place = np.argsort(np.argsort(np.array(group.names, dtype=object)))
    sizes = np.bincount(table["sequence"])
    if (sizes == 1).any():
        told.append(f"{int((sizes == 1).sum())} users with one entry: it has no step")
    return Entries(
        states=names,
        groups=groups,
        sequence=table["sequence"].to_numpy(),
        state=state[table["label"]],
        group=place[table["group"]],
        training=training,
        notes=tuple(told),
    )


def in_order(user: Labels, moment: IntArray, **columns: Labels) -> tuple[pd.DataFrame, list[str]]:
    """Return rows user by user in order of time, identical ones once, and what was done to them.

    Labels are codes. Users come in order of first appearance, numbered by the column ``sequence``;
    rows of one moment stay in file order.
    """
    rows = pd.DataFrame(
        {"sequence": user.codes, "moment": moment}
        | {name: labels.codes for name, labels in columns.items()}
    )
    notes = [note for labels in (user, *columns.values()) for note in labels.notes]
    latest = rows.groupby("sequence", sort=False)["moment"].cummax()
    late = int((rows["moment"] < latest).sum())
    if late:
        notes.append(f"{late} rows came before an earlier row of their user: sorted by time")
    table = rows.drop_duplicates()
    if len(table) < len(rows):
        notes.append(f"{len(rows) - len(table)} identical rows dropped")
    return table.sort_values(["sequence", "moment"], kind="stable"), notes
