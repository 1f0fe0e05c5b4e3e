"""Tables of counts of any number of dimensions: what is a valid one, and its margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from mechanisms.check import IntArray, within

BoolArray = NDArray[np.bool_]
Axes = tuple[int, ...]
LARGEST = 2**53  # beyond it neighbouring whole numbers are no longer told apart as floats


def counts(name: str, values: object, *, trials: bool = False) -> IntArray:
    """Return `values` as whole, non-negative counts.

    Parameters
    ----------
    name : str
    values : array of shape (*shape,), or (n_trials, *shape)
    trials : bool
        Whether the first axis counts trials, which is left out of cells named in errors.

    Raises
    ------
    ValueError
        For an empty table, and for negative, fractional or missing counts, naming the first cell.
    """
    array = np.asarray(values)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty.")
    if array.dtype == bool or not np.issubdtype(array.dtype, np.number):
        raise ValueError(f"{name} must be whole numbers, got entries of type {array.dtype}.")

    def first(wrong: BoolArray) -> str:
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{array[index]:g} in cell {index[1:] if trials else index}"

    missing = np.isnan(array)
    if missing.any():
        raise ValueError(
            f"{name} must not be missing, got {first(missing)}: give 0 for a cell without units, "
            "and mark one that cannot have any as structural."
        )
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {first(array < 0)}.")
    if (array != np.floor(array)).any():
        raise ValueError(f"{name} must be whole numbers, got {first(array != np.floor(array))}.")
    if (array > LARGEST).any():
        raise ValueError(f"{name} must be at most 2^53, got {first(array > LARGEST)}.")
    return array.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margin:
    """Totals of a table over all but some of its axes, exact or known to lie in intervals.

    Parameters
    ----------
    axes : tuple of int
        The axes that are kept, ascending; () for the grand total.
    lower, upper : int arrays of the kept axes' shape
        Equal where the totals are exact; apart where they were rounded.
    """

    axes: Axes
    lower: IntArray
    upper: IntArray

    def __post_init__(self) -> None:
        lower, upper = counts("margin", self.lower), counts("margin", self.upper)
        if lower.shape != upper.shape or lower.ndim != len(self.axes):
            raise ValueError(
                f"margin over axes {self.axes} must have one axis each, "
                f"got shapes {lower.shape} and {upper.shape}."
            )
        if self.axes != tuple(sorted(set(self.axes))) or any(axis < 0 for axis in self.axes):
            raise ValueError(f"axes must be ascending and not negative, got axes={self.axes!r}.")
        if (lower > upper).any():
            raise ValueError(f"margin over axes {self.axes} must have lower <= upper.")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @classmethod
    def exact(cls, axes: Sequence[int], totals: object) -> Margin:
        """Return published totals."""
        values = counts("margin", np.asarray(totals))
        return cls(axes=tuple(axes), lower=values, upper=values)

    @classmethod
    def of(cls, table: object, axes: Sequence[int]) -> Margin:
        """Return a table's own totals."""
        cells = counts("table", table)
        check_axes(cells.ndim, [tuple(axes)])
        others = tuple(axis for axis in range(cells.ndim) if axis not in axes)
        return cls.exact(tuple(axes), cells.sum(axis=others))


def check_axes(ndim: int, axes: Sequence[Axes]) -> None:
    """Refuse margins that keep an axis which the table does not have."""
    for kept in axes:
        if any(not 0 <= axis < ndim for axis in kept):
            raise ValueError(f"axes must be among 0 to {ndim - 1}, got axes={kept!r}.")


def check_margins(shape: tuple[int, ...], margins: Sequence[Margin]) -> None:
    """Refuse margins of a wrong shape and margins that do not add up to each other."""
    check_axes(len(shape), [margin.axes for margin in margins])
    for margin in margins:
        expected = tuple(shape[axis] for axis in margin.axes)
        if margin.lower.shape != expected:
            raise ValueError(
                f"margin over axes {margin.axes} must have shape {expected} for a table of shape "
                f"{shape}, got {margin.lower.shape}."
            )
    for one, other in combinations(margins, 2):
        shared = tuple(sorted(set(one.axes) & set(other.axes)))
        low, high = _onto(one, shared)
        other_low, other_high = _onto(other, shared)
        wrong = np.argwhere((low > other_high) | (other_low > high))
        if len(wrong):
            where = tuple(int(i) for i in wrong[0])
            of = f" at {where} of axes {shared}" if shared else ""
            raise ValueError(
                f"margins must add up: those over axes {one.axes} sum to "
                f"{_span(low[where], high[where])}, those over {other.axes} to "
                f"{_span(other_low[where], other_high[where])}{of}."
            )


def _onto(margin: Margin, shared: Axes) -> tuple[IntArray, IntArray]:
    rest = tuple(i for i, axis in enumerate(margin.axes) if axis not in shared)
    return margin.lower.sum(axis=rest), margin.upper.sum(axis=rest)


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def margin_index(shape: tuple[int, ...], axes: Axes) -> IntArray:
    """Return the flat index of the total to which each cell adds, shape (*shape,)."""
    kept = tuple(shape[axis] for axis in axes)
    flat = np.arange(int(np.prod(kept, dtype=np.int64))).reshape(kept)
    return np.broadcast_to(
        flat.reshape([n if axis in axes else 1 for axis, n in enumerate(shape)]), shape
    )


def margin_matrix(shape: tuple[int, ...], axes: Sequence[Axes]) -> csr_array:
    """Return the matrix that sums flattened cells to totals, one row a total."""
    size = int(np.prod(shape, dtype=np.int64))
    blocks = []
    for kept in axes:
        rows = margin_index(shape, kept).ravel()
        n_rows = int(np.prod([shape[axis] for axis in kept], dtype=np.int64))
        blocks.append(csr_array((np.ones(size), (rows, np.arange(size))), shape=(n_rows, size)))
    return csr_array(vstack(blocks)) if blocks else csr_array((0, size))


def dominated(table: object, largest: object, *, share: float = 0.8) -> BoolArray:
    """Return the cells of which one unit holds more than `share`, shape (*shape,).

    Parameters
    ----------
    table : array of shape (*shape,)
        Counts: in all, such as visits.
    largest : array of shape (*shape,)
        Counts of the unit that contributes most to each cell, such as one user's visits.
    share : float in (0, 1)
        0.8 is customary.

    Notes
    -----
    Such a cell's count tells the unit's own within ``1 - share`` of it, however large the count:
    no threshold on counts protects it.
    """
    within("share", share, 0, 1, ends="()")
    cells, own = counts("table", table), counts("largest", largest)
    if own.shape != cells.shape or (own > cells).any():
        raise ValueError("largest must have the table's shape, and be at most its counts.")
    return own > share * cells
