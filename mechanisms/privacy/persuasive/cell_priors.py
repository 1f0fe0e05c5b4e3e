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

    def log_probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return ``log P(low <= count <= high)`` in each cell of a table; -inf where excluded.

        In logarithms, because a count far above a prior's mean must not count as excluded.
        """


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

    def log_probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return ``log(r^low - r^(high + 1))`` with ``r = mean / (1 + mean)``."""
        del table
        rate = -np.log1p(1 / self.mean)
        low, high = np.maximum(low, 0), np.asarray(high)
        width = np.maximum(high - low + 1, 1)
        inside = rate * low + np.log(-np.expm1(rate * width))
        return np.where(high >= low, inside, -np.inf)


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

    def log_probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return the log of the share of the window, cut at 0, that lies between both ends."""
        first, last = np.maximum(table - self.width, 0), table + self.width
        inside = np.minimum(high, last) - np.maximum(low, first) + 1
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(inside, 0) / (last - first + 1))


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

    def log_probability(self, low: IntArray, high: IntArray, table: IntArray) -> FloatArray:
        """Return the log of the sum of the probabilities from `low` to `high`."""
        del table
        values = np.arange(self.pmf.shape[-1])
        low, high = (np.asarray(end)[..., None] for end in (low, high))
        with np.errstate(divide="ignore"):
            return np.log(np.where((values >= low) & (values <= high), self.pmf, 0.0).sum(axis=-1))
