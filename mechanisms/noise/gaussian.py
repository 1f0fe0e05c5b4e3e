"""Gaussian noise of any covariance, and the two ways to turn it into (epsilon, delta)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from mechanisms.check import FloatArray, one_of
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.collinear import along_a_line, both_finite
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.quadratic_form import quadratic_form
from mechanisms.leakage.gaussian_tradeoff import (
    classical_constant,
    gaussian_distance,
    gaussian_epsilon,
)
from mechanisms.leakage.noisy_scalar import NoisedPoints
from mechanisms.leakage.pair import GaussianShift, PairLeakage
from mechanisms.leakage.unequal_gaussian import diagonalise
from mechanisms.noise.additive import equal_covariances, is_point, point_as_gaussian
from mechanisms.noise.grid import rounded_sum, standard_normal, steps_for
from mechanisms.noise.rank import noise_root, noised_directions
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import EpsilonDelta

CalibrationName = Literal["classical", "analytic"]


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: the root is kept
class GaussianNoise:
    """Add ``Z ~ N(0, covariance)``.

    Parameters
    ----------
    covariance : array of shape (m, m)
        Symmetric, positive semi-definite, in squared units of the query.
    calibration : {"classical", "analytic"}
        How a distance is turned into epsilon: ``c d`` with c = sqrt(2 log(1.25/delta)) (Dwork and
        Roth, 2014, Theorem A.1, proved for epsilon <= 1), or exactly (Balle and Wang, 2018).
    """

    covariance: FloatArray
    calibration: CalibrationName

    def __post_init__(self) -> None:
        check_calibration(self.calibration)
        law = GaussianLaw(mean=np.zeros(len(self.covariance)), covariance=self.covariance)
        object.__setattr__(self, "covariance", law.covariance)

    @cached_property
    def _root(self) -> FloatArray:
        """A root R of the covariance, R R' = covariance, factored once for all releases."""
        return noise_root(self.covariance)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m)."""
        return rng.standard_normal(shape) @ self._root.T

    @property
    def step(self) -> FloatArray | None:
        """Step of each coordinate's grid, shape (m,); None where a direction has no noise."""
        if noised_directions(self.covariance)[2] < len(self.covariance):
            return None
        return steps_for(np.sqrt(np.diag(self.covariance)))

    def release_on_grid(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return ``(n_trials, m)`` answers plus noise, rounded to multiples of the steps."""
        noise, sizes = standard_normal(x.shape, rng), np.sqrt(np.diag(self.covariance))
        step = steps_for(sizes)
        if not (self.covariance - np.diag(sizes**2)).any():
            return rounded_sum(x, noise, sizes, step)
        return rounded_sum(x, noise @ self._root.T, np.ones_like(step), step)

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Epsilon of k releases at a delta; infinite off the noised subspace."""
        distances = [mahalanobis(row, self.covariance / k) for row in differences]
        return self.epsilon_at(max(distances), delta)

    def split_among(self, n_releases: int) -> GaussianNoise:
        """Return the noise whose average over so many releases is this noise."""
        return replace(self, covariance=self.covariance * n_releases)

    def epsilon_at(self, distance: float, delta: float) -> float:
        """Turn a Mahalanobis distance into epsilon by this noise's calibration."""
        if self.calibration == "classical":
            return classical_constant(delta) * distance
        return gaussian_epsilon(distance, delta)

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Compare Gaussian answers, or finite ones along one line; k releases are averaged."""
        finite_laws = both_finite(first, second)
        if finite_laws is not None and not all(is_point(law) for law in finite_laws):
            return self._finite_leakage(*finite_laws, k)
        return gaussian_leakage(first, second, self.covariance / k)

    def _finite_leakage(self, first: FiniteLaw, second: FiniteLaw, k: int) -> PairLeakage:
        """Reduce to the whitened component along the line, which is sufficient."""
        direction, (p, q) = along_a_line(first, second)
        form = quadratic_form(direction, self.covariance / k)
        if math.isinf(form):
            raise NotComputableError("the answers differ off the noised directions")
        deviation = 1 / math.sqrt(form)
        return NoisedPoints(first=p, second=q, noise="gaussian", scale=deviation)

    def log_density(self, z: FloatArray) -> FloatArray:
        """Log density of noise ``(..., m)`` of full rank, shape (...)."""
        law = GaussianLaw(mean=np.zeros(len(self.covariance)), covariance=self.covariance)
        return law.log_density(z.reshape(-1, z.shape[-1])).reshape(z.shape[:-1])

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of the average of ``(n, k, m)`` releases when the answer is Gaussian.

        The average is sufficient, so densities under two laws compare as those of all releases.
        """
        if not isinstance(law, GaussianLaw):
            raise NotComputableError("Gaussian noise integrates over a Gaussian answer only")
        total = law.covariance + self.covariance / releases.shape[1]
        return GaussianLaw(mean=law.mean, covariance=total).log_density(releases.mean(axis=1))


def check_calibration(name: str) -> CalibrationName:
    """Return `name` if it is a known Gaussian calibration."""
    one_of("calibration", name, ("classical", "analytic"))
    return name  # type: ignore[return-value]


def target_distance(budget: EpsilonDelta, calibration: CalibrationName) -> float:
    """Return the largest Mahalanobis distance that the calibration allows at this budget.

    Classical: eps/c (proved for epsilon <= 1). Analytic: exact for every epsilon, rounded down.
    """
    if check_calibration(calibration) == "classical":
        return budget.epsilon / classical_constant(budget.delta)
    return gaussian_distance(budget.epsilon, budget.delta)


def calibration_conditions(calibration: CalibrationName) -> tuple[Condition, ...]:
    """Return the conditions of a guarantee that sampled Gaussian noise and its calibration add."""
    proved = (Condition.SMALL_EPSILON,) if calibration == "classical" else ()
    return (Condition.REAL_NUMBERS, *proved)


def gaussian_leakage(first: AnswerLaw, second: AnswerLaw, extra: FloatArray) -> PairLeakage:
    """Compare two Gaussian answers to which noise of covariance `extra` is added.

    Raises
    ------
    NotComputableError
        If an answer is not Gaussian.
    """
    first, second = point_as_gaussian(first), point_as_gaussian(second)
    if not (isinstance(first, GaussianLaw) and isinstance(second, GaussianLaw)):
        raise NotComputableError("exact leakage of this noise needs Gaussian answers")
    if equal_covariances(first, second):
        return GaussianShift(mahalanobis(first.mean - second.mean, first.covariance + extra))
    pair = diagonalise(first.mean, first.covariance + extra, second.mean, second.covariance + extra)
    return GaussianShift(math.inf) if pair is None else pair


def mahalanobis(difference: FloatArray, covariance: FloatArray) -> float:
    """Return sqrt(d' C^+ d), or inf for a difference outside the range of `covariance`."""
    return math.sqrt(quadratic_form(difference, covariance))
