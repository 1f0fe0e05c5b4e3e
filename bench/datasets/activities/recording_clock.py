"""The clock of a recording: its rows come in order, so a local clock that steps back is seen."""

from __future__ import annotations

import numpy as np

from bench.datasets.source import DataError
from bench.datasets.table.text_table import TextTable
from bench.datasets.table.times import AS_MOMENTS, SECOND
from mechanisms.check import IntArray

HOUR = 3600 * SECOND


class RecordingClock:
    """Follows a recording block by block.

    A local clock without offsets that goes back by half an hour to an hour was set back by an hour
    at the end of summer time: what follows is an hour later than it says. Any other step back is
    refused, since the rows are then in another order.

    Parameters
    ----------
    unit : {"s", "ms", "us", "ns"}, or None
        Of times that are numbers; None finds it.
    """

    def __init__(self, unit: str | None = None) -> None:
        self._unit = unit
        self._how: str | None = None
        self._start = self._last = self._shift = 0
        self._rows = 0
        self.set_back: list[int] = []  # data rows

    def since_start(self, block: TextTable, column: str) -> IntArray:
        """Return the nanoseconds between the first row of all and each row of a block."""
        moment, how = block.clock(column, unit=self._unit)
        if self._how is None:
            self._how, self._start, self._last = how, int(moment[0]), int(moment[0])
        if how != self._how:
            raise DataError(
                f"{block.path}: times must all be in one form, got two: "
                f"{self._how or 'local clock'}; {how or 'local clock'}."
            )
        moved = np.diff(moment, prepend=self._last)
        self._last = int(moment[-1])
        shift = np.full(moment.size, self._shift)
        for row in np.flatnonzero(moved < 0).tolist():
            back = -int(moved[row])
            number = self._rows + row + 1
            if how.endswith(AS_MOMENTS) or not HOUR // 2 <= back <= HOUR:
                raise DataError(
                    f"{block.path}: rows must be in order of time, got a step back of "
                    f"{back / SECOND:g} s in data row {number}."
                )
            self.set_back.append(number)
            shift[row:] += HOUR
        self._shift = int(shift[-1])
        self._rows += moment.size
        return moment - self._start + shift
