"""Which sizes of subsets, gaps and splits fit a table, and the nearest ones that do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.datasets.source import DataError

SPLITS = ("shadow", "test", "model")
SEARCHED = 10_000  # sizes tried on either side
SHRINK = 0.98


def is_whole(size: int, gap: float) -> bool:
    """Whether both shares, .5 -+ gap/2, of a subset are whole numbers of records."""
    fewer = size * (1 - gap) / 2
    return abs(fewer - round(fewer)) <= 1e-6


def most_of_a_class(size: int, gap: float) -> int:
    """Return the larger of the two numbers of records."""
    return size - round(size * (1 - gap) / 2)


def check_whole(size: int, gap: float) -> None:
    """Refuse a size and a gap whose shares are no whole numbers of records.

    Raises
    ------
    ValueError
        With the nearest gaps of this size and the nearest sizes of this gap.
    """
    if is_whole(size, gap):
        return
    fewer = size * (1 - gap) / 2
    gaps = sorted({
        float(f"{1 - 2 * count / size:.12g}") for count in (int(fewer), int(fewer) + 1)
        if 0 < 1 - 2 * count / size < 1
    })  # fmt: skip
    below = next((n for n in range(size - 1, 0, -1) if is_whole(n, gap)), None)
    above = next((n for n in range(size + 1, size + SEARCHED) if is_whole(n, gap)), None)
    sizes = [n for n in (below, above) if n is not None]
    nearest = [
        f"{name}={' or '.join(f'{value:g}' for value in values)} with {other}"
        for name, values, other in (
            ("gap", gaps, f"size={size}"), ("size", sizes, f"gap={gap:g}"),
        ) if values
    ]  # fmt: skip
    hint = f"; nearest that work: {', '.join(nearest)}" if nearest else ""
    raise ValueError(
        f"gap must give whole numbers of {size} records, got gap={gap!r}: {fewer:g} and "
        f"{size - fewer:g} records{hint}."
    )


def check_split(has: NDArray[np.bool_], split: tuple[int, int], size: int, gap: float) -> None:
    """Refuse a split in which a part has too few records of a class for a subset.

    Parameters
    ----------
    has : array of bool, shape (n,)
        Whether a record has the property, in the order in which the records are split.
    split : pair of int
        Records for shadow and test worlds; the rest is for modelling.
    size : int
    gap : float

    Raises
    ------
    DataError
        With the largest size that works in this split, or the nearest split that works.
    """
    room = smallest_class(has, split)
    if room is not None and most_of_a_class(size, gap) <= min(room.values()):
        return
    shadow, test = split
    hints = []
    fitting = None if room is None else largest_size(min(room.values()), size, gap)
    if fitting is not None:
        hints.append(f"size={fitting}")
    other = nearest_split(has, split, size, gap)
    if other is not None:
        # Half a record more, so that the share of the rows is rounded down to this number.
        shares = ", ".join(f"{(records + 0.5) / len(has):.6g}" for records in other)
        hints.append(f"split={list(other)} (shares=[{shares}])")
    hint = f"; nearest that work: {' or '.join(hints)}" if hints else "; no split of them does"
    if room is None:
        raise DataError(
            f"split must leave records for modelling: {len(has)} records, got "
            f"[{shadow}, {test}]{hint}."
        )
    name = min(room, key=lambda part: room[part])
    raise DataError(
        f"size={size} needs {most_of_a_class(size, gap)} records of one class, the {name} split "
        f"has {room[name]}{hint}."
    )


def smallest_class(has: NDArray[np.bool_], split: tuple[int, int]) -> dict[str, int] | None:
    """Return the records of the smaller class of each part, None if nothing is left to model."""
    shadow, test = split
    if shadow + test >= len(has):
        return None
    parts = np.split(has, [shadow, shadow + test])
    return {
        name: min(int(part.sum()), int((~part).sum()))
        for name, part in zip(SPLITS, parts, strict=True)
    }


def largest_size(room: int, size: int, gap: float) -> int | None:
    """Return the largest size below `size` whose larger share is at most `room` records."""
    # size * (1 + gap) / 2 <= room
    top = min(size - 1, int(2 * room / (1 + gap) + 1e-9))
    return next((n for n in range(top, 0, -1) if is_whole(n, gap)), None)


def nearest_split(
    has: NDArray[np.bool_], split: tuple[int, int], size: int, gap: float
) -> tuple[int, int] | None:
    """Return a split in which every part has enough records, as near as a search finds."""
    needed, rows = most_of_a_class(size, gap), len(has)
    for start in (split, (rows // 3, rows // 3)):
        shadow, test = float(start[0]), float(start[1])
        while min(shadow, test) >= 2 * needed:
            room = smallest_class(has, (int(shadow), int(test)))
            if room is not None and needed <= min(room.values()):
                return int(shadow), int(test)
            shadow, test = SHRINK * shadow, SHRINK * test
    return None
