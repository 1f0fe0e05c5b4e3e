"""The directional mechanism with adversarial uncertainty: top up the spread along one direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.distribution.adversarial_uncertainty import required_spread, uncertain_release
from mechanisms.knowledge import GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise, spread_along
from mechanisms.noise.gaussian import CalibrationName, check_calibration
from mechanisms.privacy.budget import EpsilonDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertainDirectionalGaussian:
    """Release ``F + Y v`` with ``Y ~ N(0, s^2)``: (epsilon, delta).

    All mean differences ``alpha v`` are parallel to the unit vector v (otherwise not applicable),
    and ``s^2 = max(0, (alpha / d)^2 - 1 / (v' Sigma^-1 v))``, the largest over the pairs. That is
    the smallest s^2 for which the published bisection's matrix is positive definite, in closed
    form; in a singular Sigma that does not contain v the answers' own spread counts as 0.

    Parameters
    ----------
    calibration : {"classical", "analytic"}
        d = epsilon / c as published (proved for epsilon <= 1), or exact for every epsilon.

    References
    ----------
    Chen and Ohrimenko (2023), Algorithm 1 and Corollary A.1; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = UncertainDirectionalGaussian().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [127.996, 227.549]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    calibration: CalibrationName = "classical"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Top up the spread along v that is left when the other components are known."""
        direction = answers.common_direction()
        needed = (required_spread(answers, budget, self.calibration) @ direction) ** 2
        present = np.array([spread_along(s, direction) for s in answers.shared_covariances()]) ** 2
        variance = max(0.0, float((needed - present).max()))
        return uncertain_release(
            variance * np.outer(direction, direction),
            answers=answers,
            budget=budget,
            calibration=self.calibration,
            theorem="Chen and Ohrimenko (2023), Algorithm 1",
        )
