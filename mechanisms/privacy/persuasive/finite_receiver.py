"""Bayesian receivers of mechanisms whose databases and outputs can be listed: exact losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray
from mechanisms.privacy.persuasive.beliefs import FiniteBelief
from mechanisms.privacy.persuasive.loss_quantile import exact_kappa
from mechanisms.privacy.persuasive.scores import Score, relative_score


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteKernel:
    """A mechanism as a table: the probability of each output given each database.

    Parameters
    ----------
    points : array of shape (k, n)
        The possible databases.
    probabilities : array of shape (k, t)
        Rows sum to 1.
    """

    points: FloatArray
    probabilities: FloatArray

    def __post_init__(self) -> None:
        # A belief of many rows asks for the same: rows that sum to 1, one a database.
        table = check.finite("probabilities", self.probabilities)
        points = check.finite("points", self.points)
        if table.ndim != 2 or points.ndim != 2 or len(table) != len(points):
            raise ValueError(
                "points must have shape (k, n) and probabilities (k, t), "
                f"got {points.shape} and {table.shape}."
            )
        for row in table:
            check.weights("probabilities of one database", row)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "probabilities", table)

    def posterior(self, priors: FloatArray) -> FloatArray:
        """Return the posteriors of priors ``(q, k)`` after every output, shape (q, t, k).

        A receiver who thought an output impossible keeps the prior.
        """
        priors = np.atleast_2d(np.asarray(priors, dtype=np.float64))
        joint = priors[:, None, :] * self.probabilities.T
        total = joint.sum(axis=-1, keepdims=True)
        kept = np.broadcast_to(priors[:, None, :], joint.shape)
        return np.divide(joint, total, out=kept.copy(), where=total > 0)

    def losses(self, scores: Sequence[Score], priors: FloatArray) -> FloatArray:
        """Return the score gain of every score, prior, database and output: (s, q, k, t)."""
        priors = np.atleast_2d(np.asarray(priors, dtype=np.float64))
        before = FiniteBelief(points=self.points, weights=priors)
        after = FiniteBelief(points=self.points, weights=self.posterior(priors))
        return np.stack(
            [
                np.stack(
                    [
                        relative_score(score.value(before, x)[:, None], score.value(after, x))
                        for x in self.points
                    ],
                    axis=1,
                )
                for score in scores
            ]
        )

    def kappa(
        self,
        scores: Sequence[Score],
        priors: FloatArray,
        *,
        delta: float,
        admitted: FloatArray | None = None,
    ) -> float:
        """Return the smallest kappa for which the mechanism is (scores, priors, kappa, delta)-PP.

        Parameters
        ----------
        scores : sequence of Score
            Every one of them is protected.
        priors : array of shape (q, k)
            The receivers' priors.
        delta : float in [0, 1)
        admitted : boolean array of shape (q, k), optional
            Whether prior q belongs to the class of database k; by default every one does.

        References
        ----------
        Bon, Bailie, Rousseau and Robert (2026), Definition 3.
        """
        losses = self.losses(scores, priors)
        if admitted is not None:
            allowed = np.asarray(admitted, dtype=bool)
            if allowed.shape != losses.shape[1:3]:
                raise ValueError(
                    f"admitted must have shape {losses.shape[1:3]}, got {allowed.shape}."
                )
            losses = np.where(allowed[..., None], losses, 0.0)
        return exact_kappa(losses, self.probabilities, delta=delta)

    def then(self, kernel: FloatArray) -> FiniteKernel:
        """Release the output and what `kernel` ``(t, u)`` makes of it: receiver post-processing."""
        kernel = np.asarray(kernel, dtype=np.float64)
        joint = self.probabilities[:, :, None] * kernel
        return FiniteKernel(points=self.points, probabilities=joint.reshape(len(joint), -1))

    def replaced_by(self, kernel: FloatArray) -> FiniteKernel:
        """Release only what `kernel` ``(t, u)`` makes of the output: sender post-processing.

        A persuasive guarantee need not survive it (Bon et al., 2026, Proposition 5); `then` does.
        """
        return FiniteKernel(
            points=self.points, probabilities=self.probabilities @ np.asarray(kernel)
        )

    def composed(self, second: FloatArray) -> FiniteKernel:
        """Release this output and that of an adaptive mechanism given it.

        Parameters
        ----------
        second : array of shape (k, t, u)
            Probabilities of the second output given database and first output.
        """
        joint = self.probabilities[:, :, None] * np.asarray(second, dtype=np.float64)
        return FiniteKernel(points=self.points, probabilities=joint.reshape(len(joint), -1))
