"""Exact leakage of many noisy releases of one answer with finitely many values on a line.

Laplace and geometric noise weigh an answer x by ``exp(-sum_i |z_i - x| / scale)`` after releases
z_1, ..., z_k. Between neighbouring values the density under either law is ``A e^t + B e^-t`` in
every z_i, so that the likelihood ratio is monotone there: the largest one has every z_i at a value.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.finite_channel import channel_pair
from mechanisms.leakage.integer_grid import CELLS, PureBracket, whole_numbers
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError

LITTLE = 1e-10  # nats, or of the ratio where it is larger than 1
STEPS = 100  # of the bisection
LARGEST = 50_000  # values times releases
TABLES = 200_000  # of counts, for the numbers that are bracketed


def laplace_line(first: FiniteLaw, second: FiniteLaw, scale: float, k: int) -> PureBracket:
    """Compare k releases with Laplace noise; pure epsilon is exact.

    The bracket's lower ends count how many releases fall between neighbouring values.

    Raises
    ------
    NotComputableError
        If there are too many values times releases.
    """
    values = _values(first, second)
    ratio = largest_ratio(first, second, scale, k)
    cuts = _cuts(values, k)
    reach = (cuts[None, :] - values[:, None]) / scale
    tail = 0.5 * np.exp(-np.abs(reach))  # P[z > cut] right of the value, P[z <= cut] left of it
    below = np.where(reach < 0, tail, 1 - tail)
    ends = np.column_stack([np.zeros(len(values)), below, np.ones(len(values))])
    with np.errstate(divide="ignore"):
        channel = np.log(np.diff(ends, axis=1))
    places = (np.searchsorted(values, law.atoms) for law in (first, second))
    one, other = ((law, channel[at]) for law, at in zip((first, second), places, strict=True))
    return PureBracket(ratio=ratio, processed=channel_pair(one, other, k))


def geometric_line(
    first: FiniteLaw, second: FiniteLaw, scale: float, k: int
) -> FinitePair | PureBracket:
    """Compare k releases with two-sided geometric noise of whole-number answers.

    Exact throughout where how often each whole number came can be listed; else pure epsilon is
    exact and the rest bracketed, as for Laplace noise, of which this noise is a rounding.
    """
    one, other = (law.on_line for law in (first, second))
    values = whole_numbers(_values(one, other))
    outputs = np.arange(values[0], values[-1] + 1)
    if math.comb(outputs.size + k - 1, k) * max(values.size, min(k, outputs.size)) > CELLS:
        return laplace_line(one, other, scale, k)
    # Beyond an end the likelihood ratio is constant: all of a tail is one output.
    channel = -np.abs(outputs[None, :] - values[:, None]) / scale
    decay = math.exp(-1 / scale)
    channel += math.log1p(-decay) - math.log1p(decay)
    if outputs.size > 1:
        channel[:, [0, -1]] -= math.log1p(-decay)
    else:
        channel[:] = 0.0
    places = (np.searchsorted(values, law.atoms) for law in (one, other))
    left, right = ((law, channel[at]) for law, at in zip((one, other), places, strict=True))
    return channel_pair(left, right, k)


def largest_ratio(first: FiniteLaw, second: FiniteLaw, scale: float, k: int) -> float:
    """Return the largest log ratio of the densities of k releases, over both directions.

    Exact but for 1e-10, absolute or relative, rounded up.

    Laws have atoms of shape (a,). Given how many releases lie at or below each value,
    ``0 <= c_0 <= c_1 <= ... <= k``, the next value has ``exp((k - 2 c_j) gap_j / scale)`` times the
    weight of this one. Some counts have a ratio above r exactly if they make ``first - r second``
    positive (Dinkelbach, 1967); the difference is maximised over all counts by dynamic programming
    from the last value to the first, and r is searched for.
    """
    values = _values(first, second)
    if values.size * k > LARGEST:
        raise NotComputableError(
            f"{values.size} values in {k} releases are more than {LARGEST:,} to search"
        )
    slopes = (k - 2 * np.arange(k + 1.0))[None, :] * (np.diff(values) / scale)[:, None]
    logs = np.full((2, values.size), -np.inf)
    for row, law in zip(logs, (first, second), strict=True):
        row[np.searchsorted(values, law.atoms)] = np.log(law.weights)
    most = k * float(values[-1] - values[0]) / scale  # of two values, whatever the laws
    return max(_search(*pair, slopes, most) for pair in ((logs[0], logs[1]), (logs[1], logs[0])))


def _search(above: FloatArray, below: FloatArray, slopes: FloatArray, most: float) -> float:
    """Return the largest ``log(sum e^(above + l) / sum e^(below + l))`` over weights l, rounded up.

    Bisection between a ratio that is reached and `most`, an upper bound. Counts found on the way
    raise the lower end to their own ratio; whether it is the largest is asked with a little on
    top, since terms cancel at the ratio itself and rounding would decide.
    """
    low, high = -math.inf, most
    for counts in (0, slopes.shape[1] - 1):
        low = max(low, _ratio(above, below, slopes, np.full(len(slopes), counts)))
    for _ in range(STEPS):
        little = LITTLE * max(1.0, abs(low))
        above_low = low + little
        for asked in (above_low, (low + high) / 2):
            if high - low <= little:
                return max(low, high)
            found = _ratio(above, below, slopes, _best_counts(above, below, asked, slopes))
            if found > asked:
                low = found
            elif asked == above_low:
                return asked
            else:
                high = asked
    raise NotComputableError(f"the largest ratio was not found within {STEPS} steps")


def _ratio(above: FloatArray, below: FloatArray, slopes: FloatArray, counts: IntArray) -> float:
    weight = np.append(0.0, np.cumsum(slopes[np.arange(len(slopes)), counts]))
    return float(logsumexp(above + weight) - logsumexp(below + weight))


def _best_counts(
    above: FloatArray, below: FloatArray, ratio: float, slopes: FloatArray
) -> IntArray:
    """Return the counts that maximise ``sum (e^above - e^(ratio + below)) * weight``.

    Values are kept as signs and logarithms: weights span hundreds of orders of magnitude.
    """
    gains, signs = _signed_sum(above, np.ones(above.size), ratio + below, -np.ones(below.size))
    n, width = slopes.shape
    log, sign = np.full(width, gains[-1]), np.full(width, signs[-1])
    chosen = np.empty((n, width), dtype=np.int64)
    rank = np.empty(width, dtype=np.int64)
    for j in range(n - 1, -1, -1):
        log = log + slopes[j]
        size = np.where(sign == 0, 0.0, log)  # of 0 there is no logarithm
        order = np.lexsort((sign * size, sign))
        rank[order] = np.arange(width)
        # Counts never fall: the best of all counts at or above this one.
        chosen[j] = order[np.maximum.accumulate(rank[::-1])[::-1]]
        log, sign = _signed_sum(gains[j], signs[j], log[chosen[j]], sign[chosen[j]])
    counts, at = np.empty(n, dtype=np.int64), 0
    for j in range(n):
        at = int(chosen[j, at])
        counts[j] = at
    return counts


def _signed_sum(
    log: FloatArray, sign: FloatArray, other_log: FloatArray, other_sign: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the size of ``sign e^log + other_sign e^other_log``, and its sign."""
    top = np.maximum(log, other_log)
    top = np.where(np.isneginf(top), 0.0, top)
    total = sign * np.exp(log - top) + other_sign * np.exp(other_log - top)
    with np.errstate(divide="ignore"):
        return top + np.log(np.abs(total)), np.sign(total)


def _values(first: FiniteLaw, second: FiniteLaw) -> FloatArray:
    return np.unique(np.concatenate([first.atoms, second.atoms]))


def _cuts(values: FloatArray, k: int) -> FloatArray:
    """Return points between values, as many as keep the tables of counts listable."""
    middles = (values[1:] + values[:-1]) / 2
    most = middles.size
    while most > 1 and math.comb(most + k, k) * max(values.size, min(k, most + 1)) > TABLES:
        most -= 1
    return middles[np.unique(np.linspace(0, middles.size - 1, most).round().astype(int))]
