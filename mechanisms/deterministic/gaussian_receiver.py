"""Receivers with a normal prior on the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.covariance import OAS, LedoitWolf, ShrunkCovariance

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.laws.answer import GaussianLaw
from mechanisms.privacy.persuasive.beliefs import GaussianBelief

Shrinkage = Literal["ledoit_wolf", "oas"] | float
NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianReceiver:
    """A receiver whose prior on a database of n entries is N(mean, covariance).

    Parameters
    ----------
    mean : array of shape (n,)
        In units of the entries.
    covariance : array of shape (n, n)
        Symmetric, positive semi-definite, with positive variances. Singular ones are taken: only
        an entry known exactly beforehand is refused, because its score is -inf before the release.

    Raises
    ------
    ValueError
        If the covariance is not symmetric or has a negative eigenvalue, or a variance is 0.
    """

    mean: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        law = GaussianLaw(mean=self.mean, covariance=self.covariance)
        object.__setattr__(self, "mean", law.mean)
        object.__setattr__(self, "covariance", law.covariance)
        known = np.flatnonzero(np.diag(law.covariance) <= 0)
        if known.size:
            raise ValueError(
                f"covariance must have positive variances, got 0 for entry {known[0]}: a receiver "
                "who knows an entry beforehand has nothing to gain about it."
            )

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.mean.size

    @property
    def deviations(self) -> FloatArray:
        """Marginal standard deviations, shape (n,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> FloatArray:
        """Correlation matrix, shape (n, n)."""
        return self.covariance / np.outer(self.deviations, self.deviations)

    def belief(self) -> GaussianBelief:
        """Return the prior as a belief that scores can be taken of."""
        return GaussianBelief(mean=self.mean, covariance=self.covariance)

    @classmethod
    def of_records(cls, *, mean: FloatArray, covariance: FloatArray, size: int) -> GaussianReceiver:
        """Return the prior of independent records, each with this mean and covariance.

        Parameters
        ----------
        mean : array of shape (m,)
        covariance : array of shape (m, m)
            Of one record's m attributes.
        size : int
            Number of records; entries are ordered record by record, attribute by attribute.
        """
        records = check.whole("size", size)
        return cls(
            mean=np.tile(check.finite("mean", mean), records),
            covariance=check.finite("covariance", np.kron(np.eye(records), covariance)),
        )

    @classmethod
    def fitted(
        cls, samples: FloatArray, *, shrinkage: Shrinkage = "ledoit_wolf"
    ) -> GaussianReceiver:
        """Fit mean and covariance to public samples of the whole database.

        Parameters
        ----------
        samples : array of shape (n_samples, n)
            At least two samples, public: a class of receivers may not be chosen with the records
            that it is to protect.
        shrinkage : {"ledoit_wolf", "oas"} or float in [0, 1]
            How far the sample covariance is moved to a multiple of the identity: by a rule, or by
            a stated share. Taken on standardised entries, so that their units do not matter.
            A fitted covariance is singular where there is no shrinkage and few samples.
        """
        data = check.finite("samples", samples)
        if data.ndim != 2 or len(data) < 2:
            raise ValueError(f"samples must have shape (at least 2, n), got {data.shape}.")
        mean, spread = data.mean(axis=0), data.std(axis=0)
        constant = np.flatnonzero(spread <= NO_SPREAD * np.abs(mean))
        if constant.size:
            raise ValueError(f"samples must vary in every entry, got a constant {constant[0]}.")
        if shrinkage == "ledoit_wolf":
            estimator = LedoitWolf(assume_centered=True)
        elif shrinkage == "oas":
            estimator = OAS(assume_centered=True)
        else:
            share = check.within("shrinkage", shrinkage, 0, 1)
            estimator = ShrunkCovariance(shrinkage=share, assume_centered=True)
        fit = estimator.fit((data - mean) / spread).covariance_
        covariance = check.finite("covariance", (fit + fit.T) / 2 * np.outer(spread, spread))
        return cls(mean=mean, covariance=covariance)
