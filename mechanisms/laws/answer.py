"""Laws of an answer: what a curator assumes about the query result in one world."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import multivariate_normal

from mechanisms.check import FloatArray, finite
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw

FULL_RANK = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianLaw:
    """A multivariate normal law N(mean, covariance).

    Parameters
    ----------
    mean : array of shape (m,)
        In units of the query.
    covariance : array of shape (m, m)
        Symmetric, positive semi-definite.
    """

    mean: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        mean, covariance = finite("mean", self.mean), finite("covariance", self.covariance)
        if mean.ndim != 1 or covariance.shape != (mean.size, mean.size):
            raise ValueError(
                "mean must have shape (m,) and covariance (m, m), "
                f"got {mean.shape} and {covariance.shape}."
            )
        variances = np.diag(covariance)
        scale = np.sqrt(np.outer(np.maximum(variances, 0), np.maximum(variances, 0)))
        if (np.abs(covariance - covariance.T) > 1e-9 * scale).any():
            raise ValueError("covariance must be symmetric.")
        # On the correlation matrix, so that the coordinates' units do not matter.
        impossible = (variances < 0).any() or (covariance[scale == 0] != 0).any()
        correlation = covariance / np.where(scale > 0, scale, 1)
        if impossible or np.linalg.eigvalsh(correlation)[0] < -1e-9:
            smallest = float(np.linalg.eigvalsh(covariance)[0])
            raise ValueError(
                f"covariance must be positive semi-definite, got an eigenvalue {smallest:g}."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` answers, shape (size, m)."""
        return rng.multivariate_normal(self.mean, self.covariance, size=size, method="eigh")

    def log_density(self, x: FloatArray) -> FloatArray:
        """Log density at ``(n, m)`` points, on the support where the covariance is singular."""
        spread = np.sqrt(np.diag(self.covariance))
        if spread.min() > 0:
            correlation = self.covariance / np.outer(spread, spread)
            if np.linalg.eigvalsh(correlation)[0] > FULL_RANK:
                # On the correlation matrix, so that the coordinates' units do not matter.
                factor = np.linalg.cholesky(correlation)
                white = solve_triangular(factor, ((x - self.mean) / spread).T, lower=True)
                volume = np.log(np.diag(factor)).sum() + np.log(spread).sum()
                size = spread.size / 2 * math.log(2 * math.pi)
                return -0.5 * (white**2).sum(axis=0) - volume - size
        law = multivariate_normal(self.mean, self.covariance, allow_singular=True)
        return np.atleast_1d(law.logpdf(x))


AnswerLaw = GaussianLaw | FiniteLaw | SequenceLaw
