"""What the number of visits to a state tells of every entry of a Markov chain, in polynomial time.

A forward pass carries the law of (entry, visits so far), a backward pass that of the visits to
come; their convolution is the law of (entry, all visits). Only additions and products of
probabilities occur, so every number is exact to rounding, however small, unless it underflows.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from mechanisms.check import FloatArray
from mechanisms.privacy.bracket import NotComputableError

CELLS = 60_000_000  # of 8 bytes: 458 MiB
COVERED = -460.0  # log probabilities above this are far from underflow, and so are their parts
STEEPEST = 50.0


def log_visits(transition: FloatArray, initial: FloatArray, length: int, state: int) -> FloatArray:
    """Return the log law of the number of visits to `state`, shape (length + 1,); no underflow.

    Parameters
    ----------
    transition : array of shape (k, k)
        Row-stochastic.
    initial : array of shape (k,)
        Law of the first entry.
    length : int
        Entries.
    state : int
    """
    with np.errstate(divide="ignore"):
        table = np.full((initial.size, length + 1), -np.inf)
        table[:, 0] = np.log(initial)
        for t in range(length):
            if t:
                # Per count the largest entry is factored out, so that the sum is in linear scale.
                top = table.max(axis=0)
                top = np.where(np.isfinite(top), top, 0.0)
                table = np.log(transition.T @ np.exp(table - top)) + top
            table[state, 1:] = table[state, :-1]
            table[state, 0] = -np.inf
    return logsumexp(table, axis=0)


def log_convolved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the log law of the sum of two independent counts, from their log laws."""
    short, long = sorted((first, second), key=len)
    total = np.full(short.size + long.size - 1, -np.inf)
    for i, log in enumerate(short.tolist()):
        part = total[i : i + long.size]
        np.logaddexp(part, long + log, out=part)
    return total


def entries_given_visits(
    transition: FloatArray, initial: FloatArray, length: int, state: int, low: int, high: int
) -> FloatArray:
    """Return P(entry t = s | visits = c), shape (length, k, high - low + 1), c = low, ..., high.

    Parameters
    ----------
    transition, initial, length, state
        As in `log_visits`.
    low, high : int in [0, length]
        First and last number of visits; an impossible number has zeros.

    Raises
    ------
    NotComputableError
        If the tables need more than 60 million cells, or some numbers of visits are too
        improbable for any tilt.

    Notes
    -----
    Time ``k * length^2 * width`` and memory ``k * length * (length + 2 * width)`` cells, for
    ``width = high - low + 1``. Given the number of visits c, the law of the entries stays the same
    if every visit is weighted by z > 0. Each c is computed under a z that makes it likely enough
    not to underflow.
    """
    size, width = initial.size, high - low + 1
    if size * length * (length + 1 + 2 * width) > CELLS:
        raise NotComputableError(
            f"the entries of {length} steps of {size} states given {width} numbers of visits need "
            f"more than {CELLS} cells"
        )
    logs = log_visits(transition, initial, length, state)
    table = np.zeros((length, size, width))
    left = np.isfinite(logs[low : high + 1])
    while left.any():
        wanted = np.flatnonzero(left)
        tilt = _tilt_towards(logs, low + int(wanted[wanted.size // 2]))
        tilted = logs + tilt * np.arange(length + 1)
        covered = left & (tilted - logsumexp(tilted) > COVERED)[low : high + 1]
        if not covered.any():
            raise NotComputableError(
                f"{low + wanted[0]} visits are too improbable for their entries to be computed"
            )
        found = _tilted_table(transition, initial, length, state, tilt, low, high)
        table[:, :, covered] = found[:, :, covered]
        left &= ~covered
    return table


def _tilt_towards(logs: FloatArray, count: int) -> float:
    """Return log z, 0 where it serves: the tilt that makes `count` most likely."""
    if logs[count] > COVERED:
        return 0.0
    counts = np.arange(logs.size)
    return float(
        minimize_scalar(
            lambda t: logsumexp(logs + t * (counts - count)),
            bounds=(-STEEPEST, STEEPEST),
            method="bounded",
        ).x
    )


def _tilted_table(
    transition: FloatArray,
    initial: FloatArray,
    length: int,
    state: int,
    tilt: float,
    low: int,
    high: int,
) -> FloatArray:
    """Return the table with every visit weighted by ``exp(tilt)``; each step is rescaled."""
    z, size, width = np.exp(tilt), initial.size, high - low + 1
    before = np.zeros((length, size, length + 1))
    before[0, :, 0] = initial
    for t in range(length):
        if t:
            np.matmul(transition.T, before[t - 1], out=before[t])
        before[t, state, 1:] = z * before[t, state, :-1]
        before[t, state, 0] = 0.0
        before[t] /= before[t].sum()
    table = np.zeros((length, size, width))
    # Visits to come, padded so that the convolution yields the wanted counts and no others.
    after = np.zeros((size, length + 1 + width + length))
    zero = length + 1
    after[:, zero] = 1.0
    for t in range(length - 1, -1, -1):
        for s in range(size):
            past = before[t, s, : t + 2]
            future = after[s, zero + low - t - 1 : zero + high + 1]
            table[t, s] = np.convolve(future, past, mode="valid")
        after[state, 1:] = z * after[state, :-1]
        after[state, 0] = 0.0
        after = transition @ after
        after /= after.sum()
    totals = table.sum(axis=1, keepdims=True)
    return np.divide(table, totals, out=table, where=totals > 0)
