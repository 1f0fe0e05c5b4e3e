"""The eigenvector Gaussian mechanism: top up every principal direction of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.distribution.adversarial_uncertainty import common_eigenvectors, uncertain_release
from mechanisms.knowledge import GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import CalibrationName, check_calibration, target_distance
from mechanisms.privacy.budget import EpsilonDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class EigenvectorGaussian:
    """Release ``F + N(0, sum_k s_k^2 v_k v_k')``: (epsilon, delta).

    The pairs' covariances have the common eigenvectors v_k, and
    ``s_k^2 = max(0, (Delta_{E,2} / d)^2 - lambda_k)`` with the smallest eigenvalue lambda_k over
    the pairs; not applicable without common eigenvectors.

    Parameters
    ----------
    calibration : {"classical", "analytic"}
        d = epsilon / c as published (proved for epsilon <= 1), or exact for every epsilon.

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.5; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = EigenvectorGaussian().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [355.545, 355.545]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    calibration: CalibrationName = "classical"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Raise every eigenvalue to the square of the deviation that isotropic noise would have."""
        shared = answers.shared_covariances()
        vectors = common_eigenvectors(shared)
        smallest = np.einsum("ak,pab,bk->pk", vectors, shared, vectors).min(axis=0)
        deviation = answers.distance(2) / target_distance(budget, self.calibration)
        added = np.maximum(0.0, deviation**2 - smallest)
        return uncertain_release(
            (vectors * added) @ vectors.T,
            answers=answers,
            budget=budget,
            calibration=self.calibration,
            theorem="Chen and Ohrimenko (2023), Theorem 4.5",
        )
