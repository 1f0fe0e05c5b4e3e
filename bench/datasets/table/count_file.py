"""A table of counts of the user: records to count, or one row a cell, with totals or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.contingency import Contingency, RecordCounts, check_columns
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import Columns, TableFile
from mechanisms.check import IntArray, one_of
from mechanisms.deterministic.count_table import Axes, Margin, check_margins, counts

ABSENT = ("refused", "zero")


@dataclass(frozen=True, kw_only=True)
class CountFile:
    """A file whose rows are records, or cells with their counts.

    Parameters
    ----------
    file : TableFile
    columns : sequence of str
        The axes of the table.
    count : str, optional
        Column of the counts, where a row is a cell; None counts rows.
    total : str, optional
        Label that stands for a total over a column. Such rows are published totals; they must be
        whole and add up.
    absent : {"refused", "zero"}
        What a cell without a row is, where rows are cells.
    """

    file: TableFile
    columns: Sequence[str]
    count: str | None = None
    total: str | None = None
    absent: str = "refused"
    synthetic = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", check_columns(self.columns))
        one_of("absent", self.absent, ABSENT)
        if self.total is not None:
            label_text("total", self.total)
            if self.count is None:
                raise ValueError("total names rows of totals: it needs count=..., got none.")

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return self.file.digest

    @cached_property
    def table(self) -> Contingency:
        """Read the file; refuse what is no table of counts."""
        if self.count is None:
            data = Columns(file=self.file, wanted=tuple(self.columns))
            return RecordCounts(data=data, columns=self.columns).table
        read = self.file.read(*self.columns, self.count)
        labels = [read.labels(column) for column in self.columns]
        numbers = self._checked(read.numbers(self.count))
        codes = np.stack([found.codes for found in labels], axis=1)
        is_total = np.zeros(codes.shape, dtype=bool)
        categories = []
        for axis, found in enumerate(labels):
            kept = [name for name in found.names if name != self.total]
            is_total[:, axis] = [found.names[code] == self.total for code in codes[:, axis]]
            place = {name: kept.index(name) if name in kept else -1 for name in found.names}
            codes[:, axis] = [place[found.names[code]] for code in codes[:, axis]]
            categories.append(tuple(kept))
        table = Contingency(
            counts=np.zeros(tuple(len(kept) for kept in categories), dtype=np.int64),
            columns=tuple(self.columns),
            categories=tuple(categories),
            notes=(*read.notes, *(note for found in labels for note in found.notes)),
        )
        if not all(table.counts.shape):
            raise DataError(f"{self.file.path} has no cells, only totals.")
        cells = self._placed(table, codes, numbers, np.zeros(len(self.columns), dtype=bool))
        absent = int((cells < 0).sum())
        notes = table.notes
        if absent:
            notes = (*notes, f"{absent} cells without a row are 0")
        table = replace(table, counts=np.maximum(cells, 0), notes=notes)
        return replace(table, totals=self._totals(table, codes, numbers, is_total))

    def _checked(self, numbers: np.ndarray) -> IntArray:
        try:
            return counts("counts", numbers)
        except ValueError:
            bad = (numbers < 0) | (numbers != np.floor(numbers))
            row = int(bad.argmax())
            kind = "negative" if numbers[row] < 0 else "fractional"
            raise DataError(
                f"{self.file.path}: column {self.count!r} must hold whole numbers from 0 on, got "
                f"the {kind} {numbers[row]:g} in data row {row + 1} ({int(bad.sum())} such rows)."
            ) from None

    def _placed(
        self, table: Contingency, codes: IntArray, numbers: IntArray, summed: np.ndarray
    ) -> IntArray:
        """Return the counts of the rows whose totals are over `summed` axes; -1 without a row."""
        rows = ((codes < 0) == summed).all(axis=1)
        shape = tuple(n for n, over in zip(table.counts.shape, summed, strict=True) if not over)
        found = np.full(shape, -1, dtype=np.int64)
        where = tuple(codes[rows][:, ~summed].T)
        times = np.zeros(shape, dtype=np.int64)
        np.add.at(times, where, 1)
        found[where] = numbers[rows]
        for wrong, what in ((times > 1, "several rows"), (times == 0, "no row")):
            if not wrong.any() or (what == "no row" and self.absent == "zero"):
                continue
            index = np.argwhere(wrong)[0]
            axes = np.flatnonzero(~summed)
            cell = ", ".join(
                f"{table.columns[axis]}={table.categories[axis][i]}"
                for axis, i in zip(axes, index, strict=True)
            )
            total = " total" if summed.any() else ""
            hint = "; absent=zero takes such cells as 0" if what == "no row" else ""
            raise DataError(
                f"{self.file.path}: every{total or ' cell'} must have one row, got {what} for "
                f"{cell or 'the grand total'} ({int(wrong.sum())} such){hint}."
            )
        return found

    def _totals(
        self, table: Contingency, codes: IntArray, numbers: IntArray, is_total: np.ndarray
    ) -> tuple[Axes, ...]:
        kinds = {tuple(row) for row in is_total.tolist() if any(row)}
        margins: list[Margin] = []
        for kind in sorted(kinds):
            summed = np.array(kind)
            axes = tuple(int(axis) for axis in np.flatnonzero(~summed))
            placed = np.maximum(self._placed(table, codes, numbers, summed), 0)
            margins.append(Margin.exact(axes, placed))
        everything = tuple(range(len(self.columns)))
        try:
            check_margins(table.counts.shape, [Margin.exact(everything, table.counts), *margins])
        except ValueError as error:
            raise DataError(f"{self.file.path}: {error}") from None
        return tuple(margin.axes for margin in margins)
