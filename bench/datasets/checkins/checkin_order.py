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
    place : array of int, shape (n,)
        Whatever tells check-ins of a user at one time apart.
    late : int
        Check-ins that come, in the file, after a later one of their user.
    """

    start: NDArray[np.integer]
    time: NDArray[np.int32]
    place: NDArray[np.integer]
    late: int


def user_codes(user: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ids as codes from 0 on, in order of the ids."""
    if user.min() >= 0 and user.max() < LARGEST:
        return user
    return np.unique(user, return_inverse=True)[1].astype(np.int32)


def by_user(user: NDArray[np.int32], time: NDArray[np.int32], place: NDArray[np.integer]) -> Visits:
    """Order check-ins; users are codes from 0 on. Uses up the array of times."""
    first = time.min()
    time -= first
    # A counting sort: rows of a sparse matrix keep the order in which they are given.
    table = coo_array((place, (user, time)))
    table.has_canonical_format = True  # so that check-ins at one time are not added up
    rows = table.tocsr()
    start, time, place = rows.indptr, rows.indices, rows.data
    falls = time[1:] < time[:-1]
    borders = start[1:-1]
    falls[borders[(borders > 0) & (borders < time.size)] - 1] = False
    restless = np.unique(np.searchsorted(start, np.flatnonzero(falls) + 1, side="right") - 1)
    late = 0
    if restless.size:
        size = start[restless + 1] - start[restless]
        owner = np.repeat(np.arange(restless.size), size)
        part = np.arange(owner.size) + np.repeat(start[restless] - np.cumsum(size) + size, size)
        moment = owner << 32 | time[part]
        late = int(np.count_nonzero(moment < np.maximum.accumulate(moment)))
        order = part[np.argsort(moment, kind="stable")]
        time[part], place[part] = time[order], place[order]
    time += first
    return Visits(start=start, time=time, place=place, late=late)


def repeats(
    user: NDArray[np.integer], time: NDArray[np.int32], place: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Return which of ordered check-ins repeat an earlier one: same user, time and place."""
    again = np.zeros(user.size, dtype=bool)
    level = (time[1:] == time[:-1]) & (user[1:] == user[:-1])
    at_once = np.flatnonzero(np.append(level, False) | np.insert(level, 0, False))
    columns = place[at_once], time[at_once], user[at_once]
    order = np.lexsort(columns)  # stable: the first of equal check-ins stays first
    same = np.ones(max(0, order.size - 1), dtype=bool)
    for column in columns:
        same &= np.diff(column[order]) == 0
    again[at_once[order[1:][same]]] = True
    return again
