"""Counts of one binary attribute over many public subsets of a few rows."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attacks.base import Transcript
from bench.core.cell import canonical
from bench.core.randomness import rng_for
from bench.quantities.binary_column import Bits
from bench.scenarios.base import K, look_up_fact
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.check import FloatArray, IntArray, one_of, whole
from mechanisms.influence.curve import independence
from mechanisms.influence.knowledge import CurveKnowledge
from mechanisms.knowledge import FiniteAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import every_sequence

MOST_LISTED = 10  # rows whose databases are listed, for exact laws of the counts


@dataclass(frozen=True, kw_only=True)
class SubsetCounts:
    """Release, for each of `queries` random subsets of the rows, how many have the value.

    Rows are drawn from the column with replacement, so that bits are independent with the
    column's share; the secret is the first row's bit. Subsets hold each row with probability
    1/2; they, the share and the number of rows are public (fact ``queries``).

    Parameters
    ----------
    column : Bits
        Of Adult or of a table of the user (`BinaryColumn`), or invented (`BalancedColumn`).
    rows, queries : int
    data : {"same", "new"}
        Whether every release is of the same rows, or the rows other than the secret one are drawn
        anew for each: then releases are independent given the secret.
    seed : int
        Of the subsets.
    """

    column: Bits
    rows: int = 48
    queries: int = 192
    data: Literal["same", "new"] = "same"
    seed: int = 0

    def __post_init__(self) -> None:
        whole("rows", self.rows)
        whole("queries", self.queries)
        whole("seed", self.seed, low=0)
        one_of("data", self.data, ("same", "new"))

    pairs = ((0, 1),)
    worlds_from_model = True

    @property
    def synthetic(self) -> bool:
        """Whether the column is invented."""
        return self.column.synthetic

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return ("bit=0", "bit=1")

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the counts."""
        return tuple(f"subset {i + 1}" for i in range(self.queries))

    @property
    def digest(self) -> str:
        """Identity of the column; the subsets are those of the seed."""
        read = [self.column.digest, self.column.share]
        return hashlib.sha256(canonical(read).encode()).hexdigest()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while the column was read."""
        return self.column.notes

    def check(self) -> None:
        """Load the column; refuse one in which nobody's entry is a secret."""
        self.column.bits  # noqa: B018  (computed once, kept)

    @cached_property
    def subsets(self) -> NDArray[np.int8]:
        """The subsets, shape (queries, rows), 0 or 1; the first holds every row."""
        rng = rng_for(self.seed, "subsets")
        drawn = rng.integers(0, 2, (self.queries, self.rows), dtype=np.int8)
        drawn[0] = 1  # so that every row is in one
        return drawn

    def answers_of(self, database: IntArray) -> FloatArray:
        """Return the counts ``(n, queries)`` of databases ``(n, rows)``."""
        return database.astype(np.float64) @ self.subsets.T.astype(np.float64)

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw rows from the column given the first one's bit."""
        del split  # the share is public: shadow worlds are drawn like tested ones
        database = rng.choice(self.column.bits, (len(secret), self.rows))
        database[:, 0] = secret
        return Transcript(
            secret=secret,
            answers=self.answers_of(database),
            database=database,
            public={"queries": np.broadcast_to(self.subsets, (len(secret), *self.subsets.shape))},
        )

    def _listed(self) -> IntArray:
        if self.rows > MOST_LISTED:
            raise NotOfferedError(
                f"the law of counts over {self.rows} rows is too large, {MOST_LISTED} are the most"
            )
        return every_sequence(2, self.rows)

    def database_law(self, secret: int) -> FiniteLaw:
        """Return the law of the rows given the first one's bit, up to 10 rows."""
        rows = self._listed()
        rows = rows[rows[:, 0] == secret]
        share = self.column.share
        weights = np.where(rows[:, 1:] == 1, share, 1 - share).prod(axis=1)
        return FiniteLaw(atoms=rows, weights=weights / weights.sum())

    def law(self, secret: int) -> FiniteLaw:
        """Return the law of the counts given the first row's bit, up to 10 rows."""
        law = self.database_law(secret)
        return FiniteLaw(atoms=self.answers_of(law.atoms.astype(np.int64)), weights=law.weights)

    def knowledge(self, kind: type[K]) -> K:
        """Offer sensitivity for one row, that rows are independent, and laws of few rows."""
        most = float(self.subsets.sum(axis=0, dtype=np.int64).max())
        facts: dict[type[Knowledge], Knowledge] = {
            Sensitivity: Sensitivity(
                l1=most, l2=math.sqrt(most), unit="entry", size=self.rows, dimension=self.queries
            ),
            CurveKnowledge: CurveKnowledge(
                curve=independence(self.rows), public="the subsets and the share are public"
            ),
        }
        if issubclass(FiniteAnswers, kind):
            facts[FiniteAnswers] = FiniteAnswers(laws=(self.law(0), self.law(1)), pairs=self.pairs)
        return look_up_fact(facts, kind)
