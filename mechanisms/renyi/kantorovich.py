"""Pufferfish privacy from one coupling: W_infinity and the Kantorovich mechanisms, scalar answers.

Song, Wang, Chaudhuri (2017), Pufferfish Privacy Mechanisms for Correlated Data.
Ding (2022), Kantorovich Mechanism for Pufferfish Privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.discrete import Coupling, comonotone
from mechanisms.laws.transport import optimal_coupling, pairwise_distances
from mechanisms.leakage.gaussian_tradeoff import classical_constant
from mechanisms.leakage.noisy_mixtures import Noise
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.indistinguishability import PURE, Approximate
from mechanisms.renyi import achieved, calibrate
from mechanisms.renyi import kantorovich_scale as kantorovich
from mechanisms.renyi.scale_claim import check_noise, over_pairs, scaled_noise


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
            lambda plan: calibrate.w_infinity_laplace(plan, epsilon=budget.epsilon),
            lambda plan, b: achieved.w_infinity_laplace(plan, scale=b),
        )
        wide = "Song, Wang, Chaudhuri (2017), W_infinity mechanism"
        return scaled_noise(
            pairs,
            noise="laplace",
            notion=PURE,
            theorem=wide if self.plan == "comonotone" else "Ding (2022), Theorem 1",
            notes=answers.skipped(),
        )


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
            lambda plan: kantorovich.relaxed_kantorovich_laplace(plan, epsilon=budget.epsilon),
            lambda plan, b: achieved.relaxed_kantorovich_laplace(plan, scale=b),
        )
        return scaled_noise(
            pairs,
            noise="laplace",
            notion=PURE,
            theorem="Ding (2022), relaxed Kantorovich mechanism",
            notes=answers.skipped(),
        )


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
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = EpsilonDelta
    noise: Noise

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: EpsilonDelta) -> Mechanism:
        """Take the largest scale over the pairs."""
        laplace = self.noise == "laplace"
        solve = kantorovich.kantorovich_laplace if laplace else kantorovich.kantorovich_gaussian
        read = achieved.kantorovich_laplace if laplace else achieved.kantorovich_gaussian
        pairs = over_pairs(
            plans(answers, "comonotone"),
            lambda plan: solve(plan, epsilon=budget.epsilon, delta=budget.delta),
            lambda plan, s: read(plan, delta=budget.delta, scale=s),
        )
        return scaled_noise(
            pairs,
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
            lambda plan: kantorovich.classical_gaussian(
                plan, epsilon=budget.epsilon, delta=budget.delta
            ),
            read,
        )
        return scaled_noise(
            pairs,
            noise="gaussian",
            notion=Approximate(delta=budget.delta),
            theorem="Ding (2022), with Dwork and Roth (2014), Theorem A.1",
            conditions=(Condition.SMALL_EPSILON,),
            notes=answers.skipped(),
        )


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
    if plan not in ("comonotone", "transport"):
        raise ValueError(f"plan must be 'comonotone' or 'transport', got plan={plan!r}.")
