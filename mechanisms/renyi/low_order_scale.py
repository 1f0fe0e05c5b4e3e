"""Laplace noise for Renyi orders in (0, 1)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.laws.discrete import Coupling, DiscreteLaw
from mechanisms.laws.transport import optimal_coupling
from mechanisms.leakage.root import smallest_monotone

_FLOOR = 1e-3  # of the smallest positive distance: e^-1000 is left of the mean


def low_order_laplace(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the smallest b with ``E[e^{-order |z|/b}] >= e^{(order-1) epsilon}``.

    Ding, Yang, Zhang (2026), Proposition 1, order in (0, 1): an upper bound on the noise needed.
    Any coupling is valid; the best one maximises this mean, and the comonotone one need not
    (`low_order_laplace_optimal`).
    """
    order, epsilon = _checked(order, epsilon)
    distances = coupling.distances("l1")

    def loss(scale: float) -> float:
        return -_log_mean(distances, coupling.weights, order / scale)

    return _solve(loss, distances, float(coupling.weights[distances == 0].sum()), order, epsilon)


def low_order_laplace_optimal(
    p: DiscreteLaw, q: DiscreteLaw, *, order: float, epsilon: float
) -> float:
    """Return the smallest b that Proposition 1 proves with the best coupling for each b.

    One exact transport problem per step (POT); never above `low_order_laplace`.
    """
    order, epsilon = _checked(order, epsilon)
    distances = np.abs(np.subtract.outer(p.atoms, q.atoms))

    def loss(scale: float) -> float:
        plan = optimal_coupling(p, q, costs=-np.expm1(-order * distances / scale))
        return -_log_mean(plan.distances(), plan.weights, order / scale)

    stays = optimal_coupling(p, q, costs=(distances > 0).astype(float))
    still = float(stays.weights[stays.distances() == 0].sum())
    return _solve(loss, distances.ravel(), still, order, epsilon)


def low_order_coupling(p: DiscreteLaw, q: DiscreteLaw, *, order: float, epsilon: float) -> Coupling:
    """Return the coupling that attains `low_order_laplace_optimal`."""
    scale = low_order_laplace_optimal(p, q, order=order, epsilon=epsilon)
    distances = np.abs(np.subtract.outer(p.atoms, q.atoms))
    if scale == 0:
        return optimal_coupling(p, q, costs=(distances > 0).astype(float))
    return optimal_coupling(p, q, costs=-np.expm1(-order * distances / scale))


def _checked(order: float, epsilon: float) -> tuple[float, float]:
    return check.within("order", order, 0, 1, ends="()"), check.positive("epsilon", epsilon)


def _log_mean(distances: FloatArray, weights: FloatArray, rate: float) -> float:
    nearest = float(distances.min())
    spread = distances - nearest
    if rate * float(spread.max()) < 1:
        return math.log1p(float(weights @ np.expm1(-rate * spread))) - rate * nearest
    return math.log(float(weights @ np.exp(-rate * spread))) - rate * nearest


def _solve(
    loss: Callable[[float], float],
    distances: FloatArray,
    still: float,
    order: float,
    epsilon: float,
) -> float:
    budget = (1 - order) * epsilon
    if not (distances > 0).any() or (still > 0 and -math.log(still) <= budget):
        return 0.0
    high = order * float(distances.max()) / budget  # all of the mass as far as the farthest pair
    floor = _FLOOR * order * float(distances[distances > 0].min())
    return smallest_monotone(loss, budget=budget, high=max(high, floor), floor=floor)
