"""Distances that hold outside events of probability delta."""

from __future__ import annotations

import numpy as np

from mechanisms import check
from mechanisms.coupling import Coupling, DiscreteLaw

_SLACK = 1e-12  # rounding of the matched mass, on the safe side


def distance_quantile(coupling: Coupling, *, delta: float) -> float:
    """Return the smallest W with ``P(|x - x'| > W) <= delta`` under the coupling.

    With noise calibrated to W by `shift_laplace` or `shift_gaussian`, the release is
    (order, epsilon, delta)-Renyi Pufferfish private: given the event ``|x - x'| <= W`` both
    sides are mixtures of laws at most W apart, and joint convexity needs no further term.
    """
    delta = check.within("delta", delta, 0, 1, ends="[)")
    distances = coupling.distances("l1")
    order = np.argsort(distances, kind="stable")[::-1]
    beyond = np.cumsum(coupling.weights[order])
    # Drop the farthest pairs while their weight stays within delta.
    dropped = int(np.searchsorted(beyond, delta, side="right"))
    return float(distances[order[min(dropped, len(order) - 1)]])


def close_distance(p: DiscreteLaw, q: DiscreteLaw, *, delta: float) -> float:
    """Return the smallest W for which some coupling on the line has ``P(|x - x'| > W) <= delta``.

    Exact: on the line the left-to-right greedy matching leaves the least mass unmatched; rounded
    up where the mass left is within 1e-12 of `delta`. But for that rounding it is never above
    `distance_quantile` of the comonotone coupling.
    Cost O((n + m) log(nm)) after listing the nm distances.
    """
    delta = check.within("delta", delta, 0, 1, ends="[)")
    candidates = np.unique(np.abs(np.subtract.outer(p.atoms, q.atoms)))
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        allowed = delta - _SLACK if delta > 0 else _SLACK
        if _unmatched(p, q, float(candidates[middle])) <= allowed:
            high = middle
        else:
            low = middle + 1
    return float(candidates[high])


def _unmatched(p: DiscreteLaw, q: DiscreteLaw, reach: float) -> float:
    """Return the mass that cannot be paired within `reach`, atoms served from left to right."""
    left, right = p.weights.tolist(), q.weights.tolist()
    i = j = 0
    lost = 0.0
    while i < len(left) and j < len(right):
        gap = p.atoms[i] - q.atoms[j]
        if abs(gap) <= reach:
            moved = min(left[i], right[j])
            left[i], right[j] = left[i] - moved, right[j] - moved
            if left[i] <= 0:
                i += 1
            else:
                j += 1
        elif gap < 0:
            lost, i = lost + left[i], i + 1
        else:
            j += 1
    return lost + sum(left[i:])
