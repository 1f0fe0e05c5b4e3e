"""The alpha-Wasserstein mechanisms of Renyi Pufferfish privacy, for scalar answers.

Scales are upper bounds on the noise needed, rounded towards more noise; epsilons (nats) are upper
bounds on the leakage of a pair in both directions. Scale 0 is no noise, an infinite scale means
that no noise meets the budget by this theorem.

Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy.
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
    log_mean_exp,
    reciprocal,
    rounded_up,
)
from mechanisms.renyi.power_noise import exponential_epsilon, exponential_rate
from mechanisms.renyi.scale_claim import (
    check_order,
    over_pairs,
    scaled_noise,
)

SOURCE = "Ding, Yang, Zhang (2026)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaWassersteinLaplace:
    """Release ``X + Lap(b)`` with ``E[exp(a |z|/b)] = exp((a - 1) epsilon)``, a the order.

    z is the displacement of the comonotone coupling of a pair's laws; order in (1, inf].

    References
    ----------
    Ding, Yang, Zhang (2026), Theorem 1.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = AlphaWassersteinLaplace().calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [6.852]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        theorem = f"{SOURCE}, Theorem 1"
        order, epsilon = check_order(budget, theorem), budget.epsilon
        pairs = over_pairs(
            [comonotone(*laws) for laws in answers.law_pairs()],
            lambda plan: wasserstein_laplace_scale(plan, order=order, epsilon=epsilon),
            lambda plan, b: wasserstein_laplace_epsilon(plan, order=order, scale=b),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="laplace",
            notion=Renyi(order=order),
            theorem=theorem,
            notes=answers.skipped(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaWassersteinGaussian:
    """Release ``X + N(0, s^2)``, ``E[exp(a (a-1) z^2/(2 s^2))] = exp((a-1) epsilon)``.

    a is the order, in [1, inf), order 1 by continuity; z as for `AlphaWassersteinLaplace`.

    References
    ----------
    Ding, Yang, Zhang (2026), Theorem 2.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = AlphaWassersteinGaussian().calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [0.925]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        theorem = f"{SOURCE}, Theorem 2"
        order, epsilon = check_order(budget, theorem), budget.epsilon
        pairs = over_pairs(
            [comonotone(*laws) for laws in answers.law_pairs()],
            lambda plan: wasserstein_gaussian_scale(plan, order=order, epsilon=epsilon),
            lambda plan, s: wasserstein_gaussian_epsilon(plan, order=order, scale=s),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="gaussian",
            notion=Renyi(order=order),
            theorem=theorem,
            notes=answers.skipped(),
        )


def wasserstein_laplace_scale(coupling: Coupling, *, order: float, epsilon: float) -> float:
    """Return the Laplace scale b with ``E[exp(order |z|/b)] = exp((order-1) epsilon)``.

    Ding, Yang, Zhang (2026), Theorem 1; order in [1, inf]. Order inf is ``W_inf/epsilon``;
    at order 1 the condition has no solution and the scale is inf.

    Examples
    --------
    >>> from mechanisms.laws.coupling import comonotone_of_samples
    >>> pair = comonotone_of_samples([0.0], [1.0])
    >>> round(wasserstein_laplace_scale(pair, order=2, epsilon=0.5), 9)
    4.0
    """
    rate = exponential_rate(
        coupling.distances("l1"), coupling.weights, order=order, epsilon=epsilon
    )
    return rounded_up(1 / rate) if rate > 0 else math.inf


def wasserstein_laplace_epsilon(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return ``log E[exp(order |z|/b)] / (order - 1)``: Ding, Yang, Zhang (2026), Theorem 1.

    Order in [1, inf]; inf at order 1 unless nothing moves.
    """
    return exponential_epsilon(
        coupling.distances("l1"), coupling.weights, order=order, rate=reciprocal(scale)
    )


def wasserstein_gaussian_scale(coupling: Coupling, *, order: float, epsilon: float) -> float:
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
        return rounded_up(largest * math.sqrt(mean / (2 * epsilon)))
    budget = (order - 1) * epsilon
    mass = float(weights[squares == 1].sum())
    high = min(budget / mean, budget - math.log(min(mass, 1.0)))
    level = largest_convex(
        lambda u: log_mean_exp(squares, weights, u),
        budget=budget,
        low=budget,
        high=max(budget, high),
    )
    return rounded_up(largest * math.sqrt(order * (order - 1) / (2 * level)))


def wasserstein_gaussian_epsilon(coupling: Coupling, *, order: float, scale: float) -> float:
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
