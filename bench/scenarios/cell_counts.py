"""Release a table of counts: cells of small counts are what is sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attacks.base import Transcript
from bench.config.build import unknown
from bench.datasets.table.contingency import Contingency, CountSource
from bench.datasets.table.count_file import CountFile
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import MISSING, TableFile
from bench.scenarios.base import K, look_up_fact
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.check import IntArray
from mechanisms.deterministic.cell_receivers import CellReceivers
from mechanisms.deterministic.count_table import Axes
from mechanisms.deterministic.knowledge import CountTable
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.answer import AnswerLaw
from mechanisms.privacy.persuasive.cell_priors import GeometricPrior, WindowPrior

NONE, EACH, GIVEN = "none", "each", "given"


@dataclass(frozen=True, kw_only=True)
class CellCounts:
    """Release one table of counts; every world is that table, and there is no secret pair.

    Parameters
    ----------
    source : CountSource
    margins : "none", "each", "given", or a list of lists of columns
        Which exact totals are public facts of the transcript: none, those of each column by
        itself, those that the source's file holds, or each list's totals; an empty list in it is
        the grand total.
    typical : sequence of float
        Receivers who think every cell geometric with this mean.
    known_within : sequence of int
        Receivers who know every cell to within so many.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, section 5.2.
    """

    source: CountSource
    margins: Any = NONE
    typical: Sequence[float] = (1.0, 3.0, 10.0, 30.0, 100.0)
    known_within: Sequence[int] = (2, 5, 20)

    secrets = ("the table",)
    pairs = ()
    worlds_from_model = False

    def __post_init__(self) -> None:
        self._priors  # noqa: B018  (refuses what is no prior)
        check_margin_option(self.margins)

    @cached_property
    def _priors(self) -> tuple[GeometricPrior | WindowPrior, ...]:
        geometric = [GeometricPrior(mean=float(mean)) for mean in self.typical]
        return (*geometric, *(WindowPrior(width=width) for width in self.known_within))

    @property
    def table(self) -> Contingency:
        """The table with its categories."""
        return self.source.table

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the cells, row by row."""
        return tuple(self.table.name(index) for index in np.ndindex(self.table.counts.shape))

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.source.digest

    @property
    def synthetic(self) -> bool:
        """Whether the counts are generated."""
        return self.source.synthetic

    @property
    def notes(self) -> tuple[str, ...]:
        """How the table was read, and which totals are public."""
        told = ", ".join(self._margin_name(axes) for axes in self.margin_axes) or "none"
        return (*self.table.notes, f"public totals: {told}")

    def _margin_name(self, axes: Axes) -> str:
        return " x ".join(self.table.columns[axis] for axis in axes) or "the grand total"

    @property
    def margin_axes(self) -> tuple[Axes, ...]:
        """The public totals, each by the axes that it keeps."""
        return axes_of(self.margins, self.table)

    def check(self) -> None:
        """Read the table, and look up the totals."""
        self.margin_axes  # noqa: B018  (refuses unknown columns)

    @cached_property
    def _facts(self) -> dict[type[Knowledge], Knowledge]:
        shape = self.table.counts.shape
        return {
            CountTable: CountTable(shape=shape, margins=self.margin_axes),
            CellReceivers: CellReceivers(priors=self._priors),
            # Replacing a record moves one count down by 1 and another up by 1; scales are those of
            # the last axis, the same in every cell.
            Sensitivity: Sensitivity(
                l1=2.0, l2=2.0**0.5, unit="record", size=max(1, int(self.table.counts.sum())),
                dimension=shape[-1],
            ),
        }  # fmt: skip

    def knowledge(self, kind: type[K]) -> K:
        """Offer the table's form, the receivers, and the sensitivity of the counts."""
        return look_up_fact(self._facts, kind)

    def law(self, secret: int) -> AnswerLaw:
        """Refuse: there is one table, and no law of it."""
        del secret
        raise NotOfferedError("the table is recorded: it has no law")

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Return the table once a world, with its public totals."""
        del split, rng
        counts = self.table.counts
        answers = np.broadcast_to(counts, (len(secret), *counts.shape))
        return Transcript(
            secret=secret,
            answers=answers,
            public={"margins": margin_fact(answers, self.margin_axes)},
        )


def cell_counts_file(
    *,
    path: str | None,
    columns: Sequence[str] | None = None,
    count: str | None = None,
    total: Any = None,  # noqa: ANN401
    absent: str = "refused",
    margins: Any = EACH,  # noqa: ANN401
    separator: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    names: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    typical: Sequence[float] = CellCounts.typical,
    known_within: Sequence[int] = CellCounts.known_within,
) -> CellCounts:
    """Build the scenario on a table of the user.

    Parameters
    ----------
    path : str
    columns, count, total, absent
        As in `bench.datasets.table.count_file.CountFile`.
    margins, typical, known_within
        As in `CellCounts`.
    separator, encoding, decimal, names, missing
        As in `bench.datasets.table.table_file.TableFile`.
    """
    if not path:
        raise ValueError("cell_counts_file needs scenario.path=..., got none.")
    file = TableFile(
        path=path, separator=separator, encoding=encoding, decimal=decimal, names=names,
        missing=missing,
    )  # fmt: skip
    source = CountFile(file=file, columns=columns, count=count, total=total, absent=absent)
    return CellCounts(source=source, margins=margins, typical=typical, known_within=known_within)


def check_margin_option(margins: object) -> None:
    """Refuse what names no totals."""
    listed = isinstance(margins, list | tuple) and all(isinstance(m, list | tuple) for m in margins)
    if margins not in (NONE, EACH, GIVEN) and not listed:
        raise ValueError(
            "margins must be none, each, given, or lists of columns such as [[job],[]], got "
            f"margins={margins!r}."
        )


def axes_of(margins: Any, table: Contingency) -> tuple[Axes, ...]:  # noqa: ANN401
    """Return the axes that each public total keeps."""
    if margins == NONE:
        return ()
    if margins == EACH:
        return tuple((axis,) for axis in range(len(table.columns)))
    if margins == GIVEN:
        return table.totals
    found = []
    for kept in margins:
        named = [label_text("margins", column) for column in kept]
        for column in named:
            if column not in table.columns:
                raise ValueError(f"margins: {unknown('column', column, table.columns)}")
        found.append(tuple(sorted(table.columns.index(column) for column in set(named))))
    return tuple(dict.fromkeys(found))


def margin_fact(tables: IntArray, margins: Sequence[Axes]) -> IntArray:
    """Return the totals of tables ``(n, *shape)`` one after the other, shape (n, totals).

    `attacks.interval.attack.split_margins` takes them apart again.
    """
    shape = tables.shape[1:]
    if not margins:
        return np.zeros((len(tables), 0), dtype=np.int64)
    parts = []
    for axes in margins:
        others = tuple(1 + axis for axis in range(len(shape)) if axis not in axes)
        parts.append(tables.sum(axis=others).reshape(len(tables), -1))
    return np.concatenate(parts, axis=1).astype(np.int64)
