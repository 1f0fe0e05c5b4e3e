"""What a receiver believes about a database: a finite law or a normal law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.check import FloatArray, finite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteBelief:
    """Probabilities of finitely many possible databases, for one or many receivers at once.

    Parameters
    ----------
    points : array of shape (k, n)
        The databases: n entries each.
    weights : array of shape (..., k)
        One law a leading index; non-negative, each summing to 1.
    """

    points: FloatArray
    weights: FloatArray

    def __post_init__(self) -> None:
        points, weights = finite("points", self.points), finite("weights", self.weights)
        if points.ndim != 2 or weights.shape[-1:] != points.shape[:1]:
            raise ValueError(
                "points must have shape (k, n) and weights (..., k), "
                f"got {points.shape} and {weights.shape}."
            )
        totals = weights.sum(axis=-1)
        if weights.min() < 0 or np.abs(totals - 1).max() > 1e-9:
            raise ValueError(
                "weights must be non-negative and sum to 1, "
                f"got minimum {weights.min():g}, sums {totals.min():g} to {totals.max():g}."
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "weights", weights)

    def probability(self, truth: FloatArray) -> FloatArray:
        """Return the probability of the database `truth` (n,), shape (...)."""
        return self.weights @ (self.points == truth).all(axis=1)

    def moments(self, entry: int) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of one entry, each of shape (...)."""
        values = self.points[:, entry]
        mean = self.weights @ values
        # Centred before it is squared, so that large values keep their digits.
        variance = (self.weights * (values - mean[..., None]) ** 2).sum(axis=-1)
        return mean, variance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianBelief:
    """A normal law of a database, possibly degenerate, for one or many releases at once.

    Parameters
    ----------
    mean : array of shape (..., n)
    covariance : array of shape (n, n)
        Shared by all means: a Gaussian posterior's covariance does not depend on the release.
    """

    mean: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        mean, covariance = finite("mean", self.mean), finite("covariance", self.covariance)
        if covariance.shape != (mean.shape[-1], mean.shape[-1]):
            raise ValueError(
                "mean must have shape (..., n) and covariance (n, n), "
                f"got {mean.shape} and {covariance.shape}."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    def moments(self, entry: int) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of one entry; the mean has shape (...)."""
        return self.mean[..., entry], self.covariance[entry, entry]


Belief = FiniteBelief | GaussianBelief
