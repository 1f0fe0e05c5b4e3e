"""W_infinity and alpha-Wasserstein mechanisms for answers in R^m with finitely many values.

Couplings come from exact transport problems (POT). Laplace noise is independent per coordinate,
Gaussian noise isotropic: a displacement counts by its L1 norm for the former and its L2 norm for
the latter, whatever the ground distance of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.check import one_of
from mechanisms.knowledge import FiniteAnswers
from mechanisms.laws.coupling import Coupling, Norm
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.transport import pairwise_distances, w_infinity
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.privacy.budget import Epsilon, RenyiEpsilon
from mechanisms.privacy.indistinguishability import PURE, Renyi
from mechanisms.renyi.alpha_wasserstein import (
    wasserstein_gaussian_epsilon,
    wasserstein_gaussian_scale,
    wasserstein_laplace_epsilon,
    wasserstein_laplace_scale,
)
from mechanisms.renyi.least_noise_coupling import least_noise_coupling
from mechanisms.renyi.scale_claim import (
    check_noise,
    check_order,
    over_pairs,
    scaled_noise,
)
from mechanisms.renyi.w_infinity import w_infinity_laplace_epsilon, w_infinity_laplace_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class WassersteinVectors:
    """Release ``F + Z`` with the alpha-Wasserstein condition on the best coupling in R^m.

    Laplace: Theorem 1 with ``|z|_1``, by the triangle inequality of the L1 norm. Gaussian:
    Theorem 2 with ``|z|_2``, by joint convexity. Order in [1, inf].

    Parameters
    ----------
    noise : {"laplace", "gaussian"}

    References
    ----------
    Ding, Yang, Zhang (2026), Theorems 1 and 2 with the cost's metric in R^m (Corollary 1).

    Examples
    --------
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([[0, 0], [0, 1]], [[0, 0], [2, 1]]))
    >>> answers = FiniteAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = WassersteinVectors(noise="laplace").calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [46.25, 46.25]
    """

    requires: ClassVar = (FiniteAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: NoiseName

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: FiniteAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs, each on its own best coupling."""
        laplace = self.noise == "laplace"
        theorem = f"Ding, Yang, Zhang (2026), Theorem {1 if laplace else 2}, in R^m"
        order, epsilon = check_order(budget, theorem), budget.epsilon
        solve = wasserstein_laplace_scale if laplace else wasserstein_gaussian_scale
        read = wasserstein_laplace_epsilon if laplace else wasserstein_gaussian_epsilon

        def best(laws: tuple[FiniteLaw, FiniteLaw]) -> Coupling:
            lengths = pairwise_distances(*laws, norm="l1" if laplace else "l2")

            def log_costs(scale: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
                if laplace:
                    return order * lengths / scale
                return order * (order - 1) / 2 * (lengths / scale) ** 2

            if not 1 < order < float("inf"):
                return w_infinity(*laws, norm="l1" if laplace else "l2").coupling
            return least_noise_coupling(
                *laws,
                log_costs=log_costs,
                scale=lambda plan: solve(plan, order=order, epsilon=epsilon),
            )

        pairs = over_pairs(
            [best(laws) for laws in law_pairs(answers)],
            lambda plan: solve(plan, order=order, epsilon=epsilon),
            lambda plan, s: read(plan, order=order, scale=s),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise=self.noise,
            notion=Renyi(order=order),
            theorem=theorem,
            dimension=answers.dimension,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WInfinityVectors:
    """Release ``F + Lap(W / epsilon)`` per coordinate, W the largest L1 move of a W_infinity plan.

    Parameters
    ----------
    ground : {"l1", "l2"}
        Ground distance of the plan; with L2 the plan is another one, and its L1 moves count.

    References
    ----------
    Song, Wang, Chaudhuri (2017), W_infinity mechanism.

    Examples
    --------
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([[0, 0], [0, 1]], [[0, 0], [2, 1]]))
    >>> answers = FiniteAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = WInfinityVectors().calibrate(answers, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [8.0, 8.0]
    """

    requires: ClassVar = (FiniteAnswers,)
    accepts: ClassVar = Epsilon
    ground: Norm = "l1"

    def __post_init__(self) -> None:
        one_of("ground", self.ground, ("l1", "l2"))

    def calibrate(self, answers: FiniteAnswers, *, budget: Epsilon) -> Mechanism:
        """Divide the largest L1 displacement over the pairs by epsilon."""
        pairs = over_pairs(
            [w_infinity(*laws, norm=self.ground).coupling for laws in law_pairs(answers)],
            lambda plan: w_infinity_laplace_scale(plan, epsilon=budget.epsilon),
            lambda plan, b: w_infinity_laplace_epsilon(plan, scale=b),
        )
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="laplace",
            notion=PURE,
            theorem="Song, Wang, Chaudhuri (2017), W_infinity mechanism, in R^m",
            dimension=answers.dimension,
        )


def law_pairs(answers: FiniteAnswers) -> list[tuple[FiniteLaw, FiniteLaw]]:
    """Return the laws of every pair, each unordered pair once."""
    laws = [law.as_vectors for law in answers.laws]
    return [(laws[i], laws[j]) for i, j in sorted({(min(p), max(p)) for p in answers.pairs})]
