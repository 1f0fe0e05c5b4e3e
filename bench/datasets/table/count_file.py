"""A table of counts of the user: records, one row a cell, or a table as it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.contingency import Contingency, RecordCounts, check_columns
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import Columns, TableFile
from mechanisms.check import BoolArray, FloatArray, IntArray, one_of
from mechanisms.deterministic.count_table import Axes, counts

ABSENT = ("refused", "zero")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entries:
    """Cells and totals one after the other.

    Parameters
    ----------
    columns : tuple of str
    names : list of tuples of str
        Labels of each axis, the label of totals among them.
    codes : int array of shape (n, axes)
    numbers : int array of shape (n,)
    notes : tuple of str
    """

    columns: tuple[str, ...]
    names: list[tuple[str, ...]]
    codes: IntArray
    numbers: IntArray
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CountFile:
    """A file whose rows are records, or cells with their counts, or rows of a printed table.

    Parameters
    ----------
    file : TableFile
    columns : sequence of str, optional
        The axes of the table. None reads a printed table: the first column names its rows, the
        header its columns, and every other field is a count.
    count : str, optional
        Column of the counts, where a row is a cell; None counts rows.
    total : str or int, optional
        Label that stands for a total. Such entries are published totals; they must be complete
        and add up.
    absent : {"refused", "zero"}
        What a cell without a row is, where rows are cells.
    """

    file: TableFile
    columns: Sequence[str] | None = None
    count: str | None = None
    total: Any = None
    absent: str = "refused"
    synthetic = False

    def __post_init__(self) -> None:
        one_of("absent", self.absent, ABSENT)
        if self.columns is not None:
            object.__setattr__(self, "columns", check_columns(self.columns))
        elif self.count is not None:
            raise ValueError(f"count={self.count!r} needs columns=[...]: the axes of the table.")
        if self.total is not None:
            object.__setattr__(self, "total", label_text("total", self.total))
            if self.columns is not None and self.count is None:
                raise ValueError("total names rows of totals: it needs count=..., got none.")

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return self.file.digest

    @cached_property
    def table(self) -> Contingency:
        """Read the file; refuse what is no table of counts."""
        if self.columns is not None and self.count is None:
            data = Columns(file=self.file, wanted=tuple(self.columns))
            return RecordCounts(data=data, columns=self.columns).table
        return self._assembled(self._printed() if self.columns is None else self._listed())

    def _listed(self) -> Entries:
        columns = tuple(self.columns or ())
        read = self.file.read(*columns, self.count)
        labels = [read.labels(column) for column in columns]
        return Entries(
            columns=columns,
            names=[found.names for found in labels],
            codes=np.stack([found.codes for found in labels], axis=1),
            numbers=self._whole(str(self.count), read.numbers(self.count)),
            notes=(*read.notes, *(note for found in labels for note in found.notes)),
        )

    def _printed(self) -> Entries:
        first, *others = self.file.header
        if not others:
            raise DataError(f"{self.file.path} has one column: no counts beside the rows' names.")
        read = self.file.read(first, *others)
        rows = read.labels(first)
        numbers = [self._whole(name, read.numbers(name)) for name in others]
        at = np.repeat(np.arange(len(others)), len(rows.codes))
        return Entries(
            columns=(first or "row", "column"),
            names=[rows.names, tuple(others)],
            codes=np.stack([np.tile(rows.codes, len(others)), at], axis=1),
            numbers=np.concatenate(numbers),
            notes=(*read.notes, *rows.notes),
        )

    def _whole(self, column: str, numbers: FloatArray) -> IntArray:
        bad = (numbers < 0) | (numbers != np.floor(numbers))
        if bad.any():
            row = int(bad.argmax())
            kind = "negative" if numbers[row] < 0 else "fractional"
            raise DataError(
                f"{self.file.path}: column {column!r} must hold whole numbers from 0 on, got the "
                f"{kind} {numbers[row]:g} in data row {row + 1} ({int(bad.sum())} such rows)."
            )
        return counts("counts", numbers)

    def _assembled(self, entries: Entries) -> Contingency:
        if self.total is not None and not any(self.total in names for names in entries.names):
            raise DataError(f"{self.file.path} has no row or column named total={self.total!r}.")
        codes = entries.codes.copy()
        categories = []
        for axis, names in enumerate(entries.names):
            kept = [name for name in names if name != self.total]
            place = np.array([kept.index(name) if name in kept else -1 for name in names])
            codes[:, axis] = place[entries.codes[:, axis]]
            categories.append(tuple(kept))
        table = Contingency(
            counts=np.zeros(tuple(len(kept) for kept in categories), dtype=np.int64),
            columns=entries.columns,
            categories=tuple(categories),
            notes=entries.notes,
        )
        if not table.counts.size:
            raise DataError(f"{self.file.path} has no cells, only totals.")
        cells = self._placed(table, codes, entries.numbers, np.zeros(codes.shape[1], dtype=bool))
        absent = int((cells < 0).sum())
        notes = (*table.notes, f"{absent} cells without a row are 0") if absent else table.notes
        table = replace(table, counts=np.maximum(cells, 0), notes=notes)
        return replace(table, totals=self._totals(table, codes, entries.numbers))

    def _placed(
        self, table: Contingency, codes: IntArray, numbers: IntArray, summed: BoolArray
    ) -> IntArray:
        """Return the counts of the rows whose totals are over `summed` axes; -1 without a row."""
        rows = ((codes < 0) == summed).all(axis=1)
        shape = tuple(n for n, over in zip(table.counts.shape, summed, strict=True) if not over)
        found, times = np.full(shape, -1, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        where = tuple(codes[rows][:, ~summed].T)
        np.add.at(times, where, 1)
        found[where] = numbers[rows] if where else numbers[rows][:1].sum()
        times = times if where else np.asarray(int(rows.sum()))
        zero = self.absent == "zero" and not summed.any()
        for wrong, what in ((times > 1, "several rows"), (times == 0, "no row")):
            if not wrong.any() or (what == "no row" and zero):
                continue
            cell = named(table, np.flatnonzero(~summed).tolist(), np.argwhere(wrong)[0])
            kind = " total" if summed.any() else " cell"
            hint = (
                "; absent=zero takes such cells as 0" if kind == " cell" and what[0] == "n" else ""
            )
            raise DataError(
                f"{self.file.path}: every{kind} must have one row, got {what} for "
                f"{cell} ({int(wrong.sum())} such){hint}."
            )
        return found

    def _totals(self, table: Contingency, codes: IntArray, numbers: IntArray) -> tuple[Axes, ...]:
        kinds = sorted({tuple(row) for row in (codes < 0).tolist() if any(row)})
        found = []
        for kind in kinds:
            summed = np.array(kind)
            axes = tuple(np.flatnonzero(~summed).tolist())
            placed = self._placed(table, codes, numbers, summed)
            sums = table.counts.sum(axis=tuple(np.flatnonzero(summed).tolist()))
            wrong = np.argwhere(placed != sums)
            if len(wrong):
                at = tuple(wrong[0])
                raise DataError(
                    f"{self.file.path}: totals must add up: the cells of "
                    f"{named(table, axes, at)} sum to {sums[at]}, the file says {placed[at]} "
                    f"({len(wrong)} such)."
                )
            found.append(axes)
        return tuple(found)


def named(table: Contingency, axes: Sequence[int], index: Sequence[int]) -> str:
    """Return a cell, or a total by the axes that it keeps, in words."""
    parts = [
        f"{table.columns[axis]}={table.categories[axis][i]}"
        for axis, i in zip(axes, index, strict=True)
    ]
    return ", ".join(parts) or "the grand total"
