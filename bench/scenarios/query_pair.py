"""Two counts that differ in one target: one record, one threshold or one category."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from attacks.base import Transcript
from attacks.differencing import CategoryPair, QueryPair, RecordPair, ThresholdPair, paired_sums
from bench.datasets.source import DataError
from bench.datasets.table.contingency import RecordTable
from bench.scenarios.base import K, look_up_fact
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.check import FloatArray, IntArray, one_of, real, whole
from mechanisms.deterministic.knowledge import CountTable
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.answer import AnswerLaw

Kind = Literal["record", "threshold", "category"]


@dataclass(frozen=True, kw_only=True)
class QueryPairs:
    """Release an outer and an inner count; the secret is whether the target is between them.

    A world has `size` records: a target and others drawn from the records that are not between.

    - "record": how many records have `value` in `column`, with the target and without;
    - "threshold": how many are at most `outer`, and at most `inner`;
    - "category": how many have a label, and how many another one than `value`.

    Parameters
    ----------
    data : RecordTable
    kind : {"record", "threshold", "category"}
    column : str
    value : str, int or bool, optional
        A label, as the data write it ("record", "category").
    inner, outer : float, optional
        Bounds of a numeric column ("threshold").
    size : int
    """

    data: RecordTable
    kind: Kind
    column: str
    value: Any = None
    inner: float | None = None
    outer: float | None = None
    size: int = 100

    secrets = ("not between", "between")
    pairs = ((0, 1),)
    statistics = ("outer count", "inner count")
    synthetic = False
    worlds_from_model = False

    def __post_init__(self) -> None:
        one_of("kind", self.kind, get_args(Kind))
        whole("size", self.size, low=2)
        if self.kind == "threshold":
            for name in ("inner", "outer"):
                real(f"{name} of a threshold pair", getattr(self, name))
        elif self.value is None:
            raise ValueError(f"value must be a label of the {self.kind} pair's column, got None.")
        self._pair  # noqa: B018  (refuses what is no pair)

    @cached_property
    def _pair(self) -> QueryPair:
        if self.kind == "threshold":
            return ThresholdPair(
                column=0, inner=float(self.inner or 0), outer=float(self.outer or 0)
            )
        if self.kind == "record":
            return RecordPair(record=0)
        return CategoryPair(column=0, others=(0.0,), extra=1.0)

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.data.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """How the records were read."""
        return self.data.records.notes

    @cached_property
    def _values(self) -> FloatArray:
        """The column: numbers, or 1 for the label and 0 for others."""
        table = self.data.records
        if self.kind == "threshold":
            return table.numbers(self.column)
        labels = table.labels(self.column)
        return labels.are(labels.find("value", self.value)[0]).astype(np.float64)

    @cached_property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        """The values of records that are not between both sets, and of those that are."""
        values = self._values
        if self.kind == "threshold":
            outer, inner = self._pair.members(values[None, :, None])
            between = outer[0] & ~inner[0]
        else:
            between = values == 1
        # With and without a record: the others may be anything.
        rest = values if self.kind == "record" else values[~between]
        if not between.any() or not rest.size or between.all():
            raise DataError(f"column {self.column!r} has no record between, or none outside.")
        return rest, values[between]

    def check(self) -> None:
        """Load the column; refuse sets between which no record lies."""
        self._sides  # noqa: B018  (computed once, kept)

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw the target by its secret, and the other records."""
        del split
        rest, between = self._sides
        values = rng.choice(rest, size=(len(secret), self.size))
        outside = rest[rest == 0] if self.kind == "record" else rest
        values[:, 0] = np.where(
            secret == 1,
            rng.choice(between, size=len(secret)),
            rng.choice(outside, size=len(secret)),
        )
        summed = values if self.kind == "record" else None
        answers = paired_sums(self._pair, values[..., None], summed).astype(np.int64)
        return Transcript(secret=secret, answers=answers)

    @cached_property
    def _facts(self) -> dict[type[Knowledge], Knowledge]:
        return {
            CountTable: CountTable(shape=(2,)),
            # Replacing a record moves each of the two counts by at most 1.
            Sensitivity: Sensitivity(
                l1=2.0, l2=2.0**0.5, unit="record", size=self.size, dimension=2
            ),
        }

    def knowledge(self, kind: type[K]) -> K:
        """Offer the counts' form and sensitivity."""
        return look_up_fact(self._facts, kind)

    def law(self, secret: int) -> AnswerLaw:
        """Refuse: worlds are drawn from records."""
        del secret
        raise NotOfferedError("counts of drawn records: no law is known")
