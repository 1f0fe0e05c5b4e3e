"""Linear statistics of the records, released exactly or with Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import chi2

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, finite, whole, within
from mechanisms.deterministic.gaussian_gain import GaussianGain
from mechanisms.deterministic.gaussian_receiver import GaussianReceiver
from mechanisms.deterministic.receiver_strength import GaussianReceivers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.persuasive.kappa_claim import persuasive_guarantee


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearStatistics:
    """Release ``A x``, exactly or with Gaussian noise, of a database of n entries.

    Parameters
    ----------
    matrix : array of shape (k, n)
        A: one row a statistic.
    noise : array of shape (k, k), optional
        Covariance of Gaussian noise; None releases the statistics exactly.
    receivers : GaussianReceivers, optional
        The class that the guarantee is stated for; None states none.
    delta : float in [0, 1)
        Of the guarantee under noise.
    """

    sees: ClassVar[Sees] = "database"
    matrix: FloatArray
    noise: FloatArray | None = None
    receivers: GaussianReceivers | None = None
    delta: float = 0.0

    def __post_init__(self) -> None:
        matrix = np.atleast_2d(finite("matrix", self.matrix))
        if not matrix.any(axis=1).all():
            raise ValueError("matrix must not have a row of zeros: it would release nothing.")
        within("delta", self.delta, 0, 1, ends="[)")
        object.__setattr__(self, "matrix", matrix)
        if self.noise is not None:
            noise = np.atleast_2d(finite("noise", self.noise))
            GaussianLaw(mean=np.zeros(len(matrix)), covariance=noise)  # checks
            object.__setattr__(self, "noise", noise if noise.any() else None)

    @classmethod
    def mean(cls, size: int, *, receivers: GaussianReceivers | None = None) -> LinearStatistics:
        """Return the noiseless mean of n entries.

        Examples
        --------
        >>> release = LinearStatistics.mean(4, receivers=GaussianReceivers(r1=1.69, r2=7 / 3))
        >>> release.release(np.array([[1.0, 2.0, 3.0, 6.0]]), np.random.default_rng(0)).tolist()
        [[3.0]]
        >>> round(release.guarantee.bound, 6)
        2.537298
        """
        return cls(matrix=np.full((1, whole("size", size)), 1 / size), receivers=receivers)

    @classmethod
    def of_records(
        cls,
        weights: FloatArray,
        *,
        size: int,
        receivers: GaussianReceivers | None = None,
    ) -> LinearStatistics:
        """Return sums over records: statistic j is the sum of ``weights[j] @ record``.

        Parameters
        ----------
        weights : array of shape (k, m)
            Of a record's m attributes; divide by `size` for means.
        size : int
            Number of records; entries are ordered record by record, as in
            `GaussianReceiver.of_records`.
        """
        rows = np.atleast_2d(finite("weights", weights))
        return cls(matrix=np.tile(rows, whole("size", size)), receivers=receivers)

    @property
    def deterministic(self) -> bool:
        """Whether the release is a function of the database."""
        return self.noise is None

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """``kappa = r1 + log r2``; under noise plus the (1 - delta)-quantile of chi-squared_k.

        With noise ``V^-1/2 (S_A^1/2 e + K^1/2 g)``, ``|e|^2 <= r1`` and g standard normal, is a
        projection of (e, g): its squared length is at most ``|e|^2 + |g|^2``. The bound holds for
        every covariance in the class; `GaussianGain.bound` is sharper for a stated receiver.
        """
        if self.receivers is None:
            return NoClaim(reason="no class of receivers was stated")
        kappa, notes = (
            self.receivers.r1 + math.log(self.receivers.r2),
            ["Gaussian receivers in the stated class only; the class depends on the data"],
        )
        if self.noise is not None:
            free = float(chi2.isf(self.delta, len(self.matrix))) if self.delta else math.inf
            kappa += free
            notes.append("noise adds surprise: the bound grows by a chi-squared quantile")
        return persuasive_guarantee(
            scores="marginal Dawid-Sebastiani score of every entry",
            receivers=self.receivers,
            kappa=kappa,
            delta=0.0 if self.noise is None else self.delta,
            theorem="Bon, Bailie, Rousseau and Robert (2026), Proposition 7"
            + ("" if self._is_mean and self.noise is None else ", extended to linear statistics"),
            notes=tuple(notes),
        )

    @property
    def _is_mean(self) -> bool:
        return len(self.matrix) == 1 and bool((self.matrix == self.matrix[0, 0]).all())

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several releases of one database guarantee together.

        An exact statistic repeated says nothing new. Noisy ones say what their average says: noise
        K / n, for which the class's bound is the same number.
        """
        del n_releases
        return self.guarantee

    def release(self, x: Array, rng: np.random.Generator) -> FloatArray:
        """Release statistics ``(n_trials, k)`` of databases ``(n_trials, n)``.

        Databases of records, ``(n_trials, records, attributes)``, are read record by record.
        """
        entries = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
        if entries.shape[1] != self.matrix.shape[1]:
            raise ValueError(
                f"databases must have {self.matrix.shape[1]} entries, got {entries.shape[1]}."
            )
        statistics = entries @ self.matrix.T
        if self.noise is None:
            return statistics
        zero = np.zeros(len(self.matrix))
        return statistics + rng.multivariate_normal(
            zero, self.noise, size=len(statistics), method="eigh"
        )

    def gain(self, receiver: GaussianReceiver) -> GaussianGain:
        """Return what a receiver gains: exact losses, and the bound for this receiver."""
        return GaussianGain(receiver=receiver, matrix=self.matrix, noise=self.noise)
