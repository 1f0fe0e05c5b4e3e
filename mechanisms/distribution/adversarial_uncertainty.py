"""What Gaussian noise guarantees when the answers' own Gaussian spread counts as well.

Chen and Ohrimenko (2023), section 4.3: the attacker who does not know the data exactly sees
``N(mu_i, Sigma + noise)`` against ``N(mu_j, Sigma + noise)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray
from mechanisms.distribution.expected_value import distributions
from mechanisms.knowledge import GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.gaussian import (
    CalibrationName,
    GaussianNoise,
    calibration_conditions,
    mahalanobis,
    target_distance,
)
from mechanisms.privacy.assumptions import Assumptions, Condition
from mechanisms.privacy.budget import EpsilonDelta
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyClaim:
    """Every pair's Mahalanobis distance under the answers' covariance plus that of the noise.

    Parameters
    ----------
    answers : GaussianAnswers
        A pair's covariance is the average of its two.
    theorem : str
    notion : Approximate
    assumptions : Assumptions
    notes : tuple of str

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.4 and Corollary A.1.
    """

    answers: GaussianAnswers
    theorem: str
    notion: Approximate
    assumptions: Assumptions
    notes: tuple[str, ...] = ()

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Condition on (mu_i - mu_j)' (Sigma + noise / k)^-1 (mu_i - mu_j): exact distance."""
        if not isinstance(noise, GaussianNoise):
            return NoClaim(reason="the answers' spread is only counted with Gaussian noise")
        differences, shared = self.answers.differences(), self.answers.shared_covariances()
        distance = max(
            mahalanobis(difference, covariance + noise.covariance / n_releases)
            for difference, covariance in zip(differences, shared, strict=True)
        )
        return Guarantee(
            notion=self.notion,
            bound=noise.epsilon_at(distance, self.notion.delta),
            theorem=self.theorem,
            assumptions=self.assumptions,
            notes=self.notes,
        )


def required_spread(
    answers: GaussianAnswers, budget: EpsilonDelta, calibration: CalibrationName
) -> FloatArray:
    """Return each pair's mean difference divided by the distance allowed, shape (n_pairs, m).

    A pair meets the budget exactly if ``Sigma + noise - w w'`` is positive semi-definite for its
    row w (Corollary A.1 as a matrix inequality, by the Schur complement).
    """
    return answers.differences() / target_distance(budget, calibration)


def uncertain_release(
    covariance: FloatArray,
    *,
    answers: GaussianAnswers,
    budget: EpsilonDelta,
    calibration: CalibrationName,
    theorem: str,
    notes: tuple[str, ...] = (),
) -> AdditiveNoise:
    """Add Gaussian noise of this covariance; the claim counts the answers' spread.

    Where rounding leaves the claim above the budget (relative tolerance 1e-9), the noise is
    raised by a millionth.

    Raises
    ------
    NotApplicableError
        If that is not enough, in a nearly singular covariance.
    """
    claim = UncertaintyClaim(
        answers=answers,
        theorem=theorem,
        notion=Approximate(delta=budget.delta),
        assumptions=distributions(
            Condition.GAUSSIAN_ANSWERS,
            Condition.EQUAL_COVARIANCE,
            *calibration_conditions(calibration),
        ),
        notes=notes,
    )
    for factor in (1.0, 1 + 1e-6):
        noise = GaussianNoise(covariance=factor * covariance, calibration=calibration)
        release = AdditiveNoise(noise=noise, claim=claim)
        guarantee = release.guarantee
        if isinstance(guarantee, Guarantee) and guarantee.bound <= budget.epsilon * (1 + 1e-9):
            return release
    raise NotApplicableError(
        "the answers' covariance is too close to singular for noise of this shape"
    )


def common_eigenvectors(covariances: FloatArray) -> FloatArray:
    """Return orthonormal columns that diagonalise all ``(p, m, m)`` covariances.

    Raises
    ------
    NotApplicableError
        If there are none (relative tolerance 1e-9).
    """
    sizes = np.trace(covariances, axis1=1, axis2=2)
    if not sizes.max() > 0:
        return np.eye(covariances.shape[1])
    # A generic combination separates every eigenspace that any of them separates.
    mix = np.sqrt(np.arange(2, len(covariances) + 2)) / max(sizes.max(), 1e-300)
    vectors = np.linalg.eigh(np.tensordot(mix, covariances, axes=1))[1]
    rotated = vectors.T @ covariances @ vectors
    off = rotated - rotated * np.eye(len(vectors))
    if (np.abs(off).max(axis=(1, 2)) > 1e-9 * sizes).any():
        raise NotApplicableError("the pairs' covariances have no common eigenvectors")
    return vectors
