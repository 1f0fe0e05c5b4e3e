"""Couplings of finite laws: which atom of one law moves to which of the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.finite import FiniteLaw

Norm = Literal["l1", "l2"]

# Cumulative weights this close (per atom) are taken as equal, as .1 + .2 and .3 are.
_ROUNDING = 2.0**-50


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """A joint law of (x, x'): `left[k]` is paired with `right[k]` with probability `weights[k]`.

    Attributes
    ----------
    left, right : array of shape (k,) or (k, m)
        Paired points, in units of the query.
    weights : array of shape (k,)
        Positive, sum 1 up to rounding.
    """

    left: FloatArray
    right: FloatArray
    weights: FloatArray

    def distances(self, norm: Norm = "l1") -> FloatArray:
        """Return ``|x - x'|`` for each pair, shape (k,); on the line both norms agree."""
        moved = np.abs(self.left - self.right)
        if moved.ndim == 1:
            return moved
        return moved.sum(axis=1) if norm == "l1" else np.linalg.norm(moved, axis=1)


def comonotone(p: FiniteLaw, q: FiniteLaw) -> Coupling:
    """Return the quantile (north-west corner) coupling of two laws on the line.

    It minimises the mean of every convex cost of ``x - x'`` and the largest ``|x - x'|``
    (Villani 2009, Santambrogio 2015), in O(n log n).

    Notes
    -----
    Exact where both laws carry counts. Otherwise tail masses (cumulative weights below the
    median, from the right above it) that agree to a relative ``(n + m) 2^-50`` are taken as equal,
    so that rounding creates no pair; an atom with less mass than that is still paired (with the far
    end of its neighbourhood), so no atom is dropped. Tails keep their relative accuracy: values of
    probability 1e-20 are coupled as their probabilities say.

    Examples
    --------
    >>> p = FiniteLaw(atoms=[0.0, 1.0], weights=[0.7, 0.3])
    >>> q = FiniteLaw(atoms=[0.0, 1.0], weights=[0.4, 0.6])
    >>> comonotone(p, q).distances().tolist()
    [0.0, 1.0, 0.0]
    """
    if p.atoms.ndim != 1 or q.atoms.ndim != 1:
        raise ValueError("comonotone needs laws on the line, got points of several dimensions.")
    if p.counts is not None and q.counts is not None:
        return _couple_counts(p.atoms, p.counts, q.atoms, q.counts)
    ends_p, ends_q = _Ends.of(p.weights), _Ends.of(q.weights)
    slack = _ROUNDING * (len(p.weights) + len(q.weights))
    depth, first = np.unique(
        np.concatenate([ends_p.depth, ends_q.depth[:-1]]), return_index=True
    )  # both laws end at inf
    stays = np.append(np.diff(depth) > slack, True)  # the last of each cluster stays
    depth, first = depth[stays], first[stays]
    left = np.concatenate([ends_p.left, ends_q.left[:-1]])[first]
    right = np.concatenate([ends_p.right, ends_q.right[:-1]])[first]
    starts = np.append(-np.inf, depth[:-1])
    mass = _masses(depth, left, right)
    middle = np.where(np.isinf(depth), starts + 1, (np.maximum(starts, depth - 1) + depth) / 2)
    middle[~np.isfinite(middle)] = 0.0  # one interval holds everything
    i, j = np.searchsorted(ends_p.depth, middle), np.searchsorted(ends_q.depth, middle)
    more_i, more_j, more = _lost_pairs(p, q, i, ends_p, ends_q, slack)
    back_j, back_i, back = _lost_pairs(q, p, j, ends_q, ends_p, slack)
    i, j = np.concatenate([i, more_i, back_i]), np.concatenate([j, more_j, back_j])
    return Coupling(left=p.atoms[i], right=q.atoms[j], weights=np.concatenate([mass, more, back]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """Where each atom ends: mass up to it, mass beyond it, and a depth that keeps both tails apart.

    The depth is ``log left`` up to the median and ``log 1/4 - log right`` above it: increasing,
    with steps that are relative steps of the smaller tail.
    """

    depth: FloatArray
    left: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, weights: FloatArray) -> _Ends:
        left = np.cumsum(weights)
        right = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0)
        with np.errstate(divide="ignore"):
            depth = np.where(left <= right, np.log(left), math.log(0.25) - np.log(right))
        return cls(depth=np.maximum.accumulate(depth), left=left, right=right)


def _masses(depth: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the mass of each interval between ends, from the tail that it lies in."""
    start_left, start_right = np.append(0.0, left[:-1]), np.append(1.0, right[:-1])
    return np.where(depth <= math.log(0.5), left - start_left, start_right - right)


def _lost_pairs(
    law: FiniteLaw,
    other: FiniteLaw,
    used: IntArray,
    ends: _Ends,
    ends_other: _Ends,
    slack: float,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Pair each atom that rounding left out with the farther of the atoms around its quantile."""
    lost = np.setdiff1d(np.arange(len(law.atoms)), used)
    starts = np.append(-np.inf, ends.depth[:-1])
    first = np.searchsorted(ends_other.depth, starts[lost] - slack)
    last = np.searchsorted(ends_other.depth, ends.depth[lost] + slack)
    last = last.clip(max=len(ends_other.depth) - 1)
    near, far = other.atoms[first], other.atoms[last]
    farther = np.where(np.abs(law.atoms[lost] - near) > np.abs(law.atoms[lost] - far), first, last)
    return lost, farther, law.weights[lost]


def _couple_counts(
    left: FloatArray, left_counts: IntArray, right: FloatArray, right_counts: IntArray
) -> Coupling:
    """Couple sorted points with whole masses; exact, cumulative masses compared as integers."""
    total, other = int(left_counts.sum()), int(right_counts.sum())
    shared = math.gcd(total, other)
    if total // shared * other >= 2**63:
        raise ValueError(f"samples are too large to couple exactly, got {total} and {other}.")
    ends_left = np.cumsum(left_counts) * (other // shared)
    ends_right = np.cumsum(right_counts) * (total // shared)
    # Two sorted runs: the stable sort merges them in linear time.
    ends = np.sort(np.concatenate([ends_left, ends_right]), kind="stable")
    mass = np.diff(ends, prepend=0)
    ends, mass = ends[mass > 0], mass[mass > 0]
    i, j = np.searchsorted(ends_left, ends), np.searchsorted(ends_right, ends)
    return Coupling(left=left[i], right=right[j], weights=mass / ends[-1])


def comonotone_of_samples(first: object, second: object) -> Coupling:
    """Return the comonotone coupling of two raw samples of values (each value weighs 1/n).

    Exact. Sorting dominates: no table of counts is built, and samples of one size need
    nothing else.

    Examples
    --------
    >>> comonotone_of_samples([3.0, 1.0], [1.0, 5.0]).distances().tolist()
    [0.0, 2.0]
    """
    left, right = np.sort(_line("first", first)), np.sort(_line("second", second))
    if left.size == right.size:
        return Coupling(left=left, right=right, weights=np.full(left.size, 1 / left.size))
    ones = np.ones(left.size, dtype=np.int64), np.ones(right.size, dtype=np.int64)
    return _couple_counts(left, ones[0], right, ones[1])


def _line(name: str, values: object) -> FloatArray:
    sample = check.finite(name, values)
    if sample.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {sample.shape}.")
    return sample


def wasserstein(p: FiniteLaw, q: FiniteLaw, *, order: float) -> float:
    """Return the Wasserstein distance W_order of two laws on the line, order in [1, inf].

    Exact: the comonotone coupling is optimal for every order (Santambrogio 2015, Section 2.2).

    Examples
    --------
    >>> point = FiniteLaw(atoms=[0.0], weights=[1.0]), FiniteLaw(atoms=[25.0], weights=[1.0])
    >>> wasserstein(*point, order=2)
    25.0
    """
    return transport_length(comonotone(p, q), order=order)


def transport_length(coupling: Coupling, *, order: float, norm: Norm = "l1") -> float:
    """Return ``E[|x - x'|^order]^(1/order)`` of one coupling: an upper bound on W_order."""
    order = check.within("order", order, 1, math.inf)
    distances = coupling.distances(norm)
    largest = float(distances.max())
    if largest == 0 or math.isinf(order):
        return largest
    # Divided by the largest distance first, so that no power overflows.
    mean = float(coupling.weights @ (distances / largest) ** order)
    return largest * mean ** (1 / order)


def largest_over_pairs(scales: Sequence[float]) -> float:
    """Return the scale that serves every secret pair: the largest of the per-pair scales."""
    if len(scales) == 0:
        raise ValueError("scales must not be empty: a calibration needs at least one secret pair.")
    return max(scales)
