"""The influence curve of a stationary two-state chain in closed form."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray, IntArray, whole, within
from mechanisms.influence.curve import InfluenceCurve


def long_chain_influence(p: float, q: float, b: int) -> float:
    """Return a(b) far from the ends of a long stationary chain, 0 < p, q < 1, b >= 1.

    ``f(floor((b + 1) / 2)) + f(ceil((b + 1) / 2))`` with p = P(0 -> 0), q = P(1 -> 1)
    (Bai, He, Gu, Kifer, Maeng 2026, Section 6.4). Exact for ``p + q >= 1``; else an upper bound,
    since signs alternate with the distance and the most even split need not be the best.

    Examples
    --------
    >>> round(long_chain_influence(0.6, 0.8, 2), 6)
    1.550597
    """
    whole("b", b)
    return float(_one_side(p, q, np.array([(b + 1) // 2, (b + 2) // 2])).sum())


def binary_chain_curve(
    p: float, q: float, length: int, *, b_max: int | None = None
) -> InfluenceCurve:
    """Return the curve of a stationary chain of `length` entries, the ends included.

    Exact for ``p + q >= 1``, an upper bound else. Tabulated for b up to `b_max`; None for all.
    """
    whole("length", length)
    b_max = length if b_max is None else min(whole("b_max", b_max), length)
    influence = np.append(_one_side(p, q, np.arange(1, length + 1)), 0.0)  # index d - 1
    values = np.full(b_max + 1, np.inf)
    nodes = np.arange(1, length + 1)
    for b in range(1, b_max + 1):
        left = np.arange(1, b + 1)
        two = influence[left - 1] + influence[b - left]
        low, high = np.maximum(1, b + 1 - length + nodes), np.minimum(b, nodes - 1)
        # Convex in the split where signs do not alternate; the search over splits covers both.
        best = np.array(
            [two[i - 1 : j].min() if j >= i else np.inf for i, j in zip(low, high, strict=True)]
        )
        swallowed_left = np.where(b >= nodes, influence[np.maximum(b - nodes, 0)], np.inf)
        kept = b - length + nodes - 1
        swallowed_right = np.where(kept >= 0, influence[np.maximum(kept, 0)], np.inf)
        values[b] = np.minimum(best, np.minimum(swallowed_left, swallowed_right)).max()
    if b_max == length:
        values[length] = 0.0
    return InfluenceCurve(
        values=values, entries=length, direction="exact" if p + q >= 1 else "upper bound"
    )


def long_chain_curve(p: float, q: float, length: int, *, b_max: int) -> InfluenceCurve:
    """Return `long_chain_influence` as the curve of `length` entries, for b up to `b_max`.

    The ends of a chain only lower it, and nothing reaches them from the middle while b is below
    half the length: exact there for ``p + q >= 1``, an upper bound else.
    """
    b_max = min(whole("b_max", b_max), whole("length", length))
    values = [np.inf] + [long_chain_influence(p, q, b) for b in range(1, b_max + 1)]
    exact = p + q >= 1 and b_max < (length + 1) // 2
    return InfluenceCurve(
        values=np.array(values), entries=length, direction="exact" if exact else "upper bound"
    )


def _one_side(p: float, q: float, distances: IntArray) -> FloatArray:
    """Return f(d), the largest log ratio that the entry d steps away can show."""
    within("p", p, 0, 1, ends="()")
    within("q", q, 0, 1, ends="()")
    rare = min(1 - q, 1 - p) / (2 - p - q)  # stationary mass of the rarer state
    decay = np.power(p + q - 1, distances.astype(np.float64))
    with np.errstate(divide="ignore"):
        return np.abs(np.log(rare + decay * (1 - rare)) - np.log(rare - decay * rare))
