"""Gaussian noise calibrated on the pair as it is: each side with its own covariance.

The mechanisms of Chen and Ohrimenko (2023) give both sides of a pair one covariance. Where the
sides' covariances differ, noise along the mean difference alone leaves that difference visible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, one_of
from mechanisms.distribution.expected_value import distributions
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.gaussian import GaussianNoise, gaussian_leakage
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import EpsilonDelta
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate

THEOREM = "exact (epsilon, delta) of two Gaussians with unequal covariances"
RANGE = (1e-6, 1e6)
STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class UnequalPairClaim:
    """The exact epsilon at delta of every pair, each side with its own mean and covariance.

    Parameters
    ----------
    answers : GaussianAnswers
    notion : Approximate
    """

    answers: GaussianAnswers
    notion: Approximate

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Compare the release laws of every pair, rounded up."""
        if not isinstance(noise, GaussianNoise):
            return NoClaim(reason="the unequal pair is solved for Gaussian noise only")
        return Guarantee(
            notion=self.notion,
            bound=worst_epsilon(self.answers, noise.covariance / n_releases, self.notion.delta),
            theorem=THEOREM,
            assumptions=distributions(Condition.GAUSSIAN_ANSWERS, Condition.REAL_NUMBERS),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnequalPairGaussian:
    """Release ``F + N(0, s^2 C)`` with the smallest s that meets the budget exactly.

    Parameters
    ----------
    shape : {"isotropic", "directional"}
        C = I, or C = v v' along the common direction of the mean differences (not applicable where
        no amount of noise along v hides the sides' different covariances).

    Notes
    -----
    The divergence falls in s, so s is found by bisection; the end that meets the budget is used.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = UnequalPairGaussian().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [164.721, 164.721]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    shape: Literal["isotropic", "directional"] = "isotropic"

    def __post_init__(self) -> None:
        one_of("shape", self.shape, ("isotropic", "directional"))

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Find the smallest scale whose exact delta at epsilon is within the budget."""
        size = answers.means.shape[1]
        unit = np.eye(size)
        if self.shape == "directional":
            direction = answers.common_direction()
            unit = np.outer(direction, direction)
        unit_scale = float(np.sqrt(np.trace(answers.shared_covariances().mean(axis=0)))) or 1.0

        def meets(deviation: float) -> bool:
            pairs = pair_leakages(answers, deviation**2 * unit)
            return max(p.delta(budget.epsilon).hi for p in pairs) <= budget.delta

        low, high = (unit_scale * end for end in RANGE)
        if not meets(high):
            raise NotApplicableError(
                f"no {self.shape} noise hides the pair's different covariances at "
                f"epsilon={budget.epsilon:g}, delta={budget.delta:g}"
            )
        if meets(0.0):
            low = high = 0.0
        for _ in range(STEPS):
            if high <= low * (1 + 1e-9):
                break
            middle = float(np.sqrt(low * high))
            low, high = (low, middle) if meets(middle) else (middle, high)
        noise = GaussianNoise(covariance=high**2 * unit, calibration="analytic")
        claim = UnequalPairClaim(answers=answers, notion=Approximate(delta=budget.delta))
        return AdditiveNoise(noise=noise, claim=claim)


def pair_leakages(answers: GaussianAnswers, extra: FloatArray) -> list[PairLeakage]:
    """Return the exact comparison of every pair with noise of covariance `extra`."""
    laws = [
        GaussianLaw(mean=m, covariance=c)
        for m, c in zip(answers.means, answers.covariances, strict=True)
    ]
    return [gaussian_leakage(laws[i], laws[j], extra) for i, j in answers.pairs]


def worst_epsilon(answers: GaussianAnswers, extra: FloatArray, delta: float) -> float:
    """Return the largest exact epsilon at delta over the pairs, rounded up; inf if unknown."""
    try:
        return max(p.epsilon(delta).hi for p in pair_leakages(answers, extra))
    except NotComputableError:
        return float("inf")
