"""Smallest noise that a coupling of the two conditional laws proves to be enough.

Every function takes a coupling of the laws of the query under the two secrets (any coupling is
valid, the optimal one gives the least noise), a Renyi order and epsilon in nats, and returns an
upper bound on the noise needed, rounded towards more noise. The costs are even in ``x - x'``, so
that both directions of a secret pair are covered at once; for several pairs take
`mechanisms.laws.discrete.largest_over_pairs`. Scale 0 means that the laws are equal (or epsilon is
infinite) and no noise is needed; scale inf means that no noise meets the budget by this theorem.
In several dimensions Laplace noise is independent per coordinate and distances are L1, Gaussian
noise is isotropic and distances are L2.

References
----------
Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy.
Pierquin, Bellet, Tommasi, Boussard (2024), Renyi Pufferfish Privacy.
Song, Wang, Chaudhuri (2017), Pufferfish Privacy Mechanisms for Correlated Data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.laws.discrete import Coupling
from mechanisms.leakage.root import largest_convex
from mechanisms.renyi.noise_cost import log_mean_exp, log_mean_laplace


def wasserstein_laplace(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the Laplace scale b with ``E[exp(order |z|/b)] = exp((order-1) epsilon)``.

    Ding, Yang, Zhang (2026), Theorem 1; order in [1, inf]. Order inf is ``W_inf/epsilon``;
    at order 1 the condition has no solution and the scale is inf.

    Examples
    --------
    >>> from mechanisms.laws.discrete import comonotone_of_samples
    >>> pair = comonotone_of_samples([0.0], [1.0])
    >>> round(wasserstein_laplace(pair, order=2, epsilon=0.5), 9)
    4.0
    """
    rate = _exponential_rate(coupling.distances("l1"), coupling.weights, order, epsilon)
    return _above(1 / rate) if rate > 0 else math.inf


def wasserstein_exponential(
    costs: FloatArray, weights: FloatArray, *, order: float, epsilon: float
) -> float:
    """Return the rate eta of noise with density proportional to ``exp(-eta c(z))``, c a metric.

    Ding, Yang, Zhang (2026), Corollary 1: the largest eta with
    ``E[exp(order eta c(x-x'))] <= exp((order-1) epsilon)``, a lower bound on the largest valid
    rate. A rate, not a scale: inf means no noise, 0 that no noise is enough.

    Parameters
    ----------
    costs : array of shape (k,)
        ``c(x - x')`` for each pair of a coupling. The comonotone coupling is optimal for
        ``c = |z|``; for other metrics any coupling is valid and the optimal plan for the cost
        ``exp(order eta c)`` is best.
    weights : array of shape (k,)
    """
    costs = check.finite("costs", costs)
    if costs.shape != np.shape(weights) or (costs < 0).any():
        raise ValueError("costs must be non-negative, one for each weight.")
    return _exponential_rate(costs, check.weights("weights", weights), order, epsilon)


def _exponential_rate(
    costs: FloatArray, weights: FloatArray, order: float, epsilon: float
) -> float:
    order = check.within("order", order, 1, math.inf)
    epsilon = check.positive("epsilon", epsilon)
    largest = float(costs.max())
    if largest == 0 or math.isinf(epsilon):
        return math.inf
    if math.isinf(order):
        return _below(epsilon / largest)
    if order == 1:
        return 0.0
    costs = costs / largest
    budget = (order - 1) * epsilon
    # log E exp(order u c) <= order u max c gives the lower end, Jensen and the largest term
    # give two upper ends.
    mean, mass = float(weights @ costs), float(weights[costs == 1].sum())
    high = min(budget / (order * mean), (budget - math.log(min(mass, 1.0))) / order)

    def cost(level: float) -> tuple[float, float]:
        value, slope = log_mean_exp(costs, weights, order * level)
        return value, order * slope

    low = budget / order
    return _below(largest_convex(cost, budget=budget, low=low, high=max(low, high)) / largest)


def wasserstein_gaussian(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the standard deviation of Gaussian noise, Ding, Yang, Zhang (2026), Theorem 2.

    Solves ``E[exp(order (order-1) |z|^2 / (2 sigma^2))] = exp((order-1) epsilon)``, which is the
    joint-convexity bound; order in [1, inf]. Order 1: ``sqrt(E|z|^2 / (2 epsilon))``. Order inf:
    inf unless the laws are equal.
    """
    order = check.within("order", order, 1, math.inf)
    epsilon = check.positive("epsilon", epsilon)
    distances, weights = coupling.distances("l2"), coupling.weights
    largest = float(distances.max())
    if largest == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(order):
        return math.inf
    squares = (distances / largest) ** 2
    mean = float(weights @ squares)
    if order == 1:
        return _above(largest * math.sqrt(mean / (2 * epsilon)))
    budget = (order - 1) * epsilon
    mass = float(weights[squares == 1].sum())
    high = min(budget / mean, budget - math.log(min(mass, 1.0)))
    level = largest_convex(
        lambda u: log_mean_exp(squares, weights, u),
        budget=budget,
        low=budget,
        high=max(budget, high),
    )
    return _above(largest * math.sqrt(order * (order - 1) / (2 * level)))


def shift_laplace(distance: float, *, order: float, epsilon: float) -> float:
    """Return the Laplace scale from W_inf alone: Pierquin et al. (2024), Corollary 3.1.

    Smallest b with ``D_order(Lap(b) + distance || Lap(b)) <= epsilon``, order in [1, inf]: the
    least possible when the two laws are points. `distance` is W_inf (or a sensitivity).
    """
    one = Coupling(left=np.zeros(1), right=np.array([_distance(distance)]), weights=np.ones(1))
    return joint_convex_laplace(one, order=order, epsilon=epsilon)


def shift_gaussian(distance: float, *, order: float, epsilon: float) -> float:
    """Return the Gaussian standard deviation from W_inf alone: ``distance sqrt(order/(2 eps))``.

    Pierquin et al. (2024), Corollary 3.1; order in [1, inf], inf at order inf.
    """
    order = check.within("order", order, 1, math.inf)
    epsilon = check.positive("epsilon", epsilon)
    if _distance(distance) == 0 or math.isinf(epsilon):
        return 0.0
    return _above(distance * math.sqrt(order / 2 / epsilon))


def _distance(distance: float) -> float:
    return check.within("distance", distance, 0, math.inf, ends="[)")


def joint_convex_laplace(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the Laplace scale whose mean Hellinger integral over the coupling meets the budget.

    Solves ``E[a/(2a-1) e^{(a-1)|z|/b} + (a-1)/(2a-1) e^{-a|z|/b}] = e^{(a-1) epsilon}`` for order
    a in [1, inf]; valid because ``exp((a-1) D_a)`` is jointly convex (van Erven and Harremoes
    2014). Never above `wasserstein_laplace` and `shift_laplace`, least possible for points.
    Order 1: ``E[|z|/b - 1 + e^{-|z|/b}] = epsilon``. Order inf: ``W_inf/epsilon``.
    In several dimensions it is an upper bound also on this criterion, since the log of the
    Hellinger integral is superadditive in the L1 distance.
    """
    order = check.within("order", order, 1, math.inf)
    epsilon = check.positive("epsilon", epsilon)
    distances, weights = coupling.distances("l1"), coupling.weights
    largest = float(distances.max())
    if largest == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(order):
        return _above(largest / epsilon)
    distances = distances / largest
    mean = float(weights @ distances)
    mean_square = float(weights @ distances**2)
    # D(t) <= t gives the lower end. Upper ends: D >= KL >= t - 1 (Jensen), and the mean of
    # t - 1 + e^{-t} >= t^2/2 - t^3/6 >= t^2/3 while t <= 1.
    low = epsilon
    high = (1 + epsilon) / mean
    if 3 * epsilon < mean_square:
        high = min(high, math.sqrt(3 * epsilon / mean_square))
    level = largest_convex(
        lambda u: log_mean_laplace(distances, weights, order, u),
        budget=epsilon,
        low=low,
        high=max(low, high),
    )
    return _above(largest / level)


def w_infinity_laplace(coupling: Coupling, *, epsilon: float) -> float:
    """Return ``max |x - x'| / epsilon``: Song, Wang, Chaudhuri (2017), W_inf mechanism.

    Pure epsilon-Pufferfish privacy, hence every Renyi order. On the comonotone coupling the
    numerator is W_inf, on a W_1-optimal one the strict Kantorovich bound of Ding (2022).
    """
    return _above(float(coupling.distances("l1").max()) / check.positive("epsilon", epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class BestScale:
    """The smallest of several valid scales, and the bound that gave it."""

    scale: float
    bound: str


def best_laplace(coupling: Coupling, *, order: float, epsilon: float) -> BestScale:
    """Return the smallest of the published Laplace scales and the bound that won.

    Candidates: Theorem 1 at the order asked for and at larger orders (divergences grow with the
    order), Corollary 3.1 of Pierquin et al. and ``W_inf/epsilon``. `joint_convex_laplace` is
    never worse and is left out: this is the best that the published bounds give.
    """
    order = check.within("order", order, 1, math.inf)
    largest = float(coupling.distances("l1").max())
    candidates = {
        "w_infinity": w_infinity_laplace(coupling, epsilon=epsilon),
        "shift": shift_laplace(largest, order=order, epsilon=epsilon),
        "wasserstein": wasserstein_laplace(coupling, order=order, epsilon=epsilon),
    }
    if math.isfinite(order):
        candidates["wasserstein_higher_order"] = min(
            wasserstein_laplace(coupling, order=a, epsilon=epsilon) for a in higher_orders(order)
        )
    bound = min(candidates, key=candidates.__getitem__)
    return BestScale(scale=candidates[bound], bound=bound)


def higher_orders(order: float) -> list[float]:
    """Return 41 orders up to a thousand times beyond `order`: a bound at any of them is valid."""
    orders = 1 + max(order - 1, 1e-3) * np.geomspace(1, 1e3, 41)
    return [float(a) for a in orders if a >= order]


def best_gaussian(coupling: Coupling, *, order: float, epsilon: float) -> BestScale:
    """Return the smaller of Theorem 2 (Ding et al. 2026) and Corollary 3.1 (Pierquin et al.)."""
    largest = float(coupling.distances("l2").max())
    candidates = {
        "wasserstein": wasserstein_gaussian(coupling, order=order, epsilon=epsilon),
        "shift": shift_gaussian(largest, order=order, epsilon=epsilon),
    }
    bound = min(candidates, key=candidates.__getitem__)
    return BestScale(scale=candidates[bound], bound=bound)


def _above(value: float) -> float:
    """Return the next float: the division that made `value` may have rounded down."""
    return math.nextafter(value, math.inf) if 0 < value < math.inf else value


def _below(value: float) -> float:
    return math.nextafter(value, 0.0) if 0 < value < math.inf else value
