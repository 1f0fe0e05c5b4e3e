"""Renyi Pufferfish privacy of orders below 1, for scalar answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.discrete import comonotone
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi import achieved
from mechanisms.renyi.low_order_scale import low_order_coupling, low_order_laplace
from mechanisms.renyi.scale_claim import over_pairs, scaled_noise


@dataclass(frozen=True, slots=True, kw_only=True)
class LowOrderLaplace:
    """Release ``X + Lap(b)`` with ``E[e^{-a |z|/b}] >= e^{(a-1) epsilon}``, a the order in (0, 1).

    Parameters
    ----------
    optimal : bool
        Use the coupling that maximises the mean, by transport problems (POT), instead of the
        comonotone one, which is valid but not best: the cost is not convex.

    References
    ----------
    Ding, Yang, Zhang (2026), Proposition 1.
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    optimal: bool = False

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        order, epsilon = budget.order, budget.epsilon
        if not order < 1:
            raise NotApplicableError(f"Proposition 1 is for orders below 1, got order={order:g}")
        plans = [
            low_order_coupling(p, q, order=order, epsilon=epsilon)
            if self.optimal
            else comonotone(p, q)
            for p, q in answers.law_pairs()
        ]
        pairs = over_pairs(
            plans,
            lambda plan: low_order_laplace(plan, order=order, epsilon=epsilon),
            lambda plan, b: achieved.low_order_laplace(plan, order=order, scale=b),
        )
        return scaled_noise(
            pairs,
            noise="laplace",
            notion=Renyi(order=order),
            theorem="Ding, Yang, Zhang (2026), Proposition 1",
            notes=answers.skipped(),
        )
