"""What calibrations for tables of counts are told."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.base import Knowledge
from mechanisms.deterministic.count_table import Axes, BoolArray, check_axes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountTable(Knowledge):
    """A table of counts, and what of it everybody is told in any case.

    Parameters
    ----------
    shape : tuple of int
    margins : tuple of tuples of int
        Which totals are published, each by the axes that it keeps; () is the grand total.
    structural : boolean array of the table's shape, optional
        Cells that cannot hold a unit.
    """

    shape: tuple[int, ...]
    margins: tuple[Axes, ...] = ()
    structural: BoolArray | None = None

    def __post_init__(self) -> None:
        check_axes(len(self.shape), self.margins)
