"""The relaxed Kantorovich mechanism: pure Pufferfish privacy from conditional displacements.

Ding (2022), Kantorovich Mechanism for Pufferfish Privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism
from mechanisms.check import FloatArray, IntArray
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import Coupling
from mechanisms.leakage.root import largest_convex
from mechanisms.privacy.budget import Epsilon
from mechanisms.privacy.indistinguishability import PURE
from mechanisms.renyi.scale_claim import (
    over_pairs,
    scaled_noise,
)
from mechanisms.renyi.w_infinity import check_plan, plans


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaxedKantorovichLaplace:
    """Release ``X + Lap(b)`` with ``E[e^{|x-x'|/b} | x'] <= e^epsilon`` for all x', and for all x.

    Pure epsilon-Pufferfish privacy; never more noise than the largest displacement calls for.

    Parameters
    ----------
    plan : {"comonotone", "transport"}

    References
    ----------
    Ding (2022), relaxed Kantorovich mechanism.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = RelaxedKantorovichLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [0.901]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = Epsilon
    plan: Literal["comonotone", "transport"] = "comonotone"

    def __post_init__(self) -> None:
        check_plan(self.plan)

    def calibrate(self, answers: ScalarAnswers, *, budget: Epsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        pairs = over_pairs(
            plans(answers, self.plan),
            lambda plan: relaxed_kantorovich_scale(plan, epsilon=budget.epsilon),
            lambda plan, b: relaxed_kantorovich_epsilon(plan, scale=b),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="laplace",
            notion=PURE,
            theorem="Ding (2022), relaxed Kantorovich mechanism",
            notes=answers.skipped(),
        )


def relaxed_kantorovich_scale(coupling: Coupling, *, epsilon: float) -> float:
    """Return the Laplace scale of the relaxed Kantorovich mechanism (pure epsilon-Pufferfish).

    Smallest b with ``E[e^{|x-x'|/b} | x'] <= e^epsilon`` for every x' and likewise for every x.
    Valid: ``E[N(y-x) | x'] <= E[e^{|x-x'|/b} | x'] N(y-x')``, averaged over x'. Never above
    `w_infinity_laplace_scale` on the same coupling.
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


def relaxed_kantorovich_epsilon(coupling: Coupling, *, scale: float) -> float:
    """Return the largest ``log E[e^{|x-x'|/b} | x']`` over both sides: pure epsilon."""
    largest = float(coupling.distances("l1").max())
    if largest == 0 or scale == 0:
        return math.inf if largest > 0 else 0.0
    return conditional_log_mean(coupling)(largest / scale)[0]


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
