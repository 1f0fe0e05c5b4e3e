"""Laws of a number given a secret: the table's own, smoothed, or of records set aside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.labels import Labels
from bench.datasets.table.text_table import TextTable
from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.finite import FiniteLaw

MOST_ROWS = 2.0**53  # larger counts are no longer whole
CELLS = 256  # of the grid that a smoothed law lives on
MOST = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class SecretNumbers:
    """A number and a secret of every row, and how often the row counts.

    Parameters
    ----------
    path : str
        For errors.
    secret : Labels
    values, counts : arrays of shape (n,)
    """

    path: str
    secret: Labels
    values: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, table: TextTable, value: object, secret: object, count: object) -> SecretNumbers:
        """Take the columns from a table; without a column of counts every row counts once."""
        values = table.numbers(value)
        counts = np.ones(len(values))
        if count is not None:
            counts = table.numbers(count)
            if (counts < 0).any() or (counts != np.round(counts)).any() or counts.max() > MOST_ROWS:
                raise DataError(f"{table.path}: column {count!r} must hold whole counts.")
        return cls(
            path=table.path, secret=table.labels(secret), values=values,
            counts=counts.astype(np.int64),
        )  # fmt: skip

    def where(self, label: str) -> tuple[FloatArray, IntArray]:
        """Return the numbers and counts of the rows with a secret; refuse a secret without any."""
        rows = self.secret.are(label)
        if not self.counts[rows].any():
            raise DataError(f"{self.path}: no rows with {self.secret.where.name}={label}.")
        return self.values[rows], self.counts[rows]


def table_law(values: FloatArray, counts: IntArray) -> FiniteLaw:
    """Return the empirical law of values, each counted as often as `counts` says."""
    atoms, index = np.unique(values, return_inverse=True)
    totals = np.zeros(len(atoms), dtype=np.int64)
    np.add.at(totals, index, counts)
    return FiniteLaw.of_counts(atoms=atoms, counts=totals)


def smoothed_law(
    values: FloatArray, counts: IntArray, low: float, high: float, cells: int = CELLS
) -> FiniteLaw:
    """Return a Gaussian kernel estimate on the middles of equal cells of [low, high].

    The bandwidth is the rule of thumb .9 min(deviation, quartile range / 1.34) n^(-1/5), and at
    least a cell, so that no record stands out by its last digits.

    References
    ----------
    Silverman (1986), Density Estimation for Statistics and Data Analysis, equation 3.31.
    """
    if not high > low:
        raise DataError(f"a smoothed law needs two different values, got {low:g} alone.")
    width = (high - low) / cells
    grid: FloatArray = low + width * (np.arange(cells, dtype=np.float64) + 0.5)
    empirical = table_law(values, counts)
    deviation = np.sqrt(
        empirical.weights @ (empirical.atoms - empirical.weights @ empirical.atoms) ** 2
    )
    reached = np.cumsum(empirical.weights)
    quartiles = empirical.atoms[np.searchsorted(reached, [0.25, 0.75])]
    spread = (quartiles[1] - quartiles[0]) / 1.34
    narrow = min(deviation, spread) if spread > 0 else deviation
    bandwidth = max(width, 0.9 * narrow * counts.sum() ** -0.2)
    # Records are first counted in the cells, so that time does not grow with records x cells.
    place = np.clip(((empirical.atoms - low) / width).astype(int), 0, cells - 1)
    mass = np.bincount(place, empirical.weights, minlength=cells)
    kernel = np.exp(-0.5 * ((grid[:, None] - grid[None, :]) / bandwidth) ** 2)
    weights = kernel @ (mass / kernel.sum(axis=0))
    return FiniteLaw(atoms=grid, weights=weights / weights.sum())


def halves(counts: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return how many of each row's records go to one half at random, and to the other."""
    modelled = rng.binomial(counts, 0.5).astype(np.int64)
    return modelled, counts - modelled


def count_unique(values: FloatArray, counts: IntArray) -> tuple[int, int] | None:
    """Return how many records have a value of their own, and of how many, if these are most."""
    _, index = np.unique(values, return_inverse=True)
    alone = int((np.bincount(index, counts) == 1).sum())
    total = int(counts.sum())
    return (alone, total) if alone > MOST * total else None
