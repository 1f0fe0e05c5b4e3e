"""Recorded windows: what a query answers on pieces of recorded sequences, by their secret entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bench.scenarios.recorded import CountedAnswers
from mechanisms.base import NotOfferedError
from mechanisms.check import FloatArray, IntArray


def recorded_windows(
    sequences: Sequence[IntArray],
    length: int,
    secrets: Sequence[tuple[int, int]],
    answers_of: Callable[[IntArray], FloatArray],
    every: int = 1,
) -> CountedAnswers:
    """Return the answers on all windows of `length` entries, by the label of the secret entry.

    Parameters
    ----------
    sequences : sequence of arrays of codes
        One a user; users are the units, because windows of one user overlap.
    length : int
    secrets : sequence of (position, code)
        Positions from 1.
    answers_of : function
        From databases ``(n, length)`` to answers ``(n, m)``.
    every : int
        Steps from the start of one window of a user to that of the next.

    Raises
    ------
    NotOfferedError
        If a secret has no window.
    """
    answers: list[list[FloatArray]] = [[] for _ in secrets]
    units: list[list[IntArray]] = [[] for _ in secrets]
    windows = users = 0
    for user, codes in enumerate(sequences):
        if len(codes) < length:
            continue
        seen = np.lib.stride_tricks.sliding_window_view(codes, length)[::every]
        windows, users = windows + len(seen), users + 1
        counted = answers_of(seen)
        for secret, (position, value) in enumerate(secrets):
            rows = seen[:, position - 1] == value
            answers[secret].append(counted[rows])
            units[secret].append(np.full(int(rows.sum()), user))
    if not all(any(len(rows) for rows in found) for found in answers):
        raise NotOfferedError(f"no recorded window of {length} entries for each of the secrets")
    return CountedAnswers(
        answers=[np.concatenate(found) for found in answers],
        units=[np.concatenate(found) for found in units],
        sizes=np.ones(len(sequences), dtype=np.int64),
        unit="user",
        words=f"{windows} recorded windows of {length} entries of {users} users",
    )
