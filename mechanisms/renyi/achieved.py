"""What a given noise scale achieves: the calibrations of this package, read the other way.

Every function takes what its calibration takes and a noise scale, and returns the epsilon (in
nats) that the same theorem proves at that scale: an upper bound on the leakage of the pair, in
both directions. Scale 0 means no noise: 0 where the coupling moves nothing, else what is said.

References
----------
See `mechanisms.renyi.calibrate` and `mechanisms.renyi.kantorovich_scale`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.laws.discrete import Coupling
from mechanisms.leakage.gaussian_tradeoff import gaussian_deltas
from mechanisms.leakage.root import smallest_monotone
from mechanisms.renyi.calibrate import higher_orders
from mechanisms.renyi.kantorovich_scale import conditional_log_mean, laplace_delta
from mechanisms.renyi.noise_cost import laplace_divergence, log_mean_exp, log_mean_laplace


def wasserstein_laplace(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return ``log E[exp(order |z|/b)] / (order - 1)``: Ding, Yang, Zhang (2026), Theorem 1.

    Order in [1, inf]; inf at order 1 unless nothing moves.
    """
    return wasserstein_exponential(
        coupling.distances("l1"), coupling.weights, order=order, rate=_inverse(scale)
    )


def wasserstein_exponential(
    costs: FloatArray, weights: FloatArray, *, order: float, rate: float
) -> float:
    """Return the epsilon of Corollary 1 for noise with density ``exp(-rate c(z))``, c a metric."""
    order = check.within("order", order, 1, math.inf)
    largest = float(costs.max())
    if largest == 0:
        return 0.0
    if math.isinf(rate) or order == 1:
        return math.inf
    if math.isinf(order):
        return rate * largest
    return log_mean_exp(costs, weights, order * rate)[0] / (order - 1)


def wasserstein_gaussian(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return ``log E[exp(a (a-1) |z|^2/(2 sigma^2))] / (a-1)``, a the order: Theorem 2."""
    order = check.within("order", order, 1, math.inf)
    distances = coupling.distances("l2")
    if float(distances.max()) == 0:
        return 0.0
    if scale == 0 or math.isinf(order):
        return math.inf
    squares = (distances / scale) ** 2
    if order == 1:
        return float(coupling.weights @ squares) / 2
    return log_mean_exp(squares, coupling.weights, order * (order - 1) / 2)[0] / (order - 1)


def shift_laplace(distance: float, *, order: float, scale: float) -> float:
    """Return the divergence of ``Lap(b)`` and its shift: Pierquin et al. (2024), Corollary 3.1."""
    order = check.within("order", order, 1, math.inf)
    return laplace_divergence(distance * _inverse(scale), order) if distance > 0 else 0.0


def shift_gaussian(distance: float, *, order: float, scale: float) -> float:
    """Return ``order W^2/(2 sigma^2)``: Pierquin et al. (2024), Corollary 3.1."""
    order = check.within("order", order, 1, math.inf)
    return order * (distance * _inverse(scale)) ** 2 / 2 if distance > 0 else 0.0


def joint_convex_laplace(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return the log of the mean Hellinger integral over the coupling, over order - 1."""
    order = check.within("order", order, 1, math.inf)
    distances = coupling.distances("l1")
    largest = float(distances.max())
    if largest == 0:
        return 0.0
    if scale == 0 or math.isinf(order):
        return largest * _inverse(scale)
    return log_mean_laplace(distances, coupling.weights, order, 1 / scale)[0]


def best_laplace(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return the smallest epsilon that any bound of `calibrate.best_laplace` proves."""
    largest = float(coupling.distances("l1").max())
    found = [
        w_infinity_laplace(coupling, scale=scale),
        shift_laplace(largest, order=order, scale=scale),
        wasserstein_laplace(coupling, order=order, scale=scale),
    ]
    if math.isfinite(order):
        found += [wasserstein_laplace(coupling, order=a, scale=scale) for a in higher_orders(order)]
    return min(found)


def best_gaussian(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return the smaller epsilon of Theorem 2 and of Corollary 3.1."""
    largest = float(coupling.distances("l2").max())
    return min(
        wasserstein_gaussian(coupling, order=order, scale=scale),
        shift_gaussian(largest, order=order, scale=scale),
    )


def w_infinity_laplace(coupling: Coupling, *, scale: float) -> float:
    """Return ``max |x - x'| / b``: pure epsilon, Song, Wang, Chaudhuri (2017)."""
    largest = float(coupling.distances("l1").max())
    return largest * _inverse(scale) if largest > 0 else 0.0


def relaxed_kantorovich_laplace(coupling: Coupling, *, scale: float) -> float:
    """Return the largest ``log E[e^{|x-x'|/b} | x']`` over both sides: pure epsilon."""
    largest = float(coupling.distances("l1").max())
    if largest == 0 or scale == 0:
        return math.inf if largest > 0 else 0.0
    return conditional_log_mean(coupling)(largest / scale)[0]


def kantorovich_gaussian(coupling: Coupling, *, delta: float, scale: float) -> float:
    """Return the smallest epsilon with ``E[delta_G(epsilon, |z|/sigma)] <= delta``; rounded up."""
    return _mean_delta(coupling, "l2", delta, scale, gaussian_deltas)


def kantorovich_laplace(coupling: Coupling, *, delta: float, scale: float) -> float:
    """Return the smallest epsilon with ``E[(1 - e^{(eps - |z|/b)/2})_+] <= delta``; rounded up."""
    return _mean_delta(coupling, "l1", delta, scale, laplace_delta)


def low_order_laplace(coupling: Coupling, *, order: float, scale: float) -> float:
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


def _mean_delta(
    coupling: Coupling,
    norm: str,
    delta: float,
    scale: float,
    loss: Callable[[FloatArray, float], FloatArray],
) -> float:
    distances = coupling.distances("l1" if norm == "l1" else "l2")
    weights = coupling.weights
    if float(weights[distances > 0].sum()) <= delta:
        return 0.0
    if scale == 0 or delta == 0:
        largest = float(distances.max())
        return largest / scale if scale > 0 and norm == "l1" else math.inf
    moved = distances / scale

    def mean(epsilon: float) -> float:
        return float(weights @ loss(moved, epsilon))

    if mean(0.0) <= delta:
        return 0.0
    return smallest_monotone(mean, budget=delta, high=float(moved.max()), floor=1e-12)


def _inverse(scale: float) -> float:
    return 1 / scale if scale > 0 else math.inf
