"""A table of counts of a subset of records; the secret is the share of records with a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attacks.base import Transcript
from bench.core.randomness import rng_for
from bench.datasets.source import DataError
from bench.datasets.table.contingency import Contingency, RecordCounts
from bench.scenarios.base import K, look_up_fact
from bench.scenarios.cell_counts import NONE, axes_of, check_margin_option, margin_fact
from bench.scenarios.statistics import Count
from bench.scenarios.subset_sizes import SPLITS, check_split, check_whole
from bench.scenarios.subsets import without_replacement
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.check import IntArray, whole, within
from mechanisms.deterministic.cell_receivers import CellReceivers
from mechanisms.deterministic.knowledge import CountTable
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.answer import AnswerLaw
from mechanisms.privacy.persuasive.cell_priors import GeometricPrior, WindowPrior


@dataclass(frozen=True, kw_only=True)
class CellProperty:
    """Release the cross-tabulation of `size` records of which a share .5 -+ gap/2 has a property.

    Parameters
    ----------
    source : RecordCounts
        The records, and the columns of the table.
    having : Count
        What a record can have.
    gap : float in (0, 1)
    size : int
    split : pair of int
        Records for shadow and test worlds, drawn as in `PropertySubsets`; the rest is not used.
    margins, typical, known_within
        As in `bench.scenarios.cell_counts.CellCounts`.
    seed : int
        Of the split.
    """

    source: RecordCounts
    having: Count
    gap: float
    size: int = 100
    split: tuple[int, int] = (10_000, 10_000)
    margins: Any = NONE
    typical: Sequence[float] = (1.0, 3.0, 10.0, 30.0, 100.0)
    known_within: Sequence[int] = (2, 5, 20)
    seed: int = 0

    pairs = ((0, 1),)
    synthetic = False
    worlds_from_model = False

    def __post_init__(self) -> None:
        within("gap", self.gap, 0, 1, ends="()")
        whole("size", self.size)
        whole("seed", self.seed, low=0)
        check_whole(self.size, self.gap)
        check_margin_option(self.margins)
        self._receivers  # noqa: B018  (refuses what is no prior)

    @cached_property
    def _receivers(self) -> CellReceivers:
        geometric = (GeometricPrior(mean=float(mean)) for mean in self.typical)
        windows = (WindowPrior(width=width) for width in self.known_within)
        return CellReceivers(priors=(*geometric, *windows))

    @property
    def shares(self) -> tuple[float, float]:
        """The two shares of records with the property."""
        return (0.5 - self.gap / 2, 0.5 + self.gap / 2)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return tuple(f"{self.having.column}={share:g}" for share in self.shares)

    @property
    def table(self) -> Contingency:
        """The table of all records."""
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
    def notes(self) -> tuple[str, ...]:
        """How the records were read."""
        return self.table.notes

    def check(self) -> None:
        """Load the records; refuse columns, sizes and totals that do not fit them."""
        self._members  # noqa: B018  (computed once, kept)
        axes_of(self.margins, self.table)

    @cached_property
    def _members(self) -> dict[str, tuple[IntArray, IntArray]]:
        """Row numbers of each split: those without and those with the property."""
        has = self.having.feature(self.source.data.records) > 0
        if has.all() or not has.any():
            raise DataError(f"property {self.having.name!r} is constant.")
        order = rng_for(self.seed, "split").permutation(len(has))
        check_split(has[order], self.split, self.size, self.gap)
        parts = np.split(order, np.cumsum(self.split))
        return {
            name: (part[~has[part]], part[has[part]])
            for name, part in zip(SPLITS, parts, strict=True)
        }

    @cached_property
    def _cell_of(self) -> IntArray:
        """The flat cell of every record."""
        codes = tuple(labels.codes for labels in self.source.labels)
        return np.ravel_multi_index(codes, self.table.counts.shape).astype(np.int64)

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw subsets of the split's records, and tabulate them."""
        shape = self.table.counts.shape
        size = int(np.prod(shape))
        tables = np.empty((len(secret), size), dtype=np.int64)
        for value, share in enumerate(self.shares):
            where = np.flatnonzero(secret == value)
            count = round(share * self.size)
            takes = (self.size - count, count)
            chosen = np.concatenate(
                [
                    rows[without_replacement(len(rows), take, len(where), rng)]
                    for rows, take in zip(self._members[split], takes, strict=True)
                ],
                axis=1,
            )
            flat = self._cell_of[chosen] + size * np.arange(len(where))[:, None]
            counted = np.bincount(flat.ravel(), minlength=size * len(where))
            tables[where] = counted.reshape(len(where), size)
        answers = tables.reshape(len(secret), *shape)
        margins = margin_fact(answers, axes_of(self.margins, self.table))
        return Transcript(secret=secret, answers=answers, public={"margins": margins})

    @cached_property
    def _facts(self) -> dict[type[Knowledge], Knowledge]:
        shape = self.table.counts.shape
        return {
            CountTable: CountTable(shape=shape, margins=axes_of(self.margins, self.table)),
            CellReceivers: self._receivers,
            # As in `CellCounts`: scales are those of the last axis, the same in every cell.
            Sensitivity: Sensitivity(
                l1=2.0, l2=2.0**0.5, unit="record", size=self.size, dimension=shape[-1]
            ),
        }

    def knowledge(self, kind: type[K]) -> K:
        """Offer the table's form, the receivers, and the sensitivity of the counts."""
        return look_up_fact(self._facts, kind)

    def law(self, secret: int) -> AnswerLaw:
        """Refuse: subsets are drawn from records."""
        del secret
        raise NotOfferedError("tables of subsets are drawn from records: no law is known")
