"""The Bayesian receiver: what its scores were before a release, and what they are after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.check import FloatArray, IntArray
from mechanisms.privacy.persuasive.beliefs import FiniteBelief, GaussianBelief
from mechanisms.privacy.persuasive.scores import DawidSebastiani, Score, relative_score

SINGULAR = 1e-12
CERTAIN = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreGain:
    """Scores of a receiver, small where it predicts the database well.

    Parameters
    ----------
    before : array of shape (n_trials, n_scores)
    after : array of shape (n_trials, n_scores)
    """

    before: FloatArray
    after: FloatArray

    @property
    def gain(self) -> FloatArray:
        """What the release is worth to the receiver: the realised loss of privacy."""
        return relative_score(self.before, self.after)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianBayes:
    """A receiver with prior N(mean, covariance) who sees linear statistics ``A x + N(0, K)``.

    Parameters
    ----------
    mean : array of shape (n,)
    covariance : array of shape (n, n)
    matrix : array of shape (k, n)
    noise : array of shape (k, k), optional
    """

    mean: FloatArray
    covariance: FloatArray
    matrix: FloatArray
    noise: FloatArray | None = None

    def posterior(self, releases: FloatArray) -> GaussianBelief:
        """Return the posterior given releases ``(n_trials, k)``: conditioning of joint normals."""
        cross = self.covariance @ self.matrix.T
        total = self.matrix @ cross + (0 if self.noise is None else self.noise)
        spread = np.sqrt(np.diag(total))
        correlation = total / np.outer(spread, spread)
        inverse = np.linalg.pinv(correlation, rcond=SINGULAR, hermitian=True)
        slope = cross / spread @ inverse / spread
        covariance = self.covariance - slope @ cross.T
        # What rounding leaves of a variance that the statistics take away is nothing.
        gone = np.diag(covariance) <= CERTAIN * np.diag(self.covariance)
        covariance[gone], covariance[:, gone] = 0.0, 0.0
        mean = self.mean + (releases - self.matrix @ self.mean) @ slope.T
        return GaussianBelief(mean=mean, covariance=covariance)

    def scores(
        self, releases: FloatArray, x: FloatArray, scores: Sequence[Score] | None = None
    ) -> ScoreGain:
        """Return scores before and after, by default one marginal score an entry.

        Parameters
        ----------
        releases : array of shape (n_trials, k)
        x : array of shape (n_trials, n)
            The true databases.
        scores : sequence of Score, optional
        """
        chosen = scores or [DawidSebastiani(i) for i in range(self.mean.size)]
        prior = GaussianBelief(mean=self.mean, covariance=self.covariance)
        posterior = self.posterior(releases)
        before, after = np.empty((2, len(x), len(chosen)))
        for trial, truth in enumerate(x):
            then = GaussianBelief(mean=posterior.mean[trial], covariance=posterior.covariance)
            for s, score in enumerate(chosen):
                before[trial, s] = score.value(prior, truth)
                after[trial, s] = score.value(then, truth)
                if (
                    isinstance(score, DawidSebastiani)
                    and then.covariance[score.entry, score.entry] == 0
                ):
                    after[trial, s] = -np.inf  # determined, so right: only rounding is missed
        return ScoreGain(before=before, after=after)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteBayes:
    """A receiver with a prior on finitely many databases who sees the output of a known kernel.

    Parameters
    ----------
    points : array of shape (d, n)
        The possible databases.
    prior : array of shape (d,)
    probabilities : array of shape (d, t)
        Of each output given each database.
    """

    points: FloatArray
    prior: FloatArray
    probabilities: FloatArray

    def posterior(self, outputs: IntArray) -> FiniteBelief:
        """Return the posterior given outputs ``(n_trials,)``; impossible ones teach nothing."""
        joint = self.prior * self.probabilities.T[outputs]
        total = joint.sum(axis=1, keepdims=True)
        weights = np.where(total > 0, joint / np.where(total > 0, total, 1), self.prior)
        return FiniteBelief(points=self.points, weights=weights)

    def scores(self, outputs: IntArray, truths: IntArray, scores: Sequence[Score]) -> ScoreGain:
        """Return scores before and after.

        Parameters
        ----------
        outputs : int array of shape (n_trials,)
        truths : int array of shape (n_trials,)
            Index of the true database.
        scores : sequence of Score
        """
        prior = FiniteBelief(points=self.points, weights=self.prior)
        before, after = np.empty((2, len(outputs), len(scores)))
        posterior = self.posterior(outputs)
        for s, score in enumerate(scores):
            for truth in np.unique(truths):
                at = truths == truth
                before[at, s] = score.value(prior, self.points[truth])
                after[at, s] = score.value(posterior, self.points[truth])[at]
        return ScoreGain(before=before, after=after)


def cell_posteriors(priors: FloatArray, lower: IntArray, upper: FloatArray) -> FloatArray:
    """Return each cell's prior restricted to an interval: what an independent receiver believes.

    Exact for the primary rule and for deterministic rounding with nothing else released. With
    intervals from totals it leaves out what the totals say of cells jointly.

    Parameters
    ----------
    priors : array of shape (*shape, s)
        Probability of each count 0 to s - 1.
    lower, upper : arrays of shape (*shape,)

    Raises
    ------
    ValueError
        If a prior excludes its interval.
    """
    values = np.arange(priors.shape[-1])
    inside = (values >= lower[..., None]) & (values <= upper[..., None])
    kept = np.where(inside, priors, 0.0)
    total = kept.sum(axis=-1, keepdims=True)
    if (total <= 0).any():
        cell = tuple(int(i) for i in np.argwhere(total[..., 0] <= 0)[0])
        raise ValueError(f"priors must allow what is released, got none for cell {cell}.")
    return kept / total
