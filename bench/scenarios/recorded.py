"""What records say of the answers: laws counted in records, and resampled with their units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.finite import FiniteLaw


class Recorded(Protocol):
    """Laws of the answer on records, one a secret.

    ``unit`` is what is drawn anew to tell the error that finitely many records leave, ``n_units``
    how many there are, ``words`` what the laws are, ``stand_in`` whether they are Gaussian
    stand-ins with the records' moments instead of the laws themselves.
    """

    @property
    def unit(self) -> str:
        """What is resampled: "user" or "record"."""

    @property
    def n_units(self) -> int:
        """How many of them there are."""

    @property
    def words(self) -> str:
        """Of what the laws are."""

    @property
    def stand_in(self) -> bool:
        """Whether the laws are Gaussian ones with the records' moments."""

    @property
    def laws(self) -> tuple[AnswerLaw, ...]:
        """The law under each secret."""

    def resampled(self, rng: np.random.Generator) -> tuple[AnswerLaw, ...] | None:
        """Return the laws of as many units drawn with replacement; None if a secret got none."""


@runtime_checkable
class HasRecorded(Protocol):
    """A scenario with records behind it: the law of the answers on them can be counted."""

    def recorded(self) -> Recorded:
        """Return these laws; raise NotOfferedError with the reason where there are none."""


@runtime_checkable
class HasEstimates(Protocol):
    """A scenario that tells whether what calibrates the noise was read off protected records."""

    @property
    def estimated(self) -> str:
        """How the protected records got into the calibration; empty where they did not."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedAnswers:
    """Answers seen in records, each row belonging to a unit.

    Parameters
    ----------
    answers : one array of shape (n, m) a secret
        In units of the query.
    units : one array of shape (n,) a secret
        Number of the unit that each row belongs to.
    sizes : array of shape (n_units,)
        How many equal units stand behind each number: 1, or a table's column of counts.
    unit, words : str
    """

    answers: Sequence[FloatArray]
    units: Sequence[IntArray]
    sizes: IntArray
    unit: str
    words: str

    stand_in = False

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.sizes.sum())

    @cached_property
    def _atoms(self) -> list[tuple[FloatArray, IntArray]]:
        return [np.unique(rows, axis=0, return_inverse=True) for rows in self.answers]

    @property
    def laws(self) -> tuple[FiniteLaw, ...]:
        """The law under each secret: every row counts once, or as often as its unit."""
        found = self._weighed(self.sizes.astype(np.float64))
        assert found is not None, "every secret has a row"
        return found

    def resampled(self, rng: np.random.Generator) -> tuple[FiniteLaw, ...] | None:
        """Draw as many units with replacement, all rows of a unit together (Efron, 1979)."""
        return self._weighed(rng.multinomial(self.n_units, self.sizes / self.n_units))

    def _weighed(self, multiples: FloatArray | IntArray) -> tuple[FiniteLaw, ...] | None:
        found = []
        for (atoms, place), units in zip(self._atoms, self.units, strict=True):
            weights = np.bincount(place.ravel(), weights=multiples[units], minlength=len(atoms))
            if not weights.any():
                return None
            found.append(FiniteLaw(atoms=atoms, weights=weights / weights.sum()))
        return tuple(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedMoments:
    """Gaussian laws with the exact moments of statistics of random subsets of records.

    Parameters
    ----------
    features : one array of shape (n, m) a kind of record
        What a record adds to the sums.
    moments : function of such arrays
        Returns one (mean, covariance) a secret.
    words : str
    """

    features: Sequence[FloatArray]
    moments: Callable[[Sequence[FloatArray]], Sequence[tuple[FloatArray, FloatArray]]]
    words: str

    unit = "record"
    stand_in = True

    @property
    def n_units(self) -> int:
        """How many records there are."""
        return sum(len(rows) for rows in self.features)

    @property
    def laws(self) -> tuple[GaussianLaw, ...]:
        """The Gaussian of each secret."""
        return self._of(self.features)

    def resampled(self, rng: np.random.Generator) -> tuple[GaussianLaw, ...]:
        """Draw as many records of each kind with replacement."""
        return self._of([rows[rng.integers(len(rows), size=len(rows))] for rows in self.features])

    def _of(self, features: Sequence[FloatArray]) -> tuple[GaussianLaw, ...]:
        return tuple(GaussianLaw(mean=m, covariance=c) for m, c in self.moments(features))
