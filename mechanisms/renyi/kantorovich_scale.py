"""Pure and (epsilon, delta)-Pufferfish privacy from one coupling (Kantorovich mechanisms).

Every scale is an upper bound on the noise needed, for both directions of the pair; the strict
Kantorovich mechanism is `mechanisms.renyi.calibrate.w_infinity_laplace` on a W_1-optimal plan.

References
----------
Ding (2022), Kantorovich Mechanism for Pufferfish Privacy.
Balle, Wang (2018), Improving the Gaussian Mechanism for Differential Privacy.
Dwork, Roth (2014), The Algorithmic Foundations of Differential Privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.discrete import Coupling
from mechanisms.leakage.gaussian_tradeoff import classical_constant, gaussian_deltas
from mechanisms.leakage.root import largest_convex, smallest_monotone


def relaxed_kantorovich_laplace(coupling: Coupling, *, epsilon: float) -> float:
    """Return the Laplace scale of the relaxed Kantorovich mechanism (pure epsilon-Pufferfish).

    Smallest b with ``E[e^{|x-x'|/b} | x'] <= e^epsilon`` for every x' and likewise for every x.
    Valid: ``E[N(y-x) | x'] <= E[e^{|x-x'|/b} | x'] N(y-x')``, averaged over x'. Never above
    `w_infinity_laplace` on the same coupling.
    """
    epsilon = check.positive("epsilon", epsilon)
    distances = coupling.distances("l1")
    largest = float(distances.max())
    if largest == 0 or math.isinf(epsilon):
        return 0.0
    sides = [_groups(points, coupling.weights) for points in (coupling.left, coupling.right)]
    # Jensen, for the group of the largest mean distance, bounds the rate from above.
    ratio = distances / largest
    means = max(float(np.bincount(group, share * ratio).max()) for group, share in sides)
    rate = largest_convex(
        conditional_log_mean(coupling),
        budget=epsilon,
        low=epsilon,
        high=max(epsilon, epsilon / means),
    )
    return math.nextafter(largest / rate, math.inf)


def conditional_log_mean(coupling: Coupling) -> Callable[[float], tuple[float, float]]:
    """Return the largest ``log E[e^{rate |x-x'|/L} | x']``, over x' and over x, with its slope.

    A function of the rate; L is the coupling's largest distance, which must be positive.
    """
    distances = coupling.distances("l1")
    distances = distances / distances.max()
    sides = [_groups(points, coupling.weights) for points in (coupling.left, coupling.right)]

    def cost(rate: float) -> tuple[float, float]:
        shifted = np.exp(rate * (distances - 1))  # at most 1: nothing overflows
        worst = (-math.inf, 0.0)
        for group, share in sides:
            total = np.bincount(group, share * shifted)
            slope = np.bincount(group, share * shifted * distances)
            # A group far below the largest may underflow to 0; another one is then the worst.
            k = int(total.argmax())
            worst = max(worst, (rate + math.log(total[k]), float(slope[k] / total[k])))
        return worst

    return cost


def _groups(points: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return for each pair its group of equal points and its share of the group's weight."""
    _, group = np.unique(points, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return group, weights / np.bincount(group, weights)[group]


def kantorovich_gaussian(coupling: Coupling, *, epsilon: float, delta: float) -> float:
    """Return the smallest sigma with ``E[delta_G(epsilon, |z|/sigma)] <= delta``.

    (epsilon, delta)-Pufferfish privacy by joint convexity of the hockey-stick divergence.
    At delta 0 no Gaussian noise is enough (scale inf) unless the laws are equal.
    """
    if delta == 0 and float(coupling.distances("l2").max()) > 0:
        return math.inf
    return _mean_delta_scale(
        coupling.distances("l2"),
        coupling.weights,
        epsilon,
        delta,
        gaussian_deltas,
    )


def kantorovich_laplace(coupling: Coupling, *, epsilon: float, delta: float) -> float:
    """Return the smallest b with ``E[(1 - e^{(epsilon - |z|/b)/2})_+] <= delta``.

    (epsilon, delta)-Pufferfish privacy by joint convexity; at delta 0 it is ``max|z|/epsilon``,
    and never above ``W/epsilon`` where ``P(|z| > W) <= delta``.
    """
    return _mean_delta_scale(
        coupling.distances("l1"), coupling.weights, epsilon, delta, laplace_delta
    )


def laplace_delta(distances: FloatArray, epsilon: float) -> FloatArray:
    """Return ``delta(epsilon)`` of ``Lap(1)`` and its shift by each distance; exact."""
    return np.maximum(-np.expm1((epsilon - distances) / 2), 0.0)


def _mean_delta_scale(
    distances: FloatArray,
    weights: FloatArray,
    epsilon: float,
    delta: float,
    loss: Callable[[FloatArray, float], FloatArray],
) -> float:
    epsilon = check.positive("epsilon", epsilon)
    delta = check.within("delta", delta, 0, 1)
    largest = float(distances.max())
    if largest == 0 or math.isinf(epsilon) or float(weights[distances > 0].sum()) <= delta:
        return 0.0
    ratio = distances / largest
    scale = smallest_monotone(
        lambda s: float(weights @ loss(ratio / s, epsilon)),
        budget=delta,
        high=1 / epsilon,
        floor=1e-6 / (1 + epsilon) * float(ratio[ratio > 0].min()),
    )
    return scale * largest


def classical_gaussian(coupling: Coupling, *, epsilon: float, delta: float) -> float:
    """Return ``sqrt(2 log(1.25/delta)) max|z| / epsilon``, epsilon in (0, 1].

    (epsilon, delta)-Pufferfish privacy with the constant of Dwork and Roth (2014), Theorem A.1.
    """
    epsilon = check.within("epsilon", epsilon, 0, 1, ends="(]")
    return classical_constant(delta) * float(coupling.distances("l2").max()) / epsilon
