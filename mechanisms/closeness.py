"""How much mass of one discrete law can be moved onto another over a bounded L1 distance."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.laws import FiniteLaw

UNMOVED = 1e-12


def smallest_distance(first: FiniteLaw, second: FiniteLaw, delta: float) -> float:
    """Return the smallest W for which two laws are (W, delta)-close; W_infinity at delta = 0.

    Some coupling of (W, delta)-close laws moves all but delta of the mass by at most W in L1.
    Mass up to 1e-12 counts as rounding.

    References
    ----------
    Chen and Ohrimenko (2023), section 3.

    Examples
    --------
    >>> atoms = np.array([1.0, 2.0, 3.0, 100.0])
    >>> p = FiniteLaw(support=atoms, weights=np.array([0.6, 0.2, 0.0, 0.2]))
    >>> q = FiniteLaw(support=atoms, weights=np.array([0.4, 0.3, 0.2, 0.1]))
    >>> smallest_distance(p, q, 0.0), smallest_distance(p, q, 0.1), smallest_distance(p, q, 0.3)
    (97.0, 1.0, 0.0)
    """
    p, q = first.weights, second.weights
    x, y = _points(first)[p > 0], _points(second)[q > 0]
    p, q = p[p > 0], q[q > 0]
    lengths = np.abs(x[:, None] - y[None]).sum(axis=-1)
    candidates = np.unique(np.append(lengths, 0.0))
    low, high = 0, candidates.size - 1  # the farthest distance moves everything
    while low < high:
        middle = (low + high) // 2
        # Distances equal up to rounding are one candidate.
        reached = lengths <= candidates[middle] * (1 + 1e-12)
        if _unmoved(p, q, reached, on_line=x.shape[1] == 1, x=x, y=y) <= delta + UNMOVED:
            high = middle
        else:
            low = middle + 1
    return float(candidates[high])


def smallest_delta(first: FiniteLaw, second: FiniteLaw, distance: float) -> float:
    """Return the smallest delta for which two laws are (distance, delta)-close."""
    x, y = _points(first), _points(second)
    reached = np.abs(x[:, None] - y[None]).sum(axis=-1) <= distance * (1 + 1e-12)
    return _unmoved(first.weights, second.weights, reached, on_line=x.shape[1] == 1, x=x, y=y)


def _points(law: FiniteLaw) -> FloatArray:
    return np.asarray(law.support, dtype=np.float64).reshape(law.weights.size, -1)


def _unmoved(
    p: FloatArray,
    q: FloatArray,
    reached: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    *,
    on_line: bool,
    x: FloatArray,
    y: FloatArray,
) -> float:
    """Return 1 - the largest mass that a coupling moves inside `reached`."""
    if on_line:
        rows, columns = np.argsort(x[:, 0], kind="stable"), np.argsort(y[:, 0], kind="stable")
        return _unmoved_on_the_line(p[rows], q[columns], reached[np.ix_(rows, columns)])
    try:
        import ot
    except ImportError as missing:
        raise ImportError(
            "transport between vector answers needs POT: "
            "pip install privacy-notions-bench[transport]"
        ) from missing
    plan, log = ot.emd(p / p.sum(), q / q.sum(), (~reached).astype(np.float64), log=True)
    if log["warning"] is not None:
        raise ArithmeticError(f"optimal transport did not converge: {log['warning']}")
    return float(plan[~reached].sum())


def _unmoved_on_the_line(
    p: FloatArray, q: FloatArray, reached: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> float:
    """Match sorted atoms from the left: no coupling moves more inside sliding intervals."""
    left = q.copy()
    moved = 0.0
    for mass, row in zip(p, reached, strict=True):
        need = float(mass)
        for j in np.flatnonzero(row):
            take = min(need, float(left[j]))
            left[j] -= take
            need -= take
            moved += take
            if need <= 0:
                break
    return max(0.0, 1.0 - moved)
