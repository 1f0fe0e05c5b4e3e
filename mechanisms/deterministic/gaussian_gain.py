"""What a Gaussian receiver gains by linear statistics of the database, exactly.

The release is ``t = A x + Z``, ``Z ~ N(0, K)`` or absent; the prior is ``N(mu, S)``. With
``V = A S A' + K`` and ``c_i = A S e_i`` the posterior of entry i is normal with mean
``mu_i + c_i' V^-1 (t - A mu)`` and variance ``S_ii (1 - R_i^2)``, ``R_i^2 = c_i' V^-1 c_i / S_ii``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from mechanisms.check import FloatArray, within
from mechanisms.deterministic.gaussian_receiver import GaussianReceiver
from mechanisms.deterministic.quadratic_quantile import quadratic_quantile

# Below this share of its variance left, an entry counts as determined by the statistics: the
# rounding error of a computed R^2.
DETERMINED = 1e-10
SINGULAR = 1e-12
IMPOSSIBLE = 1e-7
STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianGain:
    """The posterior of one receiver given statistics of one form, and the score gains.

    Parameters
    ----------
    receiver : GaussianReceiver
    matrix : array of shape (k, n)
        A: the statistics.
    noise : array of shape (k, k), optional
        K: covariance of Gaussian noise; None for none.
    """

    receiver: GaussianReceiver
    matrix: FloatArray
    noise: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or self.matrix.shape[1] != self.receiver.size:
            raise ValueError(
                f"matrix must have {self.receiver.size} columns, one an entry of the receiver's "
                f"prior, got shape {self.matrix.shape}."
            )

    def whitening(self) -> tuple[FloatArray, FloatArray]:
        """Return W and B with ``V = B B'`` and ``W B = I``, shapes (rank, k) and (k, rank).

        Statistics that repeat others are dropped here: a redundant number says nothing new.
        """
        total = self.matrix @ self.receiver.covariance @ self.matrix.T
        if self.noise is not None:
            total = total + self.noise
        spread = np.sqrt(np.diag(total))
        if (spread == 0).any():
            constant = int(np.flatnonzero(spread == 0)[0])
            raise ValueError(f"statistics must vary under the prior, got a constant {constant}.")
        # On the correlation matrix, so that the statistics' units do not matter.
        values, vectors = np.linalg.eigh(total / np.outer(spread, spread))
        keep = values > SINGULAR * values[-1]
        lengths, axes = np.sqrt(values[keep]), vectors[:, keep]
        return (axes / lengths).T / spread, axes * lengths * spread[:, None]

    def gain(self) -> tuple[FloatArray, FloatArray]:
        """Return ``c_i' V^-1 / sigma_i``, shape (n, k), and ``1 - R_i^2``, shape (n,)."""
        white, _ = self.whitening()
        along = white @ self.matrix @ self.receiver.covariance / self.receiver.deviations
        left = 1 - (along**2).sum(axis=0)
        return along.T @ white, np.where(left > DETERMINED, left, 0.0)

    def posterior_moments(self, releases: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means ``(..., n)`` and variances ``(n,)`` of entries given releases (..., k)."""
        slope, left = self.gain()
        surprise = releases - self.matrix @ self.receiver.mean
        mean = self.receiver.mean + self.receiver.deviations * (surprise @ slope.T)
        return mean, self.receiver.deviations**2 * left

    def losses(self, releases: FloatArray, x: FloatArray) -> FloatArray:
        """Return the gain in marginal Dawid-Sebastiani score of every entry.

        ``-log(1 - R^2) + z^2 - (z - s)^2 / (1 - R^2)`` with z the standardised entry and s its
        standardised posterior mean; inf where the statistics determine the entry.

        Parameters
        ----------
        releases : array of shape (..., k)
        x : array of shape (..., n)
            The databases.
        """
        slope, left = self.gain()
        s = (releases - self.matrix @ self.receiver.mean) @ slope.T
        z = (x - self.receiver.mean) / self.receiver.deviations
        safe = np.where(left > 0, left, 1.0)
        loss = -np.log(safe) + z**2 - (z - s) ** 2 / safe
        return np.where(left > 0, loss, math.inf)

    def surprise(self, releases: FloatArray) -> FloatArray:
        """Return ``(t - A mu)' V^-1 (t - A mu)`` of releases ``(..., k)``, shape (...).

        Raises
        ------
        ValueError
            If the prior excludes a release, beyond rounding.
        """
        white, colour = self.whitening()
        gap = releases - self.matrix @ self.receiver.mean
        inside = gap @ white.T
        spread = np.linalg.norm(colour, axis=1)
        outside = np.abs(inside @ colour.T - gap) / spread
        if (outside > IMPOSSIBLE * (1 + np.abs(gap / spread).max(initial=0))).any():
            raise ValueError(
                "releases must be possible under the prior, got one outside its range."
            )
        return (inside**2).sum(axis=-1)

    def shrinkage_term(self) -> float:
        """Return ``max_i -log(1 - R_i^2)``: inf where the statistics determine an entry."""
        smallest = float(self.gain()[1].min())
        return -math.log(smallest) if smallest > 0 else math.inf

    def bound(self, x: FloatArray, *, delta: float = 0.0) -> float:
        """Return kappa for a database: an upper bound on the loss of each of its entries.

        ``(t - A mu)' V^-1 (t - A mu) + max_i -log(1 - R_i^2)``; under noise the first term's
        (1 - delta)-quantile. By Cauchy-Schwarz the largest loss over an entry's values,
        ``s^2 / R^2 - log(1 - R^2)``, is at most that, with equality where c_i is parallel to
        ``t - A mu``.

        Parameters
        ----------
        x : array of shape (n,)
        delta : float in [0, 1)
            inf at delta = 0 under noise.
        """
        within("delta", delta, 0, 1, ends="[)")
        mean_release = self.matrix @ np.asarray(x, dtype=np.float64)
        if self.noise is None:
            return float(self.surprise(mean_release)) + self.shrinkage_term()
        white, _ = self.whitening()
        offset = white @ (mean_release - self.matrix @ self.receiver.mean)
        quantile = quadratic_quantile(offset, white @ self.noise @ white.T, delta=delta)
        return quantile + self.shrinkage_term()

    def exact(self, x: FloatArray, *, delta: float = 0.0) -> FloatArray:
        """Return each entry's smallest kappa with P(loss > kappa) <= delta; exact.

        Of databases ``(..., n)``, in their shape.

        Under noise the standardised posterior mean is normal, ``s ~ N(m, v)``, and the loss
        exceeds a number where s lies within some distance r of z: the largest r with
        ``P(|z - s| < r) <= delta`` gives it, rounded towards a larger loss.
        """
        within("delta", delta, 0, 1, ends="[)")
        x = np.asarray(x, dtype=np.float64)
        if self.noise is None:
            return self.losses(x @ self.matrix.T, x)
        slope, left = self.gain()
        m = (x - self.receiver.mean) @ self.matrix.T @ slope.T
        deviation = np.sqrt(np.einsum("ik,kl,il->i", slope, self.noise, slope))
        z = (x - self.receiver.mean) / self.receiver.deviations
        r = _distance_quantile(z - m, deviation, delta)
        safe = np.where(left > 0, left, 1.0)
        return np.where(left > 0, -np.log(safe) + z**2 - r**2 / safe, math.inf)


def _distance_quantile(centre: FloatArray, deviation: FloatArray, delta: float) -> FloatArray:
    """Return the largest r with ``P(|N(centre, deviation^2)| < r) <= delta``, rounded down."""
    distance = np.abs(centre)
    safe = np.where(deviation > 0, deviation, 1.0)
    low = np.zeros_like(distance)
    high = distance + 40 * safe
    for _ in range(STEPS):
        middle = (low + high) / 2
        inside = ndtr((middle - distance) / safe) - ndtr((-middle - distance) / safe)
        below = inside <= delta
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    low = low if delta > 0 else np.zeros_like(low)  # else where the probability underflows
    # Without spread the distance is sure: nothing lies nearer.
    return np.where(deviation > 0, low, distance)
