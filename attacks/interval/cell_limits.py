"""What a release says of each cell on its own, before totals are used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.check import Array, IntArray
from mechanisms.deterministic.count_table import BoolArray
from mechanisms.deterministic.marks import PRIMARY, SECONDARY, SUPPRESSED, limits_of_mark
from mechanisms.deterministic.rounding import RandomRounding, Rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellLimits:
    """Smallest and largest count of every cell, and which cells the release hides.

    Parameters
    ----------
    lower, upper : int arrays of shape (*shape,)
        ``UNLIMITED`` above stands for no limit.
    hidden : boolean array of shape (*shape,)
    """

    lower: IntArray
    upper: IntArray
    hidden: BoolArray

    def __post_init__(self) -> None:
        if not self.lower.shape == self.upper.shape == self.hidden.shape:
            raise ValueError("lower, upper and hidden must have one shape.")
        if (self.lower > self.upper).any() or (self.lower < 0).any():
            raise ValueError("lower must be at least 0 and at most upper.")


def suppressed_cells(
    release: Array,
    *,
    threshold: int,
    publish_zeros: bool = False,
    structural: BoolArray | None = None,
) -> CellLimits:
    """Read one released table with suppression marks.

    Parameters
    ----------
    release : array of shape (*shape,)
        Counts, and negative marks: -1 primary, -2 secondary, -3 either of them. Pass the release
        through `with_one_mark` for the attacker who cannot tell them apart.
    threshold : int
        h, public.
    publish_zeros : bool
        Public, as is the whole rule.
    structural : boolean array, optional
        Cells that everyone knows to be 0.
    """
    cells = np.asarray(release, dtype=np.int64)
    unknown = set(np.unique(cells[cells < 0]).tolist()) - {PRIMARY, SECONDARY, SUPPRESSED}
    if unknown:
        raise ValueError(f"marks must be -1, -2 or -3, got {min(unknown)} in a released cell.")
    lower, upper = cells.copy(), cells.copy()
    for mark in (PRIMARY, SECONDARY, SUPPRESSED):
        low, high = limits_of_mark(mark, threshold=threshold, publish_zeros=publish_zeros)
        lower[cells == mark], upper[cells == mark] = low, high
    hidden = cells < 0
    if structural is not None and (hidden & np.asarray(structural, dtype=bool)).any():
        raise ValueError("structural cells must not be suppressed: everyone knows them.")
    return CellLimits(lower=lower, upper=upper, hidden=hidden)


def rounded_cells(release: Array, rule: Rounding | RandomRounding) -> CellLimits:
    """Read one table of rounded counts ``(*shape,)``: every cell is hidden within its interval."""
    lower, upper = rule.limits(release)
    return CellLimits(lower=lower, upper=upper, hidden=np.ones(lower.shape, dtype=bool))
