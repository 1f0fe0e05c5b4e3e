"""Differencing: two harmless queries whose difference is one record, one value or one category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.check import Array, FloatArray, IntArray, finite, whole, within
from mechanisms.deterministic.count_table import BoolArray


class QueryPair(Protocol):
    """Two sets of records, the inner one part of the outer."""

    def members(self, records: Array) -> tuple[BoolArray, BoolArray]:
        """Return who of ``(n_trials, n, m)`` is in the outer and inner set: (n_trials, n)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPair:
    """Everyone, and everyone but one record.

    Parameters
    ----------
    record : int
        Index of the target.
    """

    record: int

    def __post_init__(self) -> None:
        whole("record", self.record, low=0)

    def members(self, records: Array) -> tuple[BoolArray, BoolArray]:
        """Return who is in the outer and the inner set, each of shape (n_trials, n)."""
        if self.record >= records.shape[1]:
            raise ValueError(
                f"record must be below the {records.shape[1]} records, got record={self.record}."
            )
        outer = np.ones(records.shape[:2], dtype=bool)
        inner = outer.copy()
        inner[:, self.record] = False
        return outer, inner


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdPair:
    """Records at most one bound, and at most a smaller one: those between are told.

    Parameters
    ----------
    column : int
    inner, outer : float
        Bounds, the inner one smaller.
    """

    column: int
    inner: float
    outer: float

    def __post_init__(self) -> None:
        if not self.inner < self.outer:
            raise ValueError(
                f"inner must be below outer, got inner={self.inner!r}, outer={self.outer!r}."
            )

    def members(self, records: Array) -> tuple[BoolArray, BoolArray]:
        """Return who is in the outer and the inner set, each of shape (n_trials, n)."""
        values = np.asarray(records[..., self.column], dtype=np.float64)
        return values <= self.outer, values <= self.inner


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPair:
    """Records of some categories with and without one more: that category is told.

    Parameters
    ----------
    column : int
    others : tuple
        Categories of the inner set.
    extra : object
        The category that the outer set has besides.
    """

    column: int
    others: tuple[object, ...]
    extra: object

    def __post_init__(self) -> None:
        if self.extra in self.others:
            raise ValueError(f"extra must not be among the others, got extra={self.extra!r}.")

    def members(self, records: Array) -> tuple[BoolArray, BoolArray]:
        """Return who is in the outer and the inner set, each of shape (n_trials, n)."""
        values = records[..., self.column]
        inner = np.isin(values, np.asarray(self.others))
        return inner | (values == self.extra), inner


def paired_sums(pair: QueryPair, records: Array, values: Array | None = None) -> FloatArray:
    """Return the two queries' exact answers, shape (n_trials, 2): outer, inner.

    Parameters
    ----------
    pair : QueryPair
    records : array of shape (n_trials, n, m)
    values : array of shape (n_trials, n), optional
        What is summed; counts by default.
    """
    outer, inner = pair.members(np.asarray(records))
    weights = 1.0 if values is None else np.asarray(values, dtype=np.float64)
    return np.stack([(outer * weights).sum(axis=1), (inner * weights).sum(axis=1)], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differencing:
    """Guess the difference of two sums from their releases.

    Parameters
    ----------
    candidates : array of shape (n_secrets,)
        The values that the difference can have: 0 and 1 for a count over one record.
    noise_variance : float in [0, inf)
        Of the difference: the sum of both releases' variances where their noises are independent.
        0 for exact releases.
    """

    candidates: FloatArray
    noise_variance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", finite("candidates", self.candidates))
        within("noise_variance", self.noise_variance, 0, np.inf, ends="[)")

    def score(self, releases: Array) -> FloatArray:
        """Return log-scores ``(n_trials, n_secrets)`` of releases ``(n_trials, 2)``.

        The normal log-likelihood of the difference up to a constant; without noise 0 for the
        nearest candidate and -inf for the others.
        """
        pairs = np.asarray(releases, dtype=np.float64)
        gaps = (pairs[:, 0] - pairs[:, 1])[:, None] - self.candidates
        if self.noise_variance > 0:
            return -(gaps**2) / (2 * self.noise_variance)
        nearest = np.abs(gaps) == np.abs(gaps).min(axis=1, keepdims=True)
        return np.where(nearest, 0.0, -np.inf)

    def guess(self, releases: Array) -> FloatArray:
        """Return the likeliest candidate for each trial, shape (n_trials,)."""
        return self.candidates[self.score(releases).argmax(axis=1)]


def difference_limits(
    outer: tuple[IntArray, FloatArray], inner: tuple[IntArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return what two suppressed or rounded counts say of the count between them.

    Parameters
    ----------
    outer, inner : (lower, upper)
        Arrays of one shape, such as the limits or intervals of released cells.

    Returns
    -------
    lower, upper : arrays
        At least 0: the inner set is part of the outer. Equal where the difference is revealed.
    """
    lower = np.maximum(np.asarray(outer[0], dtype=np.float64) - inner[1], 0.0)
    upper = np.asarray(outer[1], dtype=np.float64) - inner[0]
    if (upper < lower).any():
        raise ValueError("the inner set must be part of the outer, got a larger inner count.")
    return lower, upper
