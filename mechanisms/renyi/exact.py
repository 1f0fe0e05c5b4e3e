"""The least noise that any calibration could give: the true divergence meets the budget."""

from __future__ import annotations

import math

import numpy as np

from mechanisms import check
from mechanisms.laws.discrete import DiscreteLaw, comonotone
from mechanisms.leakage.divergence import worst_noised_divergence
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.leakage.root import smallest_monotone
from mechanisms.renyi.calibrate import joint_convex_laplace, wasserstein_gaussian

# Noise of a thousandth of the smallest gap between atoms hides nothing more.
_FLOOR = 1e-3


def exact_scale(
    p: DiscreteLaw, q: DiscreteLaw, *, order: float, epsilon: float, noise: NoiseName
) -> float:
    """Return the smallest scale with ``D_order <= epsilon`` after noise, in both directions.

    Exact to 1e-11, rounded up. Every divergence is nonincreasing in the scale, since Laplace
    (Gaussian) noise is a smaller one plus an independent variable, so that the root is unique.

    Parameters
    ----------
    p, q : DiscreteLaw
        Laws of the query under the two secrets, on the line.
    order : float in (0, inf]
    epsilon : float in (0, inf]
    noise : {"laplace", "gaussian"}

    Returns
    -------
    float
        Scale b or standard deviation; 0 where the laws meet the budget without noise; inf where
        no noise does (Gaussian noise at order inf).
    """
    order = check.within("order", order, 0, math.inf, ends="(]")
    epsilon = check.positive("epsilon", epsilon)
    if math.isinf(epsilon):
        return 0.0
    if worst_noised_divergence(p, q, order=order, noise=noise, scale=0) <= epsilon:
        return 0.0
    if noise == "gaussian" and math.isinf(order) and _far_ratio(p, q) > epsilon:
        return math.inf
    plan = comonotone(p, q)
    safe = min(max(order, 1.0), 1e6)
    if noise == "laplace":
        high = joint_convex_laplace(plan, order=max(order, 1.0), epsilon=epsilon)
    else:
        high = wasserstein_gaussian(plan, order=safe, epsilon=epsilon)
    floor = _FLOOR * float(np.diff(np.union1d(p.atoms, q.atoms)).min())
    return smallest_monotone(
        lambda scale: worst_noised_divergence(p, q, order=order, noise=noise, scale=scale),
        budget=epsilon,
        high=max(high, floor),
        floor=floor,
    )


def _far_ratio(p: DiscreteLaw, q: DiscreteLaw) -> float:
    """Return the largest log ratio of Gaussian tails: that of the outermost atoms' weights."""
    if p.atoms[0] != q.atoms[0] or p.atoms[-1] != q.atoms[-1]:
        return math.inf
    return float(np.abs(np.log(p.weights[[0, -1]] / q.weights[[0, -1]])).max())
