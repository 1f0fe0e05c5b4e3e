"""Metrics of rankings against the true counts, group by group.

Answers are counts ``(n, [groups,] m)``. Releases are rankings (whole-number positions, the top
first) or histograms (floating-point counts), which are ranked by their largest entries; several
histograms of one answer are averaged first, of several rankings the first counts. Ties go to the
lowest position in truth and prediction. A group without any count has no truth to compare with
and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from attacks.base import Transcript
from bench.core.intervals import Estimate, exact, grouped_rate, mean
from bench.metrics.base import (
    Blocks,
    Labelled,
    Names,
    Needs,
    NotMeasurableError,
    leaves_nothing_to_chance,
    per_world,
)
from mechanisms.base import Mechanism
from mechanisms.check import FloatArray, IntArray, one_of, whole
from mechanisms.top_k.ranking import largest

Relevance = Literal["rank", "count", "binary"]
RELEVANCES = ("rank", "count", "binary")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyAtRank:
    """Acc@k: share of groups and repetitions whose k-th place is exactly right.

    Parameters
    ----------
    rank : int
        k, from 1.
    """

    needs: ClassVar[Needs] = "releases"
    higher_is_better: ClassVar[bool] = True
    rank: int
    name: str

    def __post_init__(self) -> None:
        whole("rank", self.rank)

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the rate over groups and repetitions."""
        del names

        def hits(block: Transcript) -> FloatArray:
            counts, predicted = align_rankings(block, self.rank)
            at = predicted[..., self.rank - 1] == largest(counts, self.rank)[..., -1]
            return at.astype(np.float64)

        return {"": rate_of(hits, games, mechanism)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanAccuracy:
    """Average of Acc@1 to Acc@K: share of the first K places that are exactly right.

    Parameters
    ----------
    k : int
        K.
    """

    needs: ClassVar[Needs] = "releases"
    higher_is_better: ClassVar[bool] = True
    k: int
    name: str

    def __post_init__(self) -> None:
        whole("k", self.k)

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the rate over groups and repetitions."""
        del names

        def right(block: Transcript) -> FloatArray:
            counts, predicted = align_rankings(block, self.k)
            return (predicted == largest(counts, self.k)).mean(axis=-1)

        return {"": rate_of(right, games, mechanism)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRate:
    """HR@K: share of the true top K that is predicted, in any order.

    Parameters
    ----------
    k : int
        K.
    """

    needs: ClassVar[Needs] = "releases"
    higher_is_better: ClassVar[bool] = True
    k: int
    name: str

    def __post_init__(self) -> None:
        whole("k", self.k)

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the rate over groups and repetitions."""
        del names

        def found(block: Transcript) -> FloatArray:
            return hit_rate(*align_rankings(block, self.k), self.k)

        return {"": rate_of(found, games, mechanism)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NDCG:
    """NDCG@K: discounted gain of the prediction over that of the truth.

    Parameters
    ----------
    k : int
        K.
    relevance : {"rank", "count", "binary"}
        See `ndcg`.
    """

    needs: ClassVar[Needs] = "releases"
    higher_is_better: ClassVar[bool] = True
    k: int
    name: str
    relevance: Relevance = "rank"

    def __post_init__(self) -> None:
        whole("k", self.k)
        check_relevance(self.relevance)

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the mean over groups and repetitions."""
        del names

        def gain(block: Transcript) -> FloatArray:
            return ndcg(*align_rankings(block, self.k), self.k, self.relevance)

        return {"": mean_of(gain, games, mechanism)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountError:
    """Sum over the first K places of |count of the predicted - count of the true category|.

    Parameters
    ----------
    k : int
        K.
    """

    needs: ClassVar[Needs] = "releases"
    k: int
    name: str

    def __post_init__(self) -> None:
        whole("k", self.k)

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the mean over groups and repetitions, in counts."""
        del names

        def error(block: Transcript) -> FloatArray:
            return count_error(*align_rankings(block, self.k), self.k)

        return {"": mean_of(error, games, mechanism)}


Value = Callable[[Transcript], FloatArray]


def rate_of(hits: Value, games: Sequence[Blocks], mechanism: Mechanism) -> Estimate:
    """Estimate a rate from hits ``(n, groups)``; nothing is estimated where nothing is random."""
    found = [per_world(game, hits) for game in games]
    if leaves_nothing_to_chance(games, mechanism):
        return exact(float(found[0].mean()))
    return grouped_rate(found)


def mean_of(values: Value, games: Sequence[Blocks], mechanism: Mechanism) -> Estimate:
    """Estimate a mean of ``(n, groups)`` values, or return it where nothing is random."""
    found = [per_world(game, values) for game in games]
    if leaves_nothing_to_chance(games, mechanism):
        return exact(float(found[0].mean()))
    return mean([v.mean(axis=1) for v in found])


def align_rankings(block: Transcript, k: int) -> tuple[FloatArray, IntArray]:
    """Return true counts ``(n or 1, groups, m)`` and predicted rankings ``(n, groups, k)``.

    Raises
    ------
    NotMeasurableError
        If there are fewer than k categories or places, or no group has a count.
    """
    counts = np.asarray(block.answers, dtype=np.float64)
    first = block.releases[:, 0]
    if k > counts.shape[-1]:
        raise NotMeasurableError(f"k={k} exceeds the {counts.shape[-1]} categories")
    if np.issubdtype(first.dtype, np.integer):
        predicted = np.asarray(first, dtype=np.int64)
    elif first.shape == counts.shape:
        predicted = largest(np.asarray(block.releases, dtype=np.float64).mean(axis=1), k)
    else:
        raise NotMeasurableError(
            f"releases of shape {first.shape[1:]} are neither rankings nor histograms"
        )
    if predicted.shape[:-1] != counts.shape[:-1] or predicted.shape[-1] < k:
        raise NotMeasurableError(f"rankings of {predicted.shape[-1]} places have no top {k}")
    if counts.ndim == 2:
        counts, predicted = counts[:, None], predicted[:, None]
    if (counts == counts[:1]).all():
        counts = counts[:1]  # the same truth in every repetition: ranked once
    filled = (counts > 0).any(axis=(0, 2))
    if not filled.any():
        raise NotMeasurableError("no group has a count")
    return counts[:, filled], predicted[:, filled, :k]


def hit_rate(counts: FloatArray, predicted: IntArray, k: int) -> FloatArray:
    """Return ``|predicted & true| / k`` of each group, shape (...)."""
    truth = largest(counts, k)
    found = predicted[..., :k, None] == truth[..., None, :]
    return found.any(axis=-1).sum(axis=-1) / k


def ndcg(
    counts: FloatArray, predicted: IntArray, k: int, relevance: Relevance = "rank"
) -> FloatArray:
    """Return NDCG@k of each group, shape (...), in [0, 1].

    ``DCG = sum over places p = 1..k of rel(category at p) / log2(p + 1)``, over that of the true
    ranking; the relevance of a category is

    - ``"rank"``: the number of categories that it beats, m - rank, linear over all m;
    - ``"count"``: its count;
    - ``"binary"``: 1 inside the true top k, else 0.

    Bai et al. (2026) leave it open; only ``"rank"`` agrees with their pairs of hit rate and NDCG.
    A group whose true ranking gains nothing (a single category by rank) has NDCG 1.
    """
    check_relevance(relevance)
    order = largest(counts, counts.shape[-1])
    if relevance == "count":
        gains = np.asarray(counts, dtype=np.float64)
    else:
        places = np.argsort(order, axis=-1)
        size = counts.shape[-1]
        gains = (size - 1.0 - places) if relevance == "rank" else (places < k).astype(np.float64)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    got, best = (
        (np.take_along_axis(gains, at[..., :k], axis=-1) * discounts).sum(axis=-1)
        for at in (predicted, order)
    )
    return np.divide(got, best, out=np.ones_like(got), where=best > 0)


def count_error(counts: FloatArray, predicted: IntArray, k: int) -> FloatArray:
    """Return ``sum over p of |count(predicted at p) - count(true at p)|`` of each group."""
    got, true = (
        np.take_along_axis(counts, at[..., :k], axis=-1) for at in (predicted, largest(counts, k))
    )
    return np.abs(got - true).sum(axis=-1)


def check_relevance(relevance: object) -> None:
    """Refuse a relevance that does not exist."""
    one_of("relevance", relevance, RELEVANCES)
