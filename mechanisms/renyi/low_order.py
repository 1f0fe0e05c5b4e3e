"""Renyi Pufferfish privacy of orders below 1, for scalar answers.

Scales are upper bounds on the noise needed, rounded towards more noise; epsilons (nats) are upper
bounds on the leakage of a pair in both directions. Scale 0 is no noise, an infinite scale means
that no noise meets the budget by this theorem.

Ding, Yang, Zhang (2026), Proposition 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.check import FloatArray
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import Coupling, comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.transport import optimal_coupling
from mechanisms.leakage.root import smallest_monotone
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.scale_claim import (
    over_pairs,
    scaled_noise,
)

_FLOOR = 1e-3  # of the smallest positive distance: e^-1000 is left of the mean


@dataclass(frozen=True, slots=True, kw_only=True)
class LowOrderLaplace:
    """Release ``X + Lap(b)`` with ``E[e^{-a |z|/b}] >= e^{(a-1) epsilon}``, a the order in (0, 1).

    Parameters
    ----------
    optimal : bool
        Use the coupling that maximises the mean, by transport problems (POT), instead of the
        comonotone one, which is valid but not best: the cost is not convex.

    References
    ----------
    Ding, Yang, Zhang (2026), Proposition 1.

    Examples
    --------
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = LowOrderLaplace().calibrate(
    ...     answers, budget=RenyiEpsilon(order=0.5, epsilon=0.1)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [19.981]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    optimal: bool = False

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        order, epsilon = budget.order, budget.epsilon
        if not order < 1:
            raise NotApplicableError(f"Proposition 1 is for orders below 1, got order={order:g}")
        plans = [
            low_order_coupling(p, q, order=order, epsilon=epsilon)
            if self.optimal
            else comonotone(p, q)
            for p, q in answers.law_pairs()
        ]
        pairs = over_pairs(
            plans,
            lambda plan: low_order_laplace_scale(plan, order=order, epsilon=epsilon),
            lambda plan, b: low_order_laplace_epsilon(plan, order=order, scale=b),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="laplace",
            notion=Renyi(order=order),
            theorem="Ding, Yang, Zhang (2026), Proposition 1",
            notes=answers.skipped(),
        )


def low_order_laplace_scale(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the smallest b with ``E[e^{-order |z|/b}] >= e^{(order-1) epsilon}``.

    Ding, Yang, Zhang (2026), Proposition 1, order in (0, 1): an upper bound on the noise needed.
    Any coupling is valid; the best one maximises this mean, and the comonotone one need not
    (`low_order_laplace_optimal_scale`).
    """
    order, epsilon = _check(order, epsilon)
    distances = coupling.distances("l1")

    def loss(scale: float) -> float:
        return -_log_mean(distances, coupling.weights, order / scale)

    return _solve(loss, distances, float(coupling.weights[distances == 0].sum()), order, epsilon)


def low_order_laplace_epsilon(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return ``log E[e^{-order |z|/b}] / (order - 1)``, order in (0, 1): Proposition 1."""
    order = check.within("order", order, 0, 1, ends="()")
    distances, weights = coupling.distances("l1"), coupling.weights
    if scale == 0:
        still = float(weights[distances == 0].sum())
        return -math.log(min(still, 1.0)) / (1 - order) if still > 0 else math.inf
    nearest = float(distances.min())
    spread = (distances - nearest) * order / scale
    log_mean = math.log1p(float(weights @ np.expm1(-spread))) - order * nearest / scale
    return max(0.0, -log_mean / (1 - order))


def low_order_laplace_optimal_scale(
    p: FiniteLaw, q: FiniteLaw, *, order: float, epsilon: float
) -> float:
    """Return the smallest b that Proposition 1 proves with the best coupling for each b.

    One exact transport problem per step (POT); never above `low_order_laplace_scale`.
    """
    order, epsilon = _check(order, epsilon)
    distances = np.abs(np.subtract.outer(p.atoms, q.atoms))

    def loss(scale: float) -> float:
        plan = optimal_coupling(p, q, costs=-np.expm1(-order * distances / scale))
        return -_log_mean(plan.distances(), plan.weights, order / scale)

    stays = optimal_coupling(p, q, costs=(distances > 0).astype(float))
    still = float(stays.weights[stays.distances() == 0].sum())
    return _solve(loss, distances.ravel(), still, order, epsilon)


def low_order_coupling(p: FiniteLaw, q: FiniteLaw, *, order: float, epsilon: float) -> Coupling:
    """Return the coupling that attains `low_order_laplace_optimal_scale`."""
    scale = low_order_laplace_optimal_scale(p, q, order=order, epsilon=epsilon)
    distances = np.abs(np.subtract.outer(p.atoms, q.atoms))
    if scale == 0:
        return optimal_coupling(p, q, costs=(distances > 0).astype(float))
    return optimal_coupling(p, q, costs=-np.expm1(-order * distances / scale))


def _check(order: float, epsilon: float) -> tuple[float, float]:
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
