"""Noise in the subspace of the mean differences, for pairs that differ in several directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, finite
from mechanisms.distribution.expected_value import translated_gaussian, translated_laplace
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.additive import AdditiveNoise, shared_gaussian
from mechanisms.noise.gaussian import (
    CalibrationName,
    check_calibration,
)
from mechanisms.noise.laplace import LaplaceNoise, laplace_scale
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import Epsilon, EpsilonDelta

INSIDE = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubspaceLaplaceNoise:
    """Add ``V Z`` with independent ``Z_k ~ Lap(scales[k])`` along the orthonormal columns of V.

    Parameters
    ----------
    scales : array of shape (d,), entries in (0, inf)
        In units of the query.
    basis : array of shape (m, d)
        Orthonormal columns.
    """

    scales: FloatArray
    basis: FloatArray

    def __post_init__(self) -> None:
        scales, basis = LaplaceNoise(scales=self.scales).scales, finite("basis", self.basis)
        if basis.ndim != 2 or basis.shape[1] != scales.size:
            raise ValueError(f"basis must have {scales.size} columns, got shape {basis.shape}.")
        if not np.abs(basis.T @ basis - np.eye(scales.size)).max() <= 1e-9:
            raise ValueError("basis must have orthonormal columns.")
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "basis", basis)

    @property
    def covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""
        return (self.basis * (2 * self.scales**2)) @ self.basis.T

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m)."""
        return rng.laplace(scale=self.scales, size=(*shape[:-1], self.scales.size)) @ self.basis.T

    def split_among(self, n_releases: int) -> SubspaceLaplaceNoise:
        """Return the noise of which so many releases cost what one of this costs."""
        return SubspaceLaplaceNoise(scales=self.scales * n_releases, basis=self.basis)

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Pure epsilon of k releases; infinite for a difference off the subspace."""
        if not self._inside(differences):
            return math.inf
        inner = LaplaceNoise(scales=self.scales)
        return inner.shift_epsilon(differences @ self.basis, delta, k)

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Reduce Gaussian answers that differ inside the subspace to their best estimate in it."""
        difference, covariance = shared_gaussian(first, second)
        if not self._inside(difference[None]):
            raise NotComputableError("the answers differ off the noised directions")
        spread = self._estimate(covariance)[1]
        centre = np.zeros(self.scales.size)
        return LaplaceNoise(scales=self.scales).leakage(
            GaussianLaw(mean=self.basis.T @ difference, covariance=spread),
            GaussianLaw(mean=centre, covariance=spread),
            k,
        )

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of one release a trial, ``(n, 1, m)``, when the answer is Gaussian.

        The best estimate in the subspace is noised; the rest, independent of it, is untouched.
        """
        if not isinstance(law, GaussianLaw) or releases.shape[1] != 1:
            raise NotComputableError("Laplace noise integrates over one Gaussian answer only")
        weights, spread = self._estimate(law.covariance)
        estimate = GaussianLaw(mean=np.zeros(self.scales.size), covariance=spread)
        along = (releases[:, 0] - law.mean) @ weights
        noised = LaplaceNoise(scales=self.scales).marginal_log_density(along[:, None], estimate)
        return law.log_density(releases[:, 0]) - estimate.log_density(along) + noised

    def _inside(self, differences: FloatArray) -> bool:
        across = differences - differences @ self.basis @ self.basis.T
        sizes = np.linalg.norm(differences, axis=-1)
        return bool((np.linalg.norm(across, axis=-1) <= INSIDE * sizes.max()).all())

    def _estimate(self, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the best estimate in the subspace, (m, d), and its covariance."""
        if not np.linalg.cond(covariance) < 1 / np.finfo(np.float64).eps:
            raise NotComputableError("noise along directions needs answers of full rank")
        solved = np.linalg.solve(covariance, self.basis)
        spread = np.asarray(np.linalg.inv(self.basis.T @ solved), dtype=np.float64)
        spread = (spread + spread.T) / 2
        return solved @ spread, spread


@dataclass(frozen=True, slots=True, kw_only=True)
class OrthonormalDirectionsLaplace:
    """Release ``F + V Z`` with ``Z ~ Lap(b)^d`` in the span of the mean differences: (epsilon, 0).

    ``b`` is the largest L1 norm of a difference in the basis V, over epsilon. (The published
    remark scales to the largest L2 norm, which is too little by up to sqrt(d) for Laplace noise.)

    References
    ----------
    Chen and Ohrimenko (2023), remark after Theorem 4.3, with the scale corrected.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = OrthonormalDirectionsLaplace().calibrate(
    ...     answers, budget=Epsilon(epsilon=1.0)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [18.0, 32.0]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers: GaussianAnswers, *, budget: Epsilon) -> AdditiveNoise:
        """Scale independent Laplace noise along every direction to the largest L1 norm."""
        differences = answers.differences()
        basis = spanning_basis(differences)
        scale = laplace_scale(float(np.abs(differences @ basis).sum(axis=1).max()), budget.epsilon)
        noise = SubspaceLaplaceNoise(scales=np.full(basis.shape[1], scale), basis=basis)
        return translated_laplace(noise, answers, "Theorem 4.3 in several directions")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrthonormalDirectionsGaussian:
    """Release ``F + N(0, (Delta_{E,2} / d)^2 V V')`` in the span of the differences.

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
    >>> mechanism = OrthonormalDirectionsGaussian().calibrate(
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
        """Scale Gaussian noise along every direction to the largest L2 norm."""
        basis = spanning_basis(answers.differences())
        return translated_gaussian(
            basis @ basis.T, answers, budget, self.calibration, "Theorem 4.3 in several directions"
        )


def spanning_basis(differences: FloatArray) -> FloatArray:
    """Return orthonormal columns, shape (m, d), that span ``(p, m)`` differences.

    Raises
    ------
    NotApplicableError
        If all differences are 0.

    Examples
    --------
    >>> spanning_basis(np.array([[3.0, 0.0], [-1.0, 0.0]])).shape
    (2, 1)
    """
    left = differences.copy()
    sizes = np.linalg.norm(left, axis=1)
    longest = sizes.max()
    if not longest > 0:
        raise NotApplicableError("the pairs have equal means: there is no direction to noise")
    basis: list[FloatArray] = []
    while sizes.max() > INSIDE / 10 * longest:  # Gram and Schmidt, the longest remainder first
        row = left[sizes.argmax()] / sizes.max()
        for _ in range(2):  # twice is enough (Giraud, Langou and Rozloznik, 2005)
            for vector in basis:
                row = row - (row @ vector) * vector
            row = row / np.linalg.norm(row)
        basis.append(row)
        left = left - np.outer(left @ row, row)
        sizes = np.linalg.norm(left, axis=1)
    return np.stack(basis, axis=1)
