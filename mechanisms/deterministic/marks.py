"""What a suppressed cell is released as, and what that alone says about its count.

A published cell is its count; a suppressed one is a negative code.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mechanisms.check import Array, IntArray

PRIMARY = -1  # below the threshold
SECONDARY = -2  # suppressed to protect others
SUPPRESSED = -3  # one of the two: the release does not say which
UNLIMITED = np.iinfo(np.int64).max // 4

Marks = Literal["two", "one"]


def limits_of_mark(mark: int, *, threshold: int, publish_zeros: bool) -> tuple[int, int]:
    """Return the smallest and largest count that a mark allows.

    - primary: below the threshold, and at least 1 where zeros are published;
    - secondary: at least the threshold, or at least 0 where zeros are published, because a zero may
      then be suppressed for others' sake (counts from 1 to threshold - 1 are excluded too, which an
      interval does not tell);
    - one mark for both kinds: any count.
    """
    if mark == PRIMARY:
        return int(publish_zeros), threshold - 1
    if mark == SECONDARY:
        return (0 if publish_zeros else threshold), UNLIMITED
    if mark == SUPPRESSED:
        return 0, UNLIMITED
    raise ValueError(
        f"mark must be {PRIMARY} (primary), {SECONDARY} (secondary) or {SUPPRESSED} (either), "
        f"got mark={mark!r}."
    )


def with_one_mark(release: Array) -> IntArray:
    """Return the release as it looks to one who cannot tell primary from secondary cells."""
    cells = np.asarray(release, dtype=np.int64)
    return np.where(cells < 0, SUPPRESSED, cells)
