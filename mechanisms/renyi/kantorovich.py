"""Approximate Pufferfish privacy from one coupling (Kantorovich mechanisms), for scalar answers.

Scales are upper bounds on the noise needed, rounded towards more noise; epsilons (nats) are upper
bounds on the leakage of a pair in both directions. Scale 0 is no noise, an infinite scale means
that no noise meets the budget by this theorem.

Ding (2022), Kantorovich Mechanism for Pufferfish Privacy.
Balle, Wang (2018), Improving the Gaussian Mechanism for Differential Privacy.
Dwork, Roth (2014), The Algorithmic Foundations of Differential Privacy.
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
from mechanisms.laws.coupling import Coupling
from mechanisms.leakage.gaussian_tradeoff import classical_constant, gaussian_deltas
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.leakage.root import smallest_monotone
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import EpsilonDelta
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.renyi.scale_claim import (
    check_noise,
    over_pairs,
    scaled_noise,
)
from mechanisms.renyi.w_infinity import plans


@dataclass(frozen=True, slots=True, kw_only=True)
class KantorovichApproximate:
    """Release ``X + Z`` with the mean delta over the coupling at most delta.

    (epsilon, delta)-Pufferfish privacy, since the hockey-stick divergence is jointly convex; for
    Laplace noise it needs at most ``W / epsilon`` where all but delta of the mass moves by W.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}

    References
    ----------
    Ding (2022), Kantorovich mechanism with Gaussian noise; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = KantorovichApproximate(noise="laplace").calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [1.976]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = EpsilonDelta
    noise: NoiseName

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: EpsilonDelta) -> Mechanism:
        """Take the largest scale over the pairs."""
        laplace = self.noise == "laplace"
        solve = kantorovich_laplace_scale if laplace else kantorovich_gaussian_scale
        read = kantorovich_laplace_epsilon if laplace else kantorovich_gaussian_epsilon
        pairs = over_pairs(
            plans(answers, "comonotone"),
            lambda plan: solve(plan, epsilon=budget.epsilon, delta=budget.delta),
            lambda plan, s: read(plan, delta=budget.delta, scale=s),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise=self.noise,
            notion=Approximate(delta=budget.delta),
            theorem="Ding (2022), Kantorovich mechanism, by joint convexity",
            notes=answers.skipped(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KantorovichGaussianClassical:
    """Release ``X + N(0, s^2)``, ``s = sqrt(2 log(1.25/delta)) max|z| / epsilon``, epsilon <= 1.

    References
    ----------
    Ding (2022), with the constant of Dwork and Roth (2014), Theorem A.1.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = KantorovichGaussianClassical().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [14.262]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = EpsilonDelta

    def calibrate(self, answers: ScalarAnswers, *, budget: EpsilonDelta) -> Mechanism:
        """Scale the noise to the largest displacement over the pairs."""
        if budget.epsilon > 1:
            raise NotApplicableError(
                f"the classical constant is proved for epsilon <= 1, got {budget.epsilon:g}"
            )
        constant = classical_constant(budget.delta)

        def read(plan: Coupling, scale: float) -> float:
            largest = float(plan.distances("l2").max())
            return constant * largest / scale if largest > 0 else 0.0

        pairs = over_pairs(
            plans(answers, "comonotone"),
            lambda plan: classical_gaussian_scale(plan, epsilon=budget.epsilon, delta=budget.delta),
            read,
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="gaussian",
            notion=Approximate(delta=budget.delta),
            theorem="Ding (2022), with Dwork and Roth (2014), Theorem A.1",
            conditions=(Condition.SMALL_EPSILON,),
            notes=answers.skipped(),
        )


def kantorovich_gaussian_scale(coupling: Coupling, *, epsilon: float, delta: float) -> float:
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


def kantorovich_gaussian_epsilon(coupling: Coupling, *, delta: float, scale: float) -> float:
    """Return the smallest epsilon with ``E[delta_G(epsilon, |z|/sigma)] <= delta``; rounded up."""
    return _mean_delta_epsilon(coupling, "l2", delta, scale, gaussian_deltas)


def kantorovich_laplace_scale(coupling: Coupling, *, epsilon: float, delta: float) -> float:
    """Return the smallest b with ``E[(1 - e^{(epsilon - |z|/b)/2})_+] <= delta``.

    (epsilon, delta)-Pufferfish privacy by joint convexity; at delta 0 it is ``max|z|/epsilon``,
    and never above ``W/epsilon`` where ``P(|z| > W) <= delta``.
    """
    return _mean_delta_scale(
        coupling.distances("l1"), coupling.weights, epsilon, delta, laplace_delta
    )


def kantorovich_laplace_epsilon(coupling: Coupling, *, delta: float, scale: float) -> float:
    """Return the smallest epsilon with ``E[(1 - e^{(eps - |z|/b)/2})_+] <= delta``; rounded up."""
    return _mean_delta_epsilon(coupling, "l1", delta, scale, laplace_delta)


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


def _mean_delta_epsilon(
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


def classical_gaussian_scale(coupling: Coupling, *, epsilon: float, delta: float) -> float:
    """Return ``sqrt(2 log(1.25/delta)) max|z| / epsilon``, epsilon in (0, 1].

    (epsilon, delta)-Pufferfish privacy with the constant of Dwork and Roth (2014), Theorem A.1.
    """
    epsilon = check.within("epsilon", epsilon, 0, 1, ends="(]")
    return classical_constant(delta) * float(coupling.distances("l2").max()) / epsilon
