"""The expected value mechanisms: noise scaled to the distance between expected answers.

Chen and Ohrimenko (2023), Theorems 4.1 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.knowledge import GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw, TranslationClaim
from mechanisms.noise.gaussian import (
    CalibrationName,
    GaussianNoise,
    calibration_conditions,
    check_calibration,
    target_distance,
)
from mechanisms.noise.laplace import LaplaceNoise, laplace_scale
from mechanisms.privacy.assumptions import Assumptions, Condition, Public, Secrets
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.indistinguishability import Approximate

SOURCE = "Chen and Ohrimenko (2023)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValueLaplace:
    """Release ``F + Lap(Delta_{E,1} / epsilon)`` per coordinate: (epsilon, 0).

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.1.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = ExpectedValueLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [98.0, 98.0]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers: GaussianAnswers, *, budget: Epsilon) -> AdditiveNoise:
        """Scale independent Laplace noise to the largest L1 mean difference."""
        scale = laplace_scale(answers.distance(1), budget.epsilon)
        noise = LaplaceNoise(scales=np.full(answers.means.shape[1], scale))
        return translated_laplace(noise, answers, "Theorem 4.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValueGaussian:
    """Release ``F + N(0, (Delta_{E,2} / d)^2 I)``: (epsilon, delta).

    Parameters
    ----------
    calibration : {"classical", "analytic"}
        d = epsilon / c as published (proved for epsilon <= 1), or exact for every epsilon.

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.2; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = ExpectedValueGaussian().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [356.545, 356.545]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    calibration: CalibrationName = "classical"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Scale isotropic Gaussian noise to the largest L2 mean difference."""
        unit = np.eye(answers.means.shape[1])
        return translated_gaussian(unit, answers, budget, self.calibration, "Theorem 4.2")


def distributions(*conditions: Condition) -> Assumptions:
    """Return what distribution privacy assumes: the laws under both sides are given, and public."""
    return Assumptions(secrets=Secrets.DISTRIBUTIONS, public=(Public.LAWS,), conditions=conditions)


def translated_laplace(noise: NoiseLaw, answers: GaussianAnswers, theorem: str) -> AdditiveNoise:
    """Add Laplace noise with the claim that each pair's answers are translations: (epsilon, 0)."""
    return AdditiveNoise(
        noise=noise,
        claim=TranslationClaim(
            differences=answers.differences(),
            theorem=f"{SOURCE}, {theorem}",
            notion=Approximate(delta=0.0),
            assumptions=distributions(Condition.TRANSLATIONS, Condition.REAL_NUMBERS),
        ),
    )


def translated_gaussian(
    unit: FloatArray,
    answers: GaussianAnswers,
    budget: EpsilonDelta,
    calibration: CalibrationName,
    theorem: str,
) -> AdditiveNoise:
    """Add N(0, s^2 unit), s the largest L2 mean difference over the calibration's distance.

    `unit` has shape (m, m) and is a projection that keeps every mean difference.
    """
    deviation = answers.distance(2) / target_distance(budget, calibration)
    return AdditiveNoise(
        noise=GaussianNoise(covariance=deviation**2 * unit, calibration=calibration),
        claim=TranslationClaim(
            differences=answers.differences(),
            theorem=f"{SOURCE}, {theorem}",
            notion=Approximate(delta=budget.delta),
            assumptions=distributions(Condition.TRANSLATIONS, *calibration_conditions(calibration)),
        ),
    )
