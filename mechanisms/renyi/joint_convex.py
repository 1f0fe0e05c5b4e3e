"""Renyi Pufferfish privacy by joint convexity, for scalar answers.

Scales are upper bounds on the noise needed, rounded towards more noise; epsilons (nats) are upper
bounds on the leakage of a pair in both directions. Scale 0 is no noise, an infinite scale means
that no noise meets the budget by this theorem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mechanisms import check
from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import Coupling, comonotone
from mechanisms.leakage.root import largest_convex
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.noise_cost import (
    log_mean_laplace,
    reciprocal,
    rounded_up,
)
from mechanisms.renyi.scale_claim import (
    check_order,
    over_pairs,
    scaled_noise,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointConvexLaplace:
    """Release ``X + Lap(b)`` whose mean Hellinger integral over the coupling meets the budget.

    Never more noise than Theorem 1 of Ding, Yang, Zhang (2026) or Corollary 3.1 of Pierquin et
    al. (2024) call for, and the least possible where both laws are points; order in [1, inf].

    References
    ----------
    Van Erven and Harremoes (2014), for ``exp((a-1) D_a)`` as an f-divergence, which is jointly
    convex; Mironov (2017), Proposition 6, for the Hellinger integral of two Laplace laws.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = JointConvexLaplace().calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [0.913]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        theorem = "joint convexity of the Hellinger integral (an f-divergence)"
        order, epsilon = check_order(budget, theorem), budget.epsilon
        pairs = over_pairs(
            [comonotone(*laws) for laws in answers.law_pairs()],
            lambda plan: joint_convex_laplace_scale(plan, order=order, epsilon=epsilon),
            lambda plan, b: joint_convex_laplace_epsilon(plan, order=order, scale=b),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="laplace",
            notion=Renyi(order=order),
            theorem=theorem,
            notes=answers.skipped(),
        )


def joint_convex_laplace_scale(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the Laplace scale whose mean Hellinger integral over the coupling meets the budget.

    Solves ``E[a/(2a-1) e^{(a-1)|z|/b} + (a-1)/(2a-1) e^{-a|z|/b}] = e^{(a-1) epsilon}`` for order
    a in [1, inf]; valid because ``exp((a-1) D_a)`` is jointly convex (van Erven and Harremoes
    2014). Never above `wasserstein_laplace_scale` and `shift_laplace_scale`, least possible for
    points. Order 1: ``E[|z|/b - 1 + e^{-|z|/b}] = epsilon``. Order inf: ``W_inf/epsilon``.
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
        return rounded_up(largest / epsilon)
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
    return rounded_up(largest / level)


def joint_convex_laplace_epsilon(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return the log of the mean Hellinger integral over the coupling, over order - 1."""
    order = check.within("order", order, 1, math.inf)
    distances = coupling.distances("l1")
    largest = float(distances.max())
    if largest == 0:
        return 0.0
    if scale == 0 or math.isinf(order):
        return largest * reciprocal(scale)
    return log_mean_laplace(distances, coupling.weights, order, 1 / scale)[0]
