"""Check-ins in the order of their users and local times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

LARGEST = 50_000_000  # user ids up to here are taken as they are


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Visits:
    """Check-ins by user, then local time, then row of the file.

    Parameters
    ----------
    start : array of shape (users + 1,)
        Where each user begins; a user may have no check-in.
    time : array of int32, shape (n,)
        Seconds since 1970, local.
    venue : array of int32, shape (n,)
    late : int
        Check-ins that came after a later one of their user in the file.
    """

    start: NDArray[np.integer]
    time: NDArray[np.int32]
    venue: NDArray[np.int32]
    late: int


def user_codes(user: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ids as codes from 0 on, in order of the ids."""
    if user.min() >= 0 and user.max() < LARGEST:
        return user
    return np.unique(user, return_inverse=True)[1].astype(np.int32)


def by_user(user: NDArray[np.int32], time: NDArray[np.int32], venue: NDArray[np.int32]) -> Visits:
    """Order check-ins; users are codes from 0 on."""
    first = time.min()
    time -= first
    # A counting sort: rows of a sparse matrix keep the order in which they are given.
    table = coo_array((venue, (user, time)))
    table.has_canonical_format = True  # so that check-ins at one time are not added up
    rows = table.tocsr()
    start, time, venue = rows.indptr, rows.indices, rows.data
    falls = time[1:] < time[:-1]
    borders = start[1:-1]
    falls[borders[(borders > 0) & (borders < time.size)] - 1] = False
    late = np.flatnonzero(falls) + 1
    restless = np.unique(np.searchsorted(start, late, side="right") - 1)
    if restless.size:
        size = start[restless + 1] - start[restless]
        owner = np.repeat(np.arange(restless.size), size)
        part = np.arange(owner.size) + np.repeat(start[restless] - np.cumsum(size) + size, size)
        order = part[np.lexsort((time[part], owner))]
        time[part], venue[part] = time[order], venue[order]
    time += first
    return Visits(start=start, time=time, venue=venue, late=int(late.size))
