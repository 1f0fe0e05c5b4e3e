"""Limits tightened by one total at a time, until nothing changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.check import IntArray
from mechanisms.deterministic.count_table import Margin, margin_index
from mechanisms.deterministic.marks import UNLIMITED

ROUNDS = 1000


class InconsistentReleaseError(ValueError):
    """No table has the released cells and totals; the message names the first contradiction."""


def propagate(
    lower: IntArray, upper: IntArray, margins: Sequence[Margin]
) -> tuple[IntArray, IntArray]:
    """Return limits that no single total can tighten any more, shape (*shape,).

    Each cell is at most its total's upper end less all other cells' lower limits, and at least
    its lower end less their upper limits. Valid whenever it stops; exact for one total.

    Raises
    ------
    InconsistentReleaseError
        If a cell is left without a possible count.
    """
    lower, upper = lower.copy(), upper.copy()
    indices = [margin_index(lower.shape, margin.axes).ravel() for margin in margins]
    low, high = lower.ravel(), upper.ravel()  # views
    for _ in range(ROUNDS):
        before = (low.copy(), high.copy())
        for margin, index in zip(margins, indices, strict=True):
            size = margin.lower.size
            sums = np.zeros(size, dtype=np.int64)
            np.add.at(sums, index, low)
            room = margin.upper.ravel()[index] - (sums[index] - low)
            np.minimum(high, room, out=high)
            # After this step every upper limit under a total is finite.
            sums = np.zeros(size, dtype=np.int64)
            np.add.at(sums, index, high)
            need = margin.lower.ravel()[index] - (sums[index] - high)
            np.maximum(low, need, out=low)
            if (low > high).any():
                cell = np.unravel_index(int((low > high).argmax()), lower.shape)
                raise InconsistentReleaseError(
                    f"totals must fit the cells: the margin over axes {margin.axes} leaves no "
                    f"count for cell {tuple(int(i) for i in cell)}."
                )
        if (before[0] == low).all() and (before[1] == high).all():
            break
    return lower, np.minimum(upper, UNLIMITED)
