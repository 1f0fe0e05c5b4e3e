"""The ranking of public training data, whatever the query's answer: a baseline without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanisms.base import Knowledge, NotApplicableError, Sees
from mechanisms.check import Array, FloatArray, IntArray, finite, one_of, whole
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.top_k.ranking import largest

Scope = Literal["all", "group"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingCounts(Knowledge):
    """Category counts of the public data that the prior was fitted to.

    Parameters
    ----------
    counts : array of shape (groups, m)
        Over the coordinates of one group's answer.
    """

    counts: FloatArray

    def __post_init__(self) -> None:
        if finite("counts", self.counts).ndim != 2:
            raise ValueError(f"counts must have shape (groups, m), got {self.counts.shape}.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedRanking:
    """Release the same ranking whatever the answer.

    Parameters
    ----------
    ranking : array of shape (k,) or (groups, k)
    """

    sees: ClassVar[Sees] = "answers"
    deterministic: ClassVar[bool] = True
    ranking: IntArray

    @property
    def guarantee(self) -> NoClaim:
        """Claim nothing: the training data are taken to be public."""
        return NoClaim(reason="the training data are shown as they are, without noise")

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Return the ranking for answers ``(..., m)``, shape (..., k)."""
        del rng
        return np.broadcast_to(self.ranking, (*x.shape[:-1], self.ranking.shape[-1])).copy()

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> FinitePair:
        """Leak nothing about the query's data: the release does not depend on them."""
        del first, second, n_releases
        return FinitePair(np.ones(1), np.ones(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMajority:
    """Predict the k most frequent categories of the training data.

    Parameters
    ----------
    k : int
    scope : {"all", "group"}
        Rank the training data of all groups together, or each group's own.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Section 7.1.5 ("Majority").
    """

    requires: ClassVar = (TrainingCounts,)
    accepts: ClassVar = NoBudget
    k: int = 3
    scope: Scope = "all"

    def __post_init__(self) -> None:
        whole("k", self.k)
        one_of("scope", self.scope, ("all", "group"))

    def calibrate(self, training: TrainingCounts, *, budget: NoBudget) -> FixedRanking:
        """Rank the training counts, ties by the lowest index."""
        del budget
        counts = training.counts
        if self.k > counts.shape[1]:
            raise NotApplicableError(
                f"k={self.k} exceeds the {counts.shape[1]} categories that can be ranked"
            )
        return FixedRanking(ranking=largest(counts.sum(axis=0) if self.scope == "all" else counts,
                                            self.k))  # fmt: skip
