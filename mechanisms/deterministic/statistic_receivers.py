"""The Gaussian receivers of a scenario that releases sums over records, and what they gain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechanisms.check import BoolArray, FloatArray, finite, positive, whole, within
from mechanisms.deterministic.gaussian_gain import GaussianGain
from mechanisms.deterministic.gaussian_receiver import GaussianReceiver
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.receiver_strength import GaussianReceivers
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.notion import PlayedCell
from mechanisms.privacy.persuasive.notion import Gains, Receivers, worst
from mechanisms.privacy.persuasive.receiver_class import ReceiverClass

INSIDE = 1 - 1e-9  # rounding must not put a receiver at the edge of a class outside it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StatisticReceivers(Receivers):
    """Receivers of ``sum of weights @ record`` over records with normal priors.

    One is fitted to public records: independent records, each with the records' mean and
    covariance. The others are informed: they are right about every entry but one, of which they
    are off by a surprise `r1` and have a prior so wide that the statistics take all but a share
    ``1 / r2`` of its variance. No receiver of the class (r1, r2) gains more than these.

    Parameters
    ----------
    weights : array of shape (k, m)
        Of a record's m attributes.
    size : int
        Number of records.
    mean : array of shape (m,)
    covariance : array of shape (m, m)
        Of one record, as public records have it; positive definite.
    informed : tuple of (r1, r2)
        r1 > 0 and r2 > 1.
    """

    weights: FloatArray
    size: int
    mean: FloatArray
    covariance: FloatArray
    informed: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", np.atleast_2d(finite("weights", self.weights)))
        whole("size", self.size, low=2)
        for r1, r2 in self.informed:
            positive("r1 of an informed receiver", r1, infinite=False)
            within("r2 of an informed receiver", r2, 1, math.inf, ends="()")

    @property
    def matrix(self) -> FloatArray:
        """The statistics as a matrix of shape (k, size * m), records one after the other."""
        return np.tile(self.weights, self.size)

    @property
    def fitted(self) -> GaussianReceiver:
        """The receiver who knows the records' moments."""
        return GaussianReceiver.of_records(
            mean=self.mean, covariance=self.covariance, size=self.size
        )

    def off_by_one(self, r1: float, r2: float, entry: int) -> tuple[GaussianReceiver, FloatArray]:
        """Return an informed receiver's prior around the truth, and how far the truth is off.

        Entries are independent. With ``V0`` the statistics' covariance without the entry,
        ``q = a' V0^-1 a`` and v the entry's variance, ``1 / (1 - R^2) = 1 + v q`` and the surprise
        of being off by d is ``d^2 q / (1 + v q)``.

        Returns
        -------
        receiver : GaussianReceiver
            With mean 0: its belief about the database less the truth, but for the second value.
        error : array of shape (size * m,)
            What the database is above the receiver's mean.
        """
        matrix = self.matrix
        variances = np.tile(np.diag(self.covariance), self.size)
        column = matrix[:, entry]
        if not column.any():
            raise ValueError(f"entry must count in a statistic, got entry={entry}.")
        variances[entry] = 0.0
        rest = (matrix * variances) @ matrix.T
        q = float(column @ np.linalg.pinv(rest, hermitian=True) @ column)
        variances[entry] = (r2 * INSIDE - 1) / q
        error = np.zeros(matrix.shape[1])
        error[entry] = math.sqrt(r1 * INSIDE * r2 * INSIDE / q)
        zero = np.zeros(matrix.shape[1])
        return GaussianReceiver(mean=zero, covariance=np.diag(variances)), error

    def gains(self, cell: PlayedCell, admitted: ReceiverClass | None, delta: float) -> Gains:
        """Return the gains over all entries of all worlds; see `Receivers.gains`."""
        if cell.database is None:
            raise NotComputableError("the scenario draws no records")
        noise = noise_of(cell)
        x = np.asarray(cell.database, dtype=np.float64).reshape(len(cell.database), -1)
        releases = np.asarray(cell.releases, dtype=np.float64).mean(axis=1)
        found, realised = [], []
        fitted = GaussianGain(receiver=self.fitted, matrix=self.matrix, noise=noise)
        inside = x[admits(admitted, fitted, x)]
        if len(inside):
            found.append(float(fitted.exact(inside, delta=delta).max()))
        if noise is None and len(inside):
            realised.append(fitted.losses(releases[admits(admitted, fitted, x)], inside).ravel())
        for entry, receiver, error in self._informed(admitted):
            gain = GaussianGain(receiver=receiver, matrix=self.matrix, noise=noise)
            found.append(float(gain.exact(error, delta=delta)[entry]))
            # The receiver moves with the database: all worlds are releases of one case.
            moved = releases - (x - error) @ self.matrix.T
            realised.append(gain.losses(moved, error)[:, entry])
        return Gains(
            exact=worst(found),
            realised=tuple(rows[None] for rows in realised),
            deterministic=noise is None,
        )

    def _informed(
        self, admitted: ReceiverClass | None
    ) -> Iterator[tuple[int, GaussianReceiver, FloatArray]]:
        for r1, r2 in self.informed:
            for entry in np.flatnonzero(self.weights.any(axis=0)).tolist():
                receiver, error = self.off_by_one(r1, r2, entry)
                gain = GaussianGain(receiver=receiver, matrix=self.matrix)
                if admits(admitted, gain, error[None]).all():
                    yield entry, receiver, error


def admits(admitted: ReceiverClass | None, gain: GaussianGain, x: FloatArray) -> BoolArray:
    """Return at which databases ``(n, entries)`` a receiver is in the class, shape (n,)."""
    if admitted is None:
        return np.ones(len(x), dtype=bool)
    if not isinstance(admitted, GaussianReceivers):
        raise NotComputableError(f"Gaussian receivers are none of the class {admitted.name}")
    return admitted.admits(gain, x)


def noise_of(cell: PlayedCell) -> FloatArray | None:
    """Return the covariance of the averaged releases' Gaussian noise; None for exact ones."""
    mechanism = cell.mechanism
    if isinstance(mechanism, ExactRelease):
        return None
    if isinstance(mechanism, LinearStatistics):
        noise = mechanism.noise
    elif isinstance(mechanism, AdditiveNoise) and (
        mechanism.is_noiseless or isinstance(mechanism.noise, GaussianNoise)
    ):
        noise = None if mechanism.is_noiseless else mechanism.noise_covariance
    else:
        raise NotComputableError(
            "a Gaussian receiver's gain is computed for exact statistics and Gaussian noise, not "
            f"for {type(mechanism).__name__}"
        )
    return None if noise is None else noise / cell.n_releases
