"""How far a law must be moved to become another, but for a small part of its mass."""

from __future__ import annotations

import numpy as np

from mechanisms.check import within
from mechanisms.laws.coupling import comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.transport import optimal_coupling, pairwise_distances, w_infinity

ROUNDING = 1e-12  # above what a sum of 4000 weights can be off by


def w_delta_closeness(p: FiniteLaw, q: FiniteLaw, *, delta: float) -> float:
    """Return the smallest W for which two laws are (W, delta)-close; W_infinity at delta = 0.

    Some coupling of (W, delta)-close laws moves all but delta of the mass by at most W in L1.

    Parameters
    ----------
    p, q : FiniteLaw
        On the line or in R^m; vectors need POT.
    delta : float in [0, 1)

    Returns
    -------
    float
        One of the distances between atoms. At delta = 0 an atom counts however little it weighs.
        Else mass counts as movable up to ``delta - 1e-12``: where exactly delta is left over, the
        next distance is returned, and a delta of 1e-12 or less is served by W_infinity.

    References
    ----------
    Chen and Ohrimenko (2023), section 3.

    Examples
    --------
    >>> atoms = [1.0, 2.0, 3.0, 100.0]
    >>> p = FiniteLaw(atoms=atoms, weights=[0.6, 0.2, 0.0, 0.2])
    >>> q = FiniteLaw(atoms=atoms, weights=[0.4, 0.3, 0.2, 0.1])
    >>> [w_delta_closeness(p, q, delta=delta) for delta in (0.0, 0.1 + 1e-9, 0.3 + 1e-9)]
    [97.0, 1.0, 0.0]
    """
    delta = within("delta", delta, 0, 1, ends="[)")
    on_line = p.atoms.ndim == q.atoms.ndim == 1
    if delta <= ROUNDING:
        if on_line:
            return float(comonotone(p, q).distances().max())
        return w_infinity(p, q, norm="l1").distance
    unmoved = _unmoved_on_the_line if on_line else _unmoved
    candidates = np.unique(np.append(pairwise_distances(p, q, norm="l1"), 0.0))
    low, high = 0, candidates.size - 1  # the farthest distance moves everything
    while low < high:
        middle = (low + high) // 2
        if unmoved(p, q, float(candidates[middle])) <= delta - ROUNDING:
            high = middle
        else:
            low = middle + 1
    return float(candidates[high])


def _unmoved(p: FiniteLaw, q: FiniteLaw, reach: float) -> float:
    """Return 1 - the largest mass that a coupling moves by at most `reach`."""
    beyond = (pairwise_distances(p, q, norm="l1") > reach).astype(np.float64)
    plan = optimal_coupling(p, q, costs=beyond)
    return float(plan.weights[plan.distances("l1") > reach].sum())


def _unmoved_on_the_line(p: FiniteLaw, q: FiniteLaw, reach: float) -> float:
    """Serve atoms from left to right: on the line no coupling leaves less behind."""
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
