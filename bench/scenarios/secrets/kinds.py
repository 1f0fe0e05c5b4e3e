"""Which secrets one release has: who is in it, a person's attribute, the share of a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, Protocol

import numpy as np

from bench.datasets.source import DataError
from bench.scenarios.secrets.side import Independent, Part, Side, rows_but
from mechanisms.check import FloatArray, IntArray, one_of, whole

Others = Literal["known", "drawn"]
OTHERS = ("known", "drawn")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """What a secret is made of.

    Parameters
    ----------
    features : array of shape (N, m)
        What each record adds to the answer.
    moves : array of shape (m,)
        Largest change of each statistic when one record is replaced.
    size : int
        Records in a release.
    has : array of shape (N,)
        Which records have the property of the scenario.
    shares : pair of float
        The property's two shares.
    """

    features: FloatArray
    moves: FloatArray
    size: int
    has: FloatArray
    shares: tuple[float, float]


class Kind(Protocol):
    """A secret of one release.

    ``replaced`` is how many records differ, at most, between coupled databases of two values of
    the secret; None where any number may.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the secret's values."""

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Which of them are to be kept apart."""

    @property
    def replaced(self) -> int | None:
        """Records that a coupling of the two sides replaces."""

    def sides(self, records: Records) -> tuple[Side, ...]:
        """Return what the adversary knows under each value."""


@dataclass(frozen=True, kw_only=True)
class Members:
    """Whether these records are in the release, or others in their place.

    Parameters
    ----------
    rows : sequence of int
        Row numbers from 0. One row is membership, several are a group.
    others : {"known", "drawn"}
        Whether the adversary knows the other records of the release, and the records that stand
        in their place (informed), or the population only (average): *out* is then a release of
        records drawn from all others.
    instead : sequence of int
        The records in their place, if the others are known.
    """

    rows: Sequence[int]
    others: Others = "drawn"
    instead: Sequence[int] = ()
    names = ("out", "in")
    pairs = ((0, 1),)

    def __post_init__(self) -> None:
        one_of("others", self.others, OTHERS)
        if not self.rows or len(set(self.rows)) < len(self.rows):
            raise ValueError(f"rows must be different row numbers, got {list(self.rows)}.")
        for row in (*self.rows, *self.instead):
            whole("a row number", row, low=0)
        if self.others == "known" and len(self.instead) != len(self.rows):
            raise ValueError(
                f"instead must name {len(self.rows)} rows, one for each of rows, "
                f"got {list(self.instead)}."
            )

    @property
    def replaced(self) -> int:
        """All of the group."""
        return len(self.rows)

    def sides(self, records: Records) -> tuple[Side, ...]:
        """Return *out* and *in*."""
        features, n = records.features, records.size
        rows = taken(self.rows, len(features))
        inside = features[rows].sum(axis=0)
        if self.others == "known":
            outside = features[taken(self.instead, len(features))].sum(axis=0)
            return Side(known=outside), Side(known=inside)
        if len(rows) >= n:
            raise DataError(f"a release of {n} records cannot hold {len(rows)} and others.")
        pool = features[rows_but(len(features), rows)]
        return (
            Side(known=np.zeros_like(inside), drawn=(Part(features=pool, count=n),)),
            Side(known=inside, drawn=(Part(features=pool, count=n - len(rows)),)),
        )


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """Whether one person of the release has the scenario's property.

    The person's record is drawn from the records with that value of the property. (Where the whole
    record but a property that no statistic reads is known, and the others are drawn without regard
    to it, nothing leaks, whatever is released.)

    Parameters
    ----------
    others : {"known", "drawn"}
        Whether the adversary knows the other records.
    """

    others: Others = "drawn"
    names = ("without", "with")
    pairs = ((0, 1),)
    replaced = 1

    def __post_init__(self) -> None:
        one_of("others", self.others, OTHERS)

    def sides(self, records: Records) -> tuple[Side, ...]:
        """Return the record without the property, and with it."""
        nothing = np.zeros(records.features.shape[1])
        rest = Part(features=records.features, count=records.size - 1)
        drawn = (rest,) if self.others == "drawn" else ()
        return tuple(
            Side(
                known=nothing,
                drawn=(Part(features=records.features[records.has == v], count=1), *drawn),
            )
            for v in (0, 1)
        )


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One person's value of a counted statistic, when everything else is known.

    Parameters
    ----------
    statistic : int
        Which coordinate of the answer counts it.
    """

    statistic: int
    names = ("without", "with")
    pairs = ((0, 1),)
    replaced = 1

    def __post_init__(self) -> None:
        whole("statistic", self.statistic, low=0)

    def sides(self, records: Records) -> tuple[Side, ...]:
        """Return the answer without the person's count, and with it."""
        m = records.features.shape[1]
        if self.statistic >= m:
            raise DataError(f"statistic must be below {m}, got statistic={self.statistic}.")
        move = np.zeros(m)
        move[self.statistic] = records.moves[self.statistic]
        return Side(known=np.zeros(m)), Side(known=move)


@dataclass(frozen=True, kw_only=True)
class Corners:
    """One record replaced by any other of the domain, everything else known: the worst corner.

    Parameters
    ----------
    dimension : int
        Number of statistics.
    """

    dimension: int
    replaced = 1

    def __post_init__(self) -> None:
        whole("dimension", self.dimension)
        if self.dimension > 10:
            raise ValueError(f"dimension must be at most 10, got dimension={self.dimension}.")

    @property
    def _signs(self) -> IntArray:
        return np.array(list(product((-1, 1), repeat=self.dimension)))

    @property
    def names(self) -> tuple[str, ...]:
        """The corners of the box of all records, by their signs."""
        return tuple("".join("-+"[int(s > 0)] for s in signs) for signs in self._signs)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Opposite corners: leakage is convex in the move, so that no other move is worse."""
        last = 2**self.dimension - 1
        return tuple((i, last - i) for i in range(2 ** (self.dimension - 1)))

    def sides(self, records: Records) -> tuple[Side, ...]:
        """Return half a move from the middle to each corner."""
        if records.moves.size != self.dimension:
            raise DataError(
                f"dimension must be {records.moves.size}, got dimension={self.dimension}."
            )
        return tuple(Side(known=signs * records.moves / 2) for signs in self._signs)


@dataclass(frozen=True, kw_only=True)
class RandomShare:
    """The population's share of the property: the release holds a binomial number of such records.

    The two shares are those of the scenario; there, the counts are exact.
    """

    names = ("low share", "high share")
    pairs = ((0, 1),)
    replaced = None

    def sides(self, records: Records) -> tuple[Side, ...]:
        """Return the sums of n independent records, each with the property by the share."""
        groups = tuple(records.features[records.has == v] for v in (0, 1))
        m = records.features.shape[1]
        nothing, n = np.zeros(m), records.size
        return tuple(
            Side(known=nothing, drawn=(Independent(groups=groups, share=share, count=n),))
            for share in records.shares
        )


def taken(rows: Sequence[int], n: int) -> IntArray:
    """Return row numbers as an array; refuse those that the table does not have."""
    array = np.asarray(rows, dtype=np.int64)
    if array.max() >= n:
        raise DataError(f"row numbers must be below {n}, got {int(array.max())}.")
    return array
