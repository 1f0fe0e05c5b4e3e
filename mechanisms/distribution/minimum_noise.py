"""The Gaussian noise of least total variance that meets every pair's condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.distribution.adversarial_uncertainty import required_spread, uncertain_release
from mechanisms.knowledge import GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import CalibrationName, check_calibration
from mechanisms.privacy.budget import EpsilonDelta

GAP = 1e-8
CLOSED_FORM = "least total variance: positive part of one pair's deficit"
BARRIER = f"total variance within {GAP:g} of the least: log-det barrier, certified by its gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumNoiseGaussian:
    """Release ``F + N(0, N)`` with N of least trace subject to every pair's condition.

    With ``w = (mu_i - mu_j) / d`` the condition of a pair is ``Sigma + N - w w' >= 0``. One pair
    needs the positive part of its deficit ``w w' - Sigma``, of rank one at most; where that meets
    all other pairs' conditions too (parallel differences with one covariance: the longest alone)
    it is the optimum. Otherwise a small semidefinite program is solved from the inside, so that
    the result is feasible, and its trace is within a relative 1e-8 of the least.

    Parameters
    ----------
    calibration : {"classical", "analytic"}
        d = epsilon / c (proved for epsilon <= 1), or exact for every epsilon.

    References
    ----------
    The condition: Chen and Ohrimenko (2023), Corollary A.1; Balle and Wang (2018), Theorem 8. The
    solver: Boyd and Vandenberghe (2004), section 11.6.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = MinimumNoiseGaussian().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [59.3, 105.422]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    calibration: CalibrationName = "analytic"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Return one pair's closed form if it serves all pairs, else solve the program."""
        w = required_spread(answers, budget, self.calibration)
        deficits = w[:, :, None] * w[:, None, :] - answers.shared_covariances()
        covariance, method = least_covariance(deficits)
        return uncertain_release(
            covariance,
            answers=answers,
            budget=budget,
            calibration=self.calibration,
            theorem="Chen and Ohrimenko (2023), Corollary A.1",
            notes=(method,),
        )


def least_covariance(deficits: FloatArray) -> tuple[FloatArray, str]:
    """Return N >= 0 of least trace with ``N >= deficit`` for all ``(p, m, m)``, and how.

    Examples
    --------
    >>> least_covariance(np.array([[[3.0, 0.0], [0.0, -1.0]]]))[0].tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    """
    values, vectors = np.linalg.eigh(deficits)
    parts = (vectors * np.maximum(values, 0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    largest = parts[np.trace(parts, axis1=1, axis2=2).argmax()]
    slack = np.linalg.eigvalsh(largest - deficits)[:, 0]
    if (slack >= -1e-12 * np.abs(values).max(axis=1)).all():
        return largest, CLOSED_FORM
    distinct = np.unique(deficits[np.abs(values).max(axis=1) > 0], axis=0)
    return _barrier(np.concatenate([distinct, np.zeros((1, *largest.shape))])), BARRIER


def _barrier(lower: FloatArray) -> FloatArray:
    """Minimise tr N subject to ``N > L`` for every L of ``(p, m, m)``, by Newton's method.

    At the minimiser of ``t tr N - sum log det(N - L)`` the trace exceeds the least one by at
    most p m / t.
    """
    p, m = lower.shape[:2]
    scale = float(np.linalg.eigvalsh(lower).max())
    lower = lower / scale
    noise = 2 * np.eye(m)
    t = 1.0
    while True:
        for _ in range(100):
            inverse = np.linalg.inv(noise - lower)
            gradient = t * np.eye(m) - inverse.sum(axis=0)
            hessian = np.einsum("pac,pbd->abcd", inverse, inverse).reshape(m * m, m * m)
            step = np.linalg.solve(hessian, -gradient.ravel()).reshape(m, m)
            step = (step + step.T) / 2
            decrement = -float((gradient * step).sum())
            if decrement < 1e-10:
                break
            noise = noise + step / (1 + np.sqrt(decrement))  # damped: stays inside
        # The dual value t^-1 (p m) is exact at the centre; the last decrement is far below it.
        if p * m / t < GAP * float(np.trace(noise)):
            return noise * scale
        t *= 8
