"""The directional expected value mechanisms: noise only where expected answers differ.

Chen and Ohrimenko (2023), Theorem 4.3 and its Gaussian variant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.distribution.expected_value import translated_gaussian, translated_laplace
from mechanisms.knowledge import GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import (
    CalibrationName,
    check_calibration,
)
from mechanisms.noise.laplace import DirectionalLaplaceNoise, laplace_scale
from mechanisms.privacy.budget import Epsilon, EpsilonDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionalLaplace:
    """Release ``F + Y v`` with ``Y ~ Lap(Delta_{E,2} / epsilon)``: (epsilon, 0).

    All mean differences must be parallel to the unit vector v; otherwise not applicable.

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.3.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = DirectionalLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [18.0, 32.0]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers: GaussianAnswers, *, budget: Epsilon) -> AdditiveNoise:
        """Scale Laplace noise along v to the largest L2 mean difference."""
        noise = DirectionalLaplaceNoise(
            direction=answers.common_direction(),
            scale=laplace_scale(answers.distance(2), budget.epsilon),
        )
        return translated_laplace(noise, answers, "Theorem 4.3")


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

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = DirectionalGaussian().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [128.356, 228.189]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    calibration: CalibrationName = "classical"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Scale Gaussian noise along v to the largest L2 mean difference."""
        direction = answers.common_direction()
        return translated_gaussian(
            np.outer(direction, direction), answers, budget, self.calibration,
            "Theorem 4.3 with Gaussian noise",
        )  # fmt: skip
