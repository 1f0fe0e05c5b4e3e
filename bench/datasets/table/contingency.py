"""Tables of counts: cross-tabulated records, a file of counts, or a population's query counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from bench.datasets.sequences.sequence_statistics import SequenceStatistics
from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.labels import Labels
from bench.datasets.table.text_table import TextTable
from mechanisms.check import IntArray
from mechanisms.deterministic.count_table import Axes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contingency:
    """A table of counts with its categories.

    Parameters
    ----------
    counts : int array of shape (*shape,)
    columns : tuple of str
        Names of the axes.
    categories : tuple of tuples of str
        Names along each axis.
    totals : tuple of tuples of int
        Which totals the source itself publishes, each by the axes that it keeps.
    notes : tuple of str
        What was merged, assumed or counted while reading.
    """

    counts: IntArray
    columns: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    totals: tuple[Axes, ...] = ()
    notes: tuple[str, ...] = ()

    def name(self, index: Sequence[int]) -> str:
        """Return the categories of one cell."""
        return ", ".join(names[i] for names, i in zip(self.categories, index, strict=True))


class CountSource(Protocol):
    """Where a table of counts comes from."""

    @property
    def table(self) -> Contingency:
        """The table."""

    @property
    def digest(self) -> str:
        """Identity of the data."""

    @property
    def synthetic(self) -> bool:
        """Whether the data are generated, none of them recorded."""


class RecordTable(Protocol):
    """A dataset with one table of records."""

    @property
    def records(self) -> TextTable:
        """The records."""

    @property
    def digest(self) -> str:
        """Identity of the data."""


@dataclass(frozen=True, kw_only=True)
class RecordCounts:
    """Records cross-tabulated by some columns, categories as they are written.

    Parameters
    ----------
    data : RecordTable
    columns : sequence of str
    """

    data: RecordTable
    columns: Sequence[str]
    synthetic = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", check_columns(self.columns))

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.data.digest

    @cached_property
    def labels(self) -> tuple[Labels, ...]:
        """The columns, coded."""
        return tuple(self.data.records.labels(column) for column in self.columns)

    @cached_property
    def table(self) -> Contingency:
        """Cross-tabulate."""
        shape = tuple(len(labels.names) for labels in self.labels)
        counts = np.zeros(shape, dtype=np.int64)
        np.add.at(counts, tuple(labels.codes for labels in self.labels), 1)
        notes = [note for labels in self.labels for note in labels.notes]
        return Contingency(
            counts=counts,
            columns=tuple(self.columns),
            categories=tuple(labels.names for labels in self.labels),
            notes=(*self.data.records.notes, *notes),
        )


class HasSequenceStatistics(Protocol):
    """A population of check-ins or activities."""

    @property
    def sequence_statistics(self) -> SequenceStatistics:
        """Its statistics."""

    @property
    def synthetic(self) -> bool:
        """Whether it is generated."""


@dataclass(frozen=True, kw_only=True)
class PopulationCounts:
    """Query counts of a population: group (district, country) by category.

    Parameters
    ----------
    population : HasSequenceStatistics
    """

    population: HasSequenceStatistics

    @property
    def synthetic(self) -> bool:
        """Whether the population is generated."""
        return self.population.synthetic

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.population.sequence_statistics.digest

    @cached_property
    def table(self) -> Contingency:
        """Return the query counts."""
        found = self.population.sequence_statistics
        return Contingency(
            counts=found.query.astype(np.int64),
            columns=("group", "category"),
            categories=(tuple(found.groups), tuple(found.states)),
            notes=tuple(found.notes),
        )


def check_columns(columns: object) -> tuple[str, ...]:
    """Return names of columns; refuse none, and one given twice."""
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        raise ValueError(f"columns must be a list of columns, got columns={columns!r}.")
    named = tuple(label_text("columns", column) for column in columns)
    if len(set(named)) < len(named):
        raise DataError(f"columns must be different, got columns={list(named)}.")
    return named
