"""The directional expected value mechanisms: noise only where expected answers differ.

Chen and Ohrimenko (2023), Theorem 4.3 and its Gaussian variant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.expected_value import NOTION, TRANSLATION_NOTE
from mechanisms.gaussian import (
    CalibrationName,
    GaussianNoise,
    calibration_notes,
    check_calibration,
    target_distance,
)
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laplace import FLOAT_NOTE, DirectionalLaplaceNoise, laplace_scale
from mechanisms.noise import AdditiveNoise, TranslationClaim
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.guarantee import ApproximateMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionalLaplace:
    """Release ``F + Y v`` with ``Y ~ Lap(Delta_{E,2} / epsilon)``: (epsilon, 0).

    All mean differences must be parallel to the unit vector v; otherwise not applicable.

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.3.
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers: GaussianAnswers, *, budget: Epsilon) -> AdditiveNoise:
        """Scale Laplace noise along v to the largest L2 mean difference."""
        noise = DirectionalLaplaceNoise(
            direction=answers.common_direction(),
            scale=laplace_scale(answers.distance(2), budget.epsilon),
        )
        return AdditiveNoise(
            noise=noise,
            claim=TranslationClaim(
                differences=answers.differences(),
                notion=NOTION,
                theorem="Chen and Ohrimenko (2023), Theorem 4.3",
                measure=ApproximateMeasure(0.0),
                notes=(TRANSLATION_NOTE, FLOAT_NOTE),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionalGaussian:
    """Release ``F + Y v`` with ``Y ~ N(0, (Delta_{E,2} / d)^2)``: (epsilon, delta).

    Parameters
    ----------
    calibration : {"classical", "analytic"}
        d = epsilon / c as published (proved for epsilon <= 1), or exact for every epsilon.

    References
    ----------
    Chen and Ohrimenko (2023), remark after Theorem 4.3; Balle and Wang (2018), Theorem 8.
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    calibration: CalibrationName = "classical"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Scale Gaussian noise along v to the largest L2 mean difference."""
        direction = answers.common_direction()
        deviation = answers.distance(2) / target_distance(budget, self.calibration)
        covariance = deviation**2 * np.outer(direction, direction)
        return AdditiveNoise(
            noise=GaussianNoise(covariance=covariance, calibration=self.calibration),
            claim=TranslationClaim(
                differences=answers.differences(),
                notion=NOTION,
                theorem="Chen and Ohrimenko (2023), Theorem 4.3 with Gaussian noise",
                measure=ApproximateMeasure(budget.delta),
                notes=(TRANSLATION_NOTE, FLOAT_NOTE, *calibration_notes(self.calibration)),
            ),
        )
