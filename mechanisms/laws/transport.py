"""Optimal couplings for general costs and in several dimensions, by exact linear programs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from mechanisms.check import FloatArray, one_of
from mechanisms.laws.coupling import Coupling, Norm
from mechanisms.laws.finite import FiniteLaw

_PART = 1e-10  # part of an atom's mass that rounding may leave beyond the distance
_MAX_PIVOTS = 10_000_000


def pairwise_distances(p: FiniteLaw, q: FiniteLaw, *, norm: Norm) -> FloatArray:
    """Return ``|x - x'|`` for all pairs of atoms, shape (n, m), in the L1 or L2 norm."""
    one_of("norm", norm, ("l1", "l2"))
    left, right = (law.atoms.reshape(len(law.atoms), -1) for law in (p, q))
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"laws must have one dimension, got {left.shape[1]} and {right.shape[1]}.")
    moved = np.abs(left[:, None, :] - right[None, :, :])
    return moved.sum(axis=2) if norm == "l1" else np.linalg.norm(moved, axis=2)


def optimal_coupling(p: FiniteLaw, q: FiniteLaw, *, costs: FloatArray) -> Coupling:
    """Return a coupling of least mean cost, `costs` of shape (n, m); network simplex of POT.

    Any coupling gives a valid calibration: an error in the optimum costs noise, not privacy.

    Raises
    ------
    ImportError
        If POT is not installed.
    ArithmeticError
        If the simplex did not finish.
    """
    return _coupling(p, q, _plan(p, q, costs))


def _plan(p: FiniteLaw, q: FiniteLaw, costs: FloatArray) -> FloatArray:
    """Return the mass that an optimal coupling moves between each pair of atoms."""
    ot = _pot()
    if costs.shape != (len(p.weights), len(q.weights)):
        raise ValueError(
            f"costs must have shape {(len(p.weights), len(q.weights))}, got {costs.shape}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan, log = ot.emd(p.weights, q.weights, costs, numItermax=_MAX_PIVOTS, log=True)
    if log["warning"] is not None:
        raise ArithmeticError(f"optimal transport did not finish: {log['warning']}")
    return np.asarray(plan, dtype=np.float64)


def _coupling(p: FiniteLaw, q: FiniteLaw, plan: FloatArray) -> Coupling:
    i, j = np.nonzero(plan > 0)
    return Coupling(left=p.atoms[i], right=q.atoms[j], weights=plan[i, j] / plan[i, j].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class BottleneckPlan:
    """W_inf and a coupling that attains it up to the stated mass."""

    distance: float
    coupling: Coupling


def w_infinity(p: FiniteLaw, q: FiniteLaw, *, norm: Norm) -> BottleneckPlan:
    """Return W_inf with L1 or L2 ground distance, in any dimension.

    Bisection over the distances between atoms; each step is a transport problem with cost 1
    beyond the distance. The value is one of those distances. It may be below the true W_inf only
    where every atom of both laws is coupled that close but for a part of 1e-10 of its own
    mass, which changes log likelihood ratios of the release by 2e-10 at most: an atom counts
    however little it weighs. Rounding of the simplex can make it larger than W_inf.
    """
    distances = pairwise_distances(p, q, norm=norm)
    # Every atom has to move at least to its nearest partner, whatever its weight.
    nearest = max(distances.min(axis=1).max(), distances.min(axis=0).max())
    candidates = np.unique(distances[distances >= nearest])
    low, high = 0, len(candidates) - 1
    best = None
    while low < high:
        middle = (low + high) // 2
        beyond = distances > candidates[middle]
        plan = _plan(p, q, beyond.astype(np.float64))
        moved = np.where(beyond, 0.0, plan)
        if _agrees(moved.sum(axis=1), p.weights) and _agrees(moved.sum(axis=0), q.weights):
            high, best = middle, _coupling(p, q, plan)
        else:
            low = middle + 1
    if best is None:
        best = optimal_coupling(p, q, costs=(distances > candidates[high]).astype(np.float64))
    return BottleneckPlan(distance=float(candidates[high]), coupling=best)


def _agrees(moved: FloatArray, weights: FloatArray) -> bool:
    return bool((np.abs(moved - weights) <= _PART * weights).all())


def _pot() -> ModuleType:
    try:
        import ot
    except ImportError as error:
        raise ImportError(
            "optimal transport needs POT: pip install privacy-notions-bench[transport]"
        ) from error
    return ot
