"""Renyi Pufferfish privacy from the largest displacement alone, for scalar answers.

Scales are upper bounds on the noise needed, rounded towards more noise; epsilons (nats) are upper
bounds on the leakage of a pair in both directions. Scale 0 is no noise, an infinite scale means
that no noise meets the budget by this theorem.

Pierquin, Bellet, Tommasi, Boussard (2024), Renyi Pufferfish Privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism
from mechanisms.check import within
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.closeness import w_delta_closeness
from mechanisms.laws.coupling import Coupling, wasserstein
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import DeltaApproximateRenyi, Renyi
from mechanisms.privacy.notion import Notion
from mechanisms.renyi.joint_convex import joint_convex_laplace_scale
from mechanisms.renyi.noise_cost import (
    laplace_divergence,
    reciprocal,
    rounded_up,
)
from mechanisms.renyi.scale_claim import (
    check_noise,
    check_order,
    over_pairs,
    scaled_noise,
)

SOURCE = "Pierquin, Bellet, Tommasi, Boussard (2024)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftReduction:
    """Release ``X + Z`` with noise for a shift by W_infinity; order in [1, inf].

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
    delta : float in [0, 1)
        With delta > 0 all but delta of the mass moves by at most the distance W that counts:
        (order, epsilon, delta)-Renyi Pufferfish privacy. Given ``|z| <= W`` both sides are
        mixtures of laws at most W apart, and joint convexity needs no further term.

    References
    ----------
    Pierquin et al. (2024), Corollary 3.1; with delta, their section 4 without its extra term.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = ShiftReduction(noise="laplace").calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [2.647]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: NoiseName
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_noise(self.noise)
        within("delta", self.delta, 0, 1, ends="[)")

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        theorem = f"{SOURCE}, Corollary 3.1"
        order, epsilon = check_order(budget, theorem), budget.epsilon
        notion: Notion = Renyi(order=order)
        distances = [wasserstein(*laws, order=float("inf")) for laws in answers.law_pairs()]
        notes = answers.skipped()
        if self.delta > 0:
            notion = DeltaApproximateRenyi(order=order, delta=self.delta)
            notes = (*notes, "given events of mass 1 - delta on either side")
            distances = [w_delta_closeness(p, q, delta=self.delta) for p, q in answers.law_pairs()]
        laplace = self.noise == "laplace"
        shift = shift_laplace_scale if laplace else shift_gaussian_scale
        read = shift_laplace_epsilon if laplace else shift_gaussian_epsilon
        pairs = over_pairs(
            distances,
            lambda distance: shift(distance, order=order, epsilon=epsilon),
            lambda distance, s: read(distance, order=order, scale=s),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise=self.noise,
            notion=notion,
            theorem=theorem,
            notes=notes,
        )


def shift_laplace_scale(distance: float, *, order: float, epsilon: float) -> float:
    """Return the Laplace scale from W_inf alone: Pierquin et al. (2024), Corollary 3.1.

    Smallest b with ``D_order(Lap(b) + distance || Lap(b)) <= epsilon``, order in [1, inf]: the
    least possible when the two laws are points. `distance` is W_inf (or a sensitivity).
    """
    one = Coupling(left=np.zeros(1), right=np.array([_distance(distance)]), weights=np.ones(1))
    return joint_convex_laplace_scale(one, order=order, epsilon=epsilon)


def shift_laplace_epsilon(distance: float, *, order: float, scale: float) -> float:
    """Return the divergence of ``Lap(b)`` and its shift: Pierquin et al. (2024), Corollary 3.1."""
    order = check.within("order", order, 1, math.inf)
    return laplace_divergence(distance * reciprocal(scale), order) if distance > 0 else 0.0


def shift_gaussian_scale(distance: float, *, order: float, epsilon: float) -> float:
    """Return the Gaussian standard deviation from W_inf alone: ``distance sqrt(order/(2 eps))``.

    Pierquin et al. (2024), Corollary 3.1; order in [1, inf], inf at order inf.
    """
    order = check.within("order", order, 1, math.inf)
    epsilon = check.positive("epsilon", epsilon)
    if _distance(distance) == 0 or math.isinf(epsilon):
        return 0.0
    return rounded_up(distance * math.sqrt(order / 2 / epsilon))


def shift_gaussian_epsilon(distance: float, *, order: float, scale: float) -> float:
    """Return ``order W^2/(2 sigma^2)``: Pierquin et al. (2024), Corollary 3.1."""
    order = check.within("order", order, 1, math.inf)
    return order * (distance * reciprocal(scale)) ** 2 / 2 if distance > 0 else 0.0


def _distance(distance: float) -> float:
    return check.within("distance", distance, 0, math.inf, ends="[)")
