"""The exponential mechanism on a finite set of outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import log_softmax

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, positive
from mechanisms.influence.claim import EntryClaim
from mechanisms.influence.knowledge import Candidates
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.finite_channel import channel_pair
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExponentialChoice:
    """Release an output with probability proportional to ``exp(epsilon u / (2 S))``.

    u is the output's utility for the answer and S the utility's sensitivity.

    Parameters
    ----------
    candidates : Candidates
    epsilon : float in (0, inf)
        Per-entry epsilon of one release.
    claim : EntryClaim

    References
    ----------
    McSherry and Talwar (2007), Theorem 6.
    """

    sees: ClassVar[Sees] = "answers"
    candidates: Candidates
    epsilon: float
    claim: EntryClaim

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon, infinite=False)

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What one release guarantees."""
        return self.claim.of_entries(self.epsilon)

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several releases of one answer guarantee together."""
        return self.claim.of_entries(n_releases * self.epsilon)

    def split_among(self, n_releases: int) -> ExponentialChoice:
        """Share the per-entry epsilon among releases: a(b) is paid once for all of them."""
        return replace(self, epsilon=self.epsilon / n_releases)

    def log_probabilities(self, answers: Array) -> FloatArray:
        """Return the log probability of every output, ``(..., m)`` answers to ``(..., c)``."""
        x, values = np.asarray(answers, dtype=np.float64), self.candidates.values
        if self.candidates.utility == "nearest":
            utility = -np.abs(x[..., :1] - values)
        else:
            utility = x[..., values.astype(int)]
        return log_softmax(self.epsilon * utility / (2 * self.candidates.sensitivity), axis=-1)

    def release(self, x: Array, rng: np.random.Generator) -> FloatArray:
        """Choose one output a trial, shape (n_trials, 1): the largest after Gumbel noise."""
        logs = self.log_probabilities(x)
        chosen = (logs + rng.gumbel(size=logs.shape)).argmax(axis=-1)
        return self.candidates.values[chosen][:, None]

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of releases ``(n, 1, 1)`` given answers ``(1, a, m)``, shape (n, a)."""
        logs = self.log_probabilities(answers)[0]
        order = np.argsort(self.candidates.values)
        at = np.searchsorted(self.candidates.values, np.asarray(releases)[:, 0, 0], sorter=order)
        return logs[:, order[at]].T

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the release laws under two finite answer laws, output by output."""
        if not (isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw)):
            raise NotComputableError("the exponential mechanism needs finitely many answers")
        one, other = ((law, self.log_probabilities(law.atoms)) for law in (first, second))
        return channel_pair(one, other, n_releases)
