"""The least Laplace or Gaussian noise there is for a Renyi budget, for scalar answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.divergence import worst_noised_divergence
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.leakage.root import smallest_monotone
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.guarantee import (
    RenyiMeasure,
)
from mechanisms.renyi.alpha_wasserstein import wasserstein_gaussian_scale
from mechanisms.renyi.joint_convex import joint_convex_laplace_scale
from mechanisms.renyi.scale_claim import (
    check_noise,
    over_pairs,
    scaled_noise,
)

# Noise of a thousandth of the smallest gap between atoms hides nothing more.
_FLOOR = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class TightNoise:
    """Release ``X + Z`` at the smallest scale whose true divergence meets the budget.

    The divergence of the release laws is computed, in both directions of every pair, not bounded
    through a coupling: nothing with this noise law can do with less. Order in (0, inf]; no noise
    where the answer's laws meet the budget as they are.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}

    References
    ----------
    Van Erven and Harremoes (2014), data processing inequality: divergences fall with the scale.

    Examples
    --------
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = TightNoise(noise="laplace").calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.1)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [1.36]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: NoiseName

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        order, noise = budget.order, self.noise
        pairs = over_pairs(
            answers.law_pairs(),
            lambda laws: tight_scale(*laws, order=order, epsilon=budget.epsilon, noise=noise),
            lambda laws, s: worst_noised_divergence(*laws, order=order, noise=noise, scale=s),
        )
        return scaled_noise(
            pairs,
            noise=noise,
            measure=RenyiMeasure(order),
            theorem="the divergence itself",
            notes=answers.skipped(),
            repeatable=False,
        )


def tight_scale(
    p: FiniteLaw, q: FiniteLaw, *, order: float, epsilon: float, noise: NoiseName
) -> float:
    """Return the smallest scale with ``D_order <= epsilon`` after noise, in both directions.

    Exact to 1e-11, rounded up. Every divergence is nonincreasing in the scale, since Laplace
    (Gaussian) noise is a smaller one plus an independent variable, so that the root is unique.

    Parameters
    ----------
    p, q : FiniteLaw
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
        high = joint_convex_laplace_scale(plan, order=max(order, 1.0), epsilon=epsilon)
    else:
        high = wasserstein_gaussian_scale(plan, order=safe, epsilon=epsilon)
    floor = _FLOOR * float(np.diff(np.union1d(p.atoms, q.atoms)).min())
    return smallest_monotone(
        lambda scale: worst_noised_divergence(p, q, order=order, noise=noise, scale=scale),
        budget=epsilon,
        high=max(high, floor),
        floor=floor,
    )


def _far_ratio(p: FiniteLaw, q: FiniteLaw) -> float:
    """Return the largest log ratio of Gaussian tails: that of the outermost atoms' weights."""
    if p.atoms[0] != q.atoms[0] or p.atoms[-1] != q.atoms[-1]:
        return math.inf
    return float(np.abs(np.log(p.weights[[0, -1]] / q.weights[[0, -1]])).max())
