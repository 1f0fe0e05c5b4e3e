"""Renyi Pufferfish privacy by joint convexity, and the best of the published bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.discrete import comonotone
from mechanisms.leakage.noisy_mixtures import Noise
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi import achieved, calibrate
from mechanisms.renyi.scale_claim import check_noise, checked_order, over_pairs, scaled_noise


@dataclass(frozen=True, slots=True, kw_only=True)
class JointConvexLaplace:
    """Release ``X + Lap(b)`` whose mean Hellinger integral over the coupling meets the budget.

    Never more noise than Theorem 1 of Ding, Yang, Zhang (2026) or Corollary 3.1 of Pierquin et
    al. (2024) call for, and the least possible where both laws are points; order in [1, inf].

    References
    ----------
    Van Erven and Harremoes (2014), for ``exp((a-1) D_a)`` as an f-divergence, which is jointly
    convex; Mironov (2017), Proposition 6, for the Hellinger integral of two Laplace laws.
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        theorem = "joint convexity of the Hellinger integral (an f-divergence)"
        order, epsilon = checked_order(budget, theorem), budget.epsilon
        pairs = over_pairs(
            [comonotone(*laws) for laws in answers.law_pairs()],
            lambda plan: calibrate.joint_convex_laplace(plan, order=order, epsilon=epsilon),
            lambda plan, b: achieved.joint_convex_laplace(plan, order=order, scale=b),
        )
        return scaled_noise(
            pairs,
            noise="laplace",
            notion=Renyi(order=order),
            theorem=theorem,
            notes=answers.skipped(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPublished:
    """Release ``X + Z`` at the smallest scale that any published bound allows; it says which.

    Laplace: Theorem 1 of Ding, Yang, Zhang (2026) at this and at larger orders, Corollary 3.1 of
    Pierquin et al. (2024), ``W_infinity / epsilon``. Gaussian: Theorem 2 and Corollary 3.1.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: Noise

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the best bound of each pair and the largest scale over the pairs."""
        theorem = "the best of Ding et al. (2026), Pierquin et al. (2024), Song et al. (2017)"
        order, epsilon = checked_order(budget, theorem), budget.epsilon
        laplace = self.noise == "laplace"
        solve = calibrate.best_laplace if laplace else calibrate.best_gaussian
        read = achieved.best_laplace if laplace else achieved.best_gaussian
        plans = [comonotone(*laws) for laws in answers.law_pairs()]
        found = [solve(plan, order=order, epsilon=epsilon) for plan in plans]
        pairs = over_pairs(
            zip(plans, found, strict=True),
            lambda pair: pair[1].scale,
            lambda pair, s: read(pair[0], order=order, scale=s),
        )
        binding = max(found, key=lambda best: best.scale)
        return scaled_noise(
            pairs,
            noise=self.noise,
            notion=Renyi(order=order),
            theorem=theorem,
            notes=(f"smallest: {binding.bound}", *answers.skipped()),
        )
