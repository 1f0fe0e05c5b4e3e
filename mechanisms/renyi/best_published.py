"""The best of the published bounds on a Renyi Pufferfish scale, for scalar answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import Coupling, comonotone
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.alpha_wasserstein import (
    wasserstein_gaussian_epsilon,
    wasserstein_gaussian_scale,
    wasserstein_laplace_epsilon,
    wasserstein_laplace_scale,
)
from mechanisms.renyi.scale_claim import (
    check_noise,
    check_order,
    over_pairs,
    scaled_noise,
)
from mechanisms.renyi.shift_reduction import (
    shift_gaussian_epsilon,
    shift_gaussian_scale,
    shift_laplace_epsilon,
    shift_laplace_scale,
)
from mechanisms.renyi.w_infinity import w_infinity_laplace_epsilon, w_infinity_laplace_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPublished:
    """Release ``X + Z`` at the smallest scale that any published bound allows; it says which.

    Laplace: Theorem 1 of Ding, Yang, Zhang (2026) at this and at larger orders, Corollary 3.1 of
    Pierquin et al. (2024), ``W_infinity / epsilon``. Gaussian: Theorem 2 and Corollary 3.1.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = BestPublished(noise="gaussian").calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [0.925]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: NoiseName

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the best bound of each pair and the largest scale over the pairs."""
        theorem = "the best of Ding et al. (2026), Pierquin et al. (2024), Song et al. (2017)"
        order, epsilon = check_order(budget, theorem), budget.epsilon
        laplace = self.noise == "laplace"
        solve = best_laplace_scale if laplace else best_gaussian_scale
        read = best_laplace_epsilon if laplace else best_gaussian_epsilon
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
            epsilon=budget.epsilon,
            noise=self.noise,
            notion=Renyi(order=order),
            theorem=theorem,
            notes=(f"smallest: {binding.bound}", *answers.skipped()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BestScale:
    """The smallest of several valid scales, and the bound that gave it."""

    scale: float
    bound: str


def best_laplace_scale(coupling: Coupling, *, order: float, epsilon: float) -> BestScale:
    """Return the smallest of the published Laplace scales and the bound that won.

    Candidates: Theorem 1 at the order asked for and at larger orders (divergences grow with the
    order), Corollary 3.1 of Pierquin et al. and ``W_inf/epsilon``. `joint_convex_laplace_scale` is
    never worse and is left out: this is the best that the published bounds give.
    """
    order = check.within("order", order, 1, math.inf)
    largest = float(coupling.distances("l1").max())
    candidates = {
        "w_infinity": w_infinity_laplace_scale(coupling, epsilon=epsilon),
        "shift": shift_laplace_scale(largest, order=order, epsilon=epsilon),
        "wasserstein": wasserstein_laplace_scale(coupling, order=order, epsilon=epsilon),
    }
    if math.isfinite(order):
        candidates["wasserstein_higher_order"] = min(
            wasserstein_laplace_scale(coupling, order=a, epsilon=epsilon)
            for a in higher_orders(order)
        )
    bound = min(candidates, key=candidates.__getitem__)
    return BestScale(scale=candidates[bound], bound=bound)


def best_laplace_epsilon(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return the smallest epsilon that any bound of `best_laplace_scale` proves."""
    largest = float(coupling.distances("l1").max())
    found = [
        w_infinity_laplace_epsilon(coupling, scale=scale),
        shift_laplace_epsilon(largest, order=order, scale=scale),
        wasserstein_laplace_epsilon(coupling, order=order, scale=scale),
    ]
    if math.isfinite(order):
        found += [
            wasserstein_laplace_epsilon(coupling, order=a, scale=scale)
            for a in higher_orders(order)
        ]
    return min(found)


def higher_orders(order: float) -> list[float]:
    """Return 41 orders up to a thousand times beyond `order`: a bound at any of them is valid."""
    orders = 1 + max(order - 1, 1e-3) * np.geomspace(1, 1e3, 41)
    return [float(a) for a in orders if a >= order]


def best_gaussian_scale(coupling: Coupling, *, order: float, epsilon: float) -> BestScale:
    """Return the smaller of Theorem 2 (Ding et al. 2026) and Corollary 3.1 (Pierquin et al.)."""
    largest = float(coupling.distances("l2").max())
    candidates = {
        "wasserstein": wasserstein_gaussian_scale(coupling, order=order, epsilon=epsilon),
        "shift": shift_gaussian_scale(largest, order=order, epsilon=epsilon),
    }
    bound = min(candidates, key=candidates.__getitem__)
    return BestScale(scale=candidates[bound], bound=bound)


def best_gaussian_epsilon(coupling: Coupling, *, order: float, scale: float) -> float:
    """Return the smaller epsilon of Theorem 2 and of Corollary 3.1."""
    largest = float(coupling.distances("l2").max())
    return min(
        wasserstein_gaussian_epsilon(coupling, order=order, scale=scale),
        shift_gaussian_epsilon(largest, order=order, scale=scale),
    )
