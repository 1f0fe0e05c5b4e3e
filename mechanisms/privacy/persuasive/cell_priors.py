"""Priors of independent cells of a table: which counts a receiver thinks likely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.check import FloatArray, IntArray, finite, positive, whole


class CellPrior(Protocol):
    """Independent priors of all cells; they may depend on the true table, as a class Q_x may."""

    @property
    def name(self) -> str:
        """How tables name the receiver."""

    def probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return the probability of ``low <= count <= high`` in each cell of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricPrior:
    """Every cell has a geometric count: the law of largest entropy with its mean.

    Parameters
    ----------
    mean : float in (0, inf)
    """

    mean: float

    def __post_init__(self) -> None:
        positive("mean of a geometric prior", self.mean, infinite=False)

    @property
    def name(self) -> str:
        """How tables name the receiver."""
        return f"geometric cells of mean {self.mean:g}"

    def probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return ``r^low - r^(high + 1)`` with ``r = mean / (1 + mean)``, without cancellation."""
        del table
        rate = -np.log1p(1 / self.mean)
        low, high = np.maximum(low, 0), np.asarray(high)
        inside = np.exp(rate * low) * -np.expm1(rate * (high - low + 1))
        return np.where(high >= low, inside, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPrior:
    """Every cell is uniform on the whole numbers within a distance of its true count.

    Parameters
    ----------
    width : int, at least 1
    """

    width: int

    def __post_init__(self) -> None:
        whole("width of a window prior", self.width)

    @property
    def name(self) -> str:
        """How tables name the receiver."""
        return f"cells known within {self.width}"

    def probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return the share of the window, cut at 0, that lies between both ends."""
        first, last = np.maximum(table - self.width, 0), table + self.width
        inside = np.minimum(high, last) - np.maximum(low, first) + 1
        return np.maximum(inside, 0) / (last - first + 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedPrior:
    """Every cell has a law of its own on the counts from 0 to s - 1.

    Parameters
    ----------
    pmf : array of shape (*shape, s)
        Rows sum to 1.
    """

    pmf: FloatArray
    name: str = "listed laws of the cells"

    def __post_init__(self) -> None:
        pmf = finite("priors", self.pmf)
        if pmf.min() < 0 or np.abs(pmf.sum(axis=-1) - 1).max() > 1e-9:
            raise ValueError("priors must be non-negative and sum to 1 in every cell.")
        object.__setattr__(self, "pmf", pmf)

    def probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return the sum of the probabilities from `low` to `high`."""
        del table
        values = np.arange(self.pmf.shape[-1])
        low, high = (np.asarray(end)[..., None] for end in (low, high))
        return np.where((values >= low) & (values <= high), self.pmf, 0.0).sum(axis=-1)
