"""Renyi Pufferfish privacy of a scalar answer that is Gaussian under every secret.

The variances may differ; this is the model's own law, not a sample of it. `means` and `variances`
are pairs: (under the first secret, under the second).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.check import one_of
from mechanisms.knowledge import GaussianAnswers
from mechanisms.leakage.gaussian_log_ratio import LogRatio
from mechanisms.leakage.root import smallest_monotone
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.scale_claim import (
    over_pairs,
    scaled_noise,
)

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPrior:
    """Release ``X + N(0, s^2)`` for ``X ~ N(mean, variance)`` under every secret.

    Parameters
    ----------
    bound : {"wasserstein", "exact"}
        Theorem 2 in closed form on the comonotone coupling, whose displacement is Gaussian; or
        the smallest noise whose true divergence meets the budget in both directions.

    References
    ----------
    Ding, Yang, Zhang (2026), Theorem 2; Gil, Alajaji, Linder (2013) for the divergence.

    Examples
    --------
    >>> answers = GaussianAnswers(means=[[0], [3]], covariances=[[[1]], [[2]]], pairs=((0, 1),))
    >>> mechanism = GaussianPrior().calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [18.683]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = RenyiEpsilon
    bound: Literal["wasserstein", "exact"] = "wasserstein"

    def __post_init__(self) -> None:
        one_of("bound", self.bound, ("wasserstein", "exact"))

    def calibrate(self, answers: GaussianAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        if answers.means.shape[1] != 1:
            raise NotApplicableError(
                f"this calibration is for scalar answers, got {answers.means.shape[1]} coordinates"
            )
        order, epsilon, exact = budget.order, budget.epsilon, self.bound == "exact"
        if not 1 < order < float("inf"):
            raise NotApplicableError(f"the order must be in (1, inf), got order={order:g}")
        solve = tight_gaussian_prior_scale if exact else wasserstein_gaussian_prior_scale
        read = worst_gaussian_divergence if exact else wasserstein_gaussian_prior_epsilon
        moments = [
            tuple(
                (float(values[i]), float(values[j]))
                for values in (answers.means[:, 0], answers.covariances[:, 0, 0])
            )
            for i, j in answers.pairs
        ]
        pairs = over_pairs(
            moments,
            lambda at: solve(at[0], at[1], order=order, epsilon=epsilon),
            lambda at, s: read(at[0], at[1], order=order, scale=s),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="gaussian",
            notion=Renyi(order=order),
            theorem="the divergence itself" if exact else "Ding, Yang, Zhang (2026), Theorem 2",
            conditions=(Condition.GAUSSIAN_ANSWERS,),
        )


def gaussian_divergence(
    means: Pair, variances: Pair, *, order: float, noise_variance: float = 0.0
) -> float:
    """Return ``D_order`` between ``N(m_i, v_i + V)`` and ``N(m_j, v_j + V)``; exact.

    Order in (0, inf); order 1 is the Kullback-Leibler divergence. A law without variance is a
    point, infinitely far from everything but itself.
    """
    order = check.within("order", order, 0, math.inf, ends="()")
    gap, first, second = _parameters(means, variances)
    noise_variance = check.within("noise_variance", noise_variance, 0, math.inf, ends="[)")
    first, second = first + noise_variance, second + noise_variance
    if first == 0 or second == 0:
        return 0.0 if first == second and gap == 0 else math.inf
    shift, ratio = np.array([gap / math.sqrt(second)]), np.array([first / second])
    return LogRatio(shift=shift, variances=ratio).renyi(order)


def wasserstein_gaussian_prior_scale(
    means: Pair, variances: Pair, *, order: float, epsilon: float
) -> float:
    """Return sigma of Ding, Yang, Zhang (2026), Theorem 2, on the comonotone coupling.

    ``z ~ N(m_i - m_j, (sqrt v_i - sqrt v_j)^2)``; order in (1, inf). An upper bound on the noise
    needed, rounded up.
    """
    order = check.within("order", order, 1, math.inf, ends="()")
    epsilon = check.positive("epsilon", epsilon)
    gap, first, second = _parameters(means, variances)
    spread = (math.sqrt(first) - math.sqrt(second)) ** 2
    if (gap == 0 and spread == 0) or math.isinf(epsilon):
        return 0.0

    def loss(scale: float) -> float:
        return _wasserstein_cost(gap, spread, order, scale)

    return _root(loss, (order - 1) * epsilon, order, gap, spread)


def wasserstein_gaussian_prior_epsilon(
    means: Pair, variances: Pair, *, order: float, scale: float
) -> float:
    """Return the epsilon that Theorem 2 proves at a given standard deviation of the noise."""
    gap, first, second = _parameters(means, variances)
    spread = (math.sqrt(first) - math.sqrt(second)) ** 2
    if gap == 0 and spread == 0:
        return 0.0
    return _wasserstein_cost(gap, spread, order, scale) / (order - 1) if scale > 0 else math.inf


def _wasserstein_cost(gap: float, spread: float, order: float, scale: float) -> float:
    """Return ``log E e^{c z^2}`` with ``c = a (a-1)/(2 sigma^2)``, z the Gaussian displacement."""
    level = order * (order - 1) / (2 * scale**2)
    left = 1 - 2 * level * spread
    return math.inf if left <= 0 else level * gap**2 / left - math.log(left) / 2


def tight_gaussian_prior_scale(
    means: Pair, variances: Pair, *, order: float, epsilon: float
) -> float:
    """Return the smallest sigma whose true divergence meets epsilon in both directions.

    Order in [1, inf); 0 where the two laws meet the budget without noise. Rounded up.
    """
    order = check.within("order", order, 1, math.inf, ends="[)")
    epsilon = check.positive("epsilon", epsilon)
    gap, first, second = _parameters(means, variances)

    def loss(scale: float) -> float:
        return worst_gaussian_divergence(means, variances, order=order, scale=scale)

    if loss(0.0) <= epsilon:
        return 0.0
    return _root(loss, epsilon, order, gap, abs(first - second))


def worst_gaussian_divergence(means: Pair, variances: Pair, *, order: float, scale: float) -> float:
    """Return the larger of `gaussian_divergence` in both directions; scale 0 means no noise."""
    ways = ((means, variances), (means[::-1], variances[::-1]))
    return max(gaussian_divergence(*w, order=order, noise_variance=scale**2) for w in ways)


def _root(
    loss: Callable[[float], float], budget: float, order: float, gap: float, spread: float
) -> float:
    size = math.sqrt(gap**2 + spread)
    return smallest_monotone(loss, budget=budget, high=size * order, floor=size * 1e-9)


def _parameters(means: Pair, variances: Pair) -> tuple[float, float, float]:
    first, second = (check.within("variance", v, 0, math.inf, ends="[)") for v in variances)
    m, n = (check.within("mean", m, -math.inf, math.inf, ends="()") for m in means)
    return m - n, first, second
