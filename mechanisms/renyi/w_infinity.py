"""Pufferfish privacy from the largest displacement of a coupling, for scalar answers.

Song, Wang, Chaudhuri (2017), Pufferfish Privacy Mechanisms for Correlated Data.
Ding (2022), Kantorovich Mechanism for Pufferfish Privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanisms import check
from mechanisms.base import Mechanism
from mechanisms.check import one_of
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import Coupling, comonotone
from mechanisms.laws.transport import optimal_coupling, pairwise_distances
from mechanisms.privacy.budget import Epsilon
from mechanisms.privacy.indistinguishability import PURE
from mechanisms.renyi.noise_cost import (
    reciprocal,
    rounded_up,
)
from mechanisms.renyi.scale_claim import (
    over_pairs,
    scaled_noise,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WInfinityLaplace:
    """Release ``X + Lap(W_infinity / epsilon)``: pure epsilon, hence every Renyi order at once.

    Parameters
    ----------
    plan : {"comonotone", "transport"}
        The coupling whose largest displacement counts: the one that attains W_infinity, or the
        W_1-optimal plan of a network simplex (POT), the strict Kantorovich mechanism. W_1-optimal
        plans are not unique on the line, and the comonotone one among them moves least.

    References
    ----------
    Song, Wang, Chaudhuri (2017), W_infinity mechanism; Ding (2022), Theorem 1.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = WInfinityLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [2.0]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = Epsilon
    plan: Literal["comonotone", "transport"] = "comonotone"

    def __post_init__(self) -> None:
        check_plan(self.plan)

    def calibrate(self, answers: ScalarAnswers, *, budget: Epsilon) -> Mechanism:
        """Divide the largest displacement over the pairs by epsilon."""
        pairs = over_pairs(
            plans(answers, self.plan),
            lambda plan: w_infinity_laplace_scale(plan, epsilon=budget.epsilon),
            lambda plan, b: w_infinity_laplace_epsilon(plan, scale=b),
        )
        wide = "Song, Wang, Chaudhuri (2017), W_infinity mechanism"
        return scaled_noise(
            pairs,
            epsilon=budget.epsilon,
            noise="laplace",
            notion=PURE,
            theorem=wide if self.plan == "comonotone" else "Ding (2022), Theorem 1",
            notes=answers.skipped(),
        )


def w_infinity_laplace_scale(coupling: Coupling, *, epsilon: float) -> float:
    """Return ``max |x - x'| / epsilon``: Song, Wang, Chaudhuri (2017), W_inf mechanism.

    Pure epsilon-Pufferfish privacy, hence every Renyi order. On the comonotone coupling the
    numerator is W_inf, on a W_1-optimal one the strict Kantorovich bound of Ding (2022).
    """
    return rounded_up(float(coupling.distances("l1").max()) / check.positive("epsilon", epsilon))


def w_infinity_laplace_epsilon(coupling: Coupling, *, scale: float) -> float:
    """Return ``max |x - x'| / b``: pure epsilon, Song, Wang, Chaudhuri (2017)."""
    largest = float(coupling.distances("l1").max())
    return largest * reciprocal(scale) if largest > 0 else 0.0


def plans(answers: ScalarAnswers, plan: str) -> list[Coupling]:
    """Return a W_1-optimal coupling of every pair: comonotone, or from a network simplex."""
    if plan == "comonotone":
        return [comonotone(p, q) for p, q in answers.law_pairs()]
    return [
        optimal_coupling(p, q, costs=pairwise_distances(p, q, norm="l1"))
        for p, q in answers.law_pairs()
    ]


def check_plan(plan: str) -> None:
    """Refuse a plan that there is not."""
    one_of("plan", plan, ("comonotone", "transport"))
