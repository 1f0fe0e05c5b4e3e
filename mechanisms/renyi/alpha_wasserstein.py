"""The alpha-Wasserstein mechanisms of Renyi Pufferfish privacy, for scalar answers.

Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.discrete import comonotone
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi import achieved, calibrate
from mechanisms.renyi.scale_claim import checked_order, over_pairs, scaled_noise

SOURCE = "Ding, Yang, Zhang (2026)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaWassersteinLaplace:
    """Release ``X + Lap(b)`` with ``E[exp(a |z|/b)] = exp((a - 1) epsilon)``, a the order.

    z is the displacement of the comonotone coupling of a pair's laws; order in (1, inf].

    References
    ----------
    Ding, Yang, Zhang (2026), Theorem 1.
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        theorem = f"{SOURCE}, Theorem 1"
        order, epsilon = checked_order(budget, theorem), budget.epsilon
        pairs = over_pairs(
            [comonotone(*laws) for laws in answers.law_pairs()],
            lambda plan: calibrate.wasserstein_laplace(plan, order=order, epsilon=epsilon),
            lambda plan, b: achieved.wasserstein_laplace(plan, order=order, scale=b),
        )
        return scaled_noise(
            pairs,
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
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        theorem = f"{SOURCE}, Theorem 2"
        order, epsilon = checked_order(budget, theorem), budget.epsilon
        pairs = over_pairs(
            [comonotone(*laws) for laws in answers.law_pairs()],
            lambda plan: calibrate.wasserstein_gaussian(plan, order=order, epsilon=epsilon),
            lambda plan, s: achieved.wasserstein_gaussian(plan, order=order, scale=s),
        )
        return scaled_noise(
            pairs,
            noise="gaussian",
            notion=Renyi(order=order),
            theorem=theorem,
            notes=answers.skipped(),
        )
