"""Rankings: the k largest coordinates, and a noisy histogram ranked afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mechanisms.base import (
    Calibration,
    HasDeterminism,
    HasLeakage,
    Knowledge,
    Mechanism,
    NotApplicableError,
    Sees,
    guarantee_of,
)
from mechanisms.check import Array, IntArray, whole
from mechanisms.influence.knowledge import Candidates
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.pair import PairLeakage, PostProcessed
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.sharing import HasSplit

SCANS = 8  # up to this many picks, repeated scans are faster than a sort


def largest(values: Array, k: int) -> IntArray:
    """Return the positions of the k largest entries along the last axis, the largest first.

    Ties go to the lowest position.

    Parameters
    ----------
    values : array of shape (..., m)
        Numbers, without NaN.
    k : int in 1..m

    Returns
    -------
    array of shape (..., k)

    Examples
    --------
    >>> largest(np.array([3.0, 7.0, 7.0, 1.0]), 3).tolist()
    [1, 2, 0]
    """
    x = np.asarray(values, dtype=np.float64)
    if whole("k", k) > x.shape[-1]:
        raise ValueError(f"k must be at most the {x.shape[-1]} categories, got k={k}.")
    if np.isnan(x).any():
        raise ValueError("values to rank must not be NaN.")
    if k > SCANS or np.isneginf(x).any():
        return np.argsort(-x, axis=-1, kind="stable")[..., :k]
    left = x.copy()
    chosen = np.empty((*x.shape[:-1], k), dtype=np.int64)
    for rank in range(k):
        chosen[..., rank] = left.argmax(axis=-1)
        np.put_along_axis(left, chosen[..., rank : rank + 1], -np.inf, axis=-1)
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRelease:
    """Show only the k largest coordinates of another mechanism's release, in order.

    Post-processing: what the other mechanism claims holds, and its leakage is an upper bound.

    Parameters
    ----------
    inner : Mechanism
        Releases histograms ``(..., m)``.
    candidates : array of int
        Coordinates that may be shown.
    k : int
    """

    sees: ClassVar[Sees] = "answers"
    inner: Mechanism
    candidates: IntArray
    k: int

    @property
    def deterministic(self) -> bool:
        """Whether the other mechanism is."""
        return isinstance(self.inner, HasDeterminism) and self.inner.deterministic

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What the other mechanism guarantees."""
        return self.inner.guarantee

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what the other mechanism guarantees for several releases of one answer."""
        return guarantee_of(self.inner, n_releases)

    def split_among(self, n_releases: int) -> RankedRelease:
        """Share the other mechanism's budget among releases."""
        if not isinstance(self.inner, HasSplit):
            raise NotApplicableError("no composition theorem covers several such histograms")
        return replace(self, inner=self.inner.split_among(n_releases))

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Release rankings ``(..., k)`` of answers ``(..., m)``; ties go to the lowest index."""
        noisy = self.inner.release(x, rng)
        return self.candidates[largest(noisy[..., self.candidates], self.k)]

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Bound the leakage from above by that of the histogram (data processing)."""
        if not isinstance(self.inner, HasLeakage):
            raise NotComputableError("the histogram's release law has no known form")
        return PostProcessed(self.inner.leakage(first, second, n_releases))


@dataclass(frozen=True, kw_only=True)
class TopK:
    """Rank the k largest coordinates of the histogram that another calibration releases.

    Parameters
    ----------
    of : Calibration
        Of a mechanism that releases histograms.
    k : int
    """

    of: Calibration
    k: int = 3

    def __post_init__(self) -> None:
        whole("k", self.k)

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the other calibration requires, after the candidates."""
        return (Candidates, *self.of.requires)

    @property
    def accepts(self) -> type[Budget]:
        """The other calibration's budget."""
        return self.of.accepts

    def calibrate(
        self,
        candidates: Candidates,
        *knowledge: Any,  # noqa: ANN401
        budget: Any,  # noqa: ANN401
    ) -> RankedRelease:
        """Calibrate the histogram; the ranking costs nothing."""
        coordinates = coordinates_of(candidates, self.k)
        inner = self.of.calibrate(*knowledge, budget=budget)
        if inner.sees != "answers":
            raise NotApplicableError("a ranking needs a mechanism that releases histograms")
        return RankedRelease(inner=inner, candidates=coordinates, k=self.k)

    def without_noise(self, candidates: Candidates, *knowledge: Any) -> RankedRelease:  # noqa: ANN401
        """Rank the exact histogram: an infinite budget still shows the ranking alone."""
        del knowledge
        return exact_ranking(candidates, self.k)


def exact_ranking(candidates: Candidates, k: int) -> RankedRelease:
    """Return the exact top k."""
    return RankedRelease(inner=ExactRelease(), candidates=coordinates_of(candidates, k), k=k)


def coordinates_of(candidates: Candidates, k: int) -> IntArray:
    """Return the coordinates that may be ranked; refuse more picks than there are of them."""
    if candidates.utility != "largest":
        raise NotApplicableError("a ranking needs candidates that are coordinates of the answer")
    if k > candidates.values.size:
        raise NotApplicableError(
            f"k={k} exceeds the {candidates.values.size} categories that can be ranked"
        )
    return candidates.values.astype(np.int64)
