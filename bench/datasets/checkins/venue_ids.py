"""Ids of 24 characters as codes, looked up many at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MIXERS = tuple(np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


def mixed(ids: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return ids, shape (n, 3), as 64-bit numbers; among n two agree with chance n^2 / 2^65."""
    total = np.zeros(len(ids), dtype=np.uint64)
    for column, mixer in enumerate(MIXERS):
        total ^= ids[:, column]
        total *= mixer
        total ^= total >> np.uint64(29)
    return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IdTable:
    """Sorted numbers, found through their leading bits.

    Parameters
    ----------
    keys : array of uint64, shape (n + 1,)
        The numbers in order, then the largest possible one.
    start : array of int32, shape (2^bits,)
        How many numbers have smaller leading bits.
    shift : int
        Bits that follow the leading ones.
    """

    keys: NDArray[np.uint64]
    start: NDArray[np.int32]
    shift: np.uint64

    @classmethod
    def of(cls, ordered: NDArray[np.uint64]) -> IdTable:
        """Return the table of sorted, distinct numbers, with one to two buckets a number."""
        bits = max(1, int(ordered.size).bit_length())
        shift = np.uint64(64 - bits)
        size = np.bincount((ordered >> shift).astype(np.intp), minlength=1 << bits)
        start = (np.cumsum(size) - size).astype(np.int32)
        end = np.array([np.iinfo(np.uint64).max], dtype=np.uint64)
        return cls(keys=np.concatenate([ordered, end]), start=start, shift=shift)

    def find(self, wanted: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the place of each number among the sorted ones, -1 where it is missing."""
        place = self.start[(wanted >> self.shift).view(np.int64)]
        found = self.keys[place]
        late = np.flatnonzero(found < wanted)
        while late.size:
            place[late] += 1
            found[late] = self.keys[place[late]]
            late = late[found[late] < wanted[late]]
        place[(found != wanted) | (place == self.keys.size - 1)] = -1
        return place
