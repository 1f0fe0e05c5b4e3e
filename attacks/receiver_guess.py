"""The Bayesian receiver as an attack: what it expects the database to be, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from attacks.base import Guess, Target, Transcript, UnsupportedMechanismError, Yields
from attacks.bayesian_receiver import GaussianBayes
from mechanisms.base import HasNoiseCovariance
from mechanisms.check import Array, FloatArray, one_of
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.laws.answer import GaussianLaw

When = Literal["before", "after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesianReceiver:
    """Guess every entry of the records by its expectation, given sums over them.

    The prior is normal, independent from record to record, with the shadow records' moments. The
    expectation has the least expected squared error, which is a proper score: compare "before",
    the receiver without the release, with "after".

    Parameters
    ----------
    when : {"before", "after"}
    """

    yields: ClassVar[Yields] = "guess"
    trained: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True
    when: When = "after"

    def __post_init__(self) -> None:
        one_of("when", self.when, ("before", "after"))

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> RecordGuesser:
        """Fit the prior to the shadow records, and find the sums that are released."""
        del rng
        if shadow.database is None or shadow.database.ndim != 3:
            raise UnsupportedMechanismError("the scenario draws no records with attributes")
        rows = np.asarray(shadow.database, dtype=np.float64)
        _, size, m = rows.shape
        sums, answers = rows.sum(axis=1), np.asarray(shadow.answers, dtype=np.float64)
        weights, *_ = np.linalg.lstsq(sums, answers, rcond=None)
        if not np.allclose(sums @ weights, answers, rtol=1e-6, atol=1e-9):
            raise UnsupportedMechanismError("the answers are no sums over the records")
        noise = noise_of(target, answers.shape[1])
        flat = rows.reshape(-1, m)
        covariance: FloatArray = np.asarray(np.cov(flat, rowvar=False), dtype=np.float64)
        covariance = covariance.reshape(m, m)
        GaussianLaw(mean=flat.mean(axis=0), covariance=covariance)  # checks
        bayes = GaussianBayes(
            mean=np.tile(flat.mean(axis=0), size),
            covariance=np.asarray(np.kron(np.eye(size), covariance), dtype=np.float64),
            matrix=np.tile(weights.T, size),
            noise=noise,
        )
        return RecordGuesser(bayes=bayes, when=self.when)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordGuesser:
    """The receiver of one mechanism."""

    bayes: GaussianBayes
    when: When

    def guess(self, releases: Array) -> Guess:
        """Return the expected entries ``(n, entries)`` given releases ``(n, k, statistics)``."""
        if self.when == "before":
            return Guess(values=np.tile(self.bayes.mean, (len(releases), 1)))
        k = releases.shape[1]
        noise = None if self.bayes.noise is None else self.bayes.noise / k
        bayes = GaussianBayes(
            mean=self.bayes.mean, covariance=self.bayes.covariance, matrix=self.bayes.matrix,
            noise=noise,
        )  # fmt: skip
        average = np.asarray(releases, dtype=np.float64).mean(axis=1)
        return Guess(values=bayes.posterior(average).mean)


def noise_of(target: Target, k: int) -> FloatArray | None:
    """Return the covariance of the release's noise, by which the best linear guess is made."""
    mechanism = target.mechanism
    if isinstance(mechanism, LinearStatistics):
        return mechanism.noise
    if not isinstance(mechanism, HasNoiseCovariance):
        raise UnsupportedMechanismError("the variance of the mechanism's noise is not known")
    noise = np.asarray(mechanism.noise_covariance, dtype=np.float64)
    return noise if noise.shape == (k, k) and noise.any() else None
