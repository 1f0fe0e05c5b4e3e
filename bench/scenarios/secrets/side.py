"""What an adversary knows of the records under one value of a secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bench.scenarios.subsets import sum_features, without_replacement
from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.finite import FiniteLaw


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """`count` records drawn at random from some rows, without replacement.

    Parameters
    ----------
    features : array of shape (r, m)
        What each row adds to the answer.
    count : int
    """

    features: FloatArray
    count: int

    @property
    def mean(self) -> FloatArray:
        """Expected sum, shape (m,)."""
        return self.count * self.features.mean(axis=0)

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the sum: ``count (1 - count / r) C``, with C of divisor r - 1."""
        factor = self.count * (1 - self.count / len(self.features))
        return factor * np.atleast_2d(np.cov(self.features, rowvar=False))

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw sums, shape (size, m)."""
        chosen = without_replacement(len(self.features), self.count, size, rng)
        return sum_features(self.features, chosen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Independent:
    """`count` independent records, each from the second group with probability `share`.

    Parameters
    ----------
    groups : pair of arrays of shape (r, m)
        What each row of the two groups adds to the answer.
    share : float in [0, 1]
    count : int
    """

    groups: tuple[FloatArray, FloatArray]
    share: float
    count: int

    @property
    def mean(self) -> FloatArray:
        """Expected sum, shape (m,)."""
        first, second = (g.mean(axis=0) for g in self.groups)
        return self.count * ((1 - self.share) * first + self.share * second)

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the sum: inside the groups, and of their means."""
        first, second = (np.atleast_2d(np.cov(g, rowvar=False)) for g in self.groups)
        apart = self.groups[1].mean(axis=0) - self.groups[0].mean(axis=0)
        mixed = self.share * (1 - self.share) * np.outer(apart, apart)
        return self.count * ((1 - self.share) * first + self.share * second + mixed)

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw sums, shape (size, m)."""
        second = rng.random((size, self.count)) < self.share
        lengths = [len(g) for g in self.groups]
        low, high = np.where(second, lengths[0], 0), np.where(second, sum(lengths), lengths[0])
        return sum_features(np.concatenate(self.groups), rng.integers(low, high))


class Drawn(Protocol):
    """Records that the adversary does not know."""

    @property
    def count(self) -> int:
        """How many."""

    @property
    def mean(self) -> FloatArray:
        """Expected sum of what they add."""

    @property
    def covariance(self) -> FloatArray:
        """Covariance of that sum."""

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw such sums."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """A known sum of records, and parts that are drawn; independent of each other.

    Parameters
    ----------
    known : array of shape (m,)
    drawn : tuple of Drawn
    """

    known: FloatArray
    drawn: tuple[Drawn, ...] = field(default=())

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the exact mean and covariance of the answer."""
        size = self.known.size
        mean = self.known + sum((p.mean for p in self.drawn), np.zeros(size))
        return mean, sum((p.covariance for p in self.drawn), np.zeros((size, size)))

    def law(self) -> AnswerLaw:
        """Return a point, the finite law of one drawn record, or the Gaussian of these moments."""
        if not self.drawn:
            return FiniteLaw(atoms=self.known[None], weights=np.ones(1))
        match self.drawn:
            case (Part(count=1, features=features),):
                return FiniteLaw.of_sample(self.known + features)
        mean, covariance = self.moments()
        return GaussianLaw(mean=mean, covariance=covariance)

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw answers from the records, shape (size, m)."""
        answers = np.broadcast_to(self.known, (size, self.known.size)).copy()
        for part in self.drawn:
            answers += part.sample(size, rng)
        return answers


def rows_but(n: int, rows: IntArray) -> IntArray:
    """Return the numbers of all `n` rows but some."""
    return np.setdiff1d(np.arange(n), rows, assume_unique=True)
