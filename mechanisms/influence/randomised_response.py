"""Randomised response: every entry of the database reported truly or at random."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import comb, expit

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, positive, whole
from mechanisms.influence.claim import EntryClaim
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.leakage.integer_grid import CELLS, PureBracket
from mechanisms.leakage.pair import FinitePair, PairLeakage
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomisedResponse:
    """Report every entry, true with probability ``e^eps / (e^eps + states - 1)``.

    Every other value is reported with probability ``1 / (e^eps + states - 1)``.

    Parameters
    ----------
    states : int
        Number of values of an entry, coded 0, 1, ...
    epsilon : float in (0, inf)
        Per-entry epsilon of one release.
    claim : EntryClaim

    References
    ----------
    Warner (1965); Kairouz, Oh, Viswanath (2014), k-ary randomised response.
    """

    sees: ClassVar[Sees] = "database"
    states: int
    epsilon: float
    claim: EntryClaim

    def __post_init__(self) -> None:
        whole("states", self.states, low=2)
        positive("epsilon", self.epsilon, infinite=False)

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What one release guarantees."""
        return self.claim.of_entries(self.epsilon)

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several releases of one database guarantee together."""
        return self.claim.of_entries(n_releases * self.epsilon)

    def split_among(self, n_releases: int) -> RandomisedResponse:
        """Share the per-entry epsilon among releases: a(b) is paid once for all of them."""
        return replace(self, epsilon=self.epsilon / n_releases)

    def channel(self) -> FloatArray:
        """Return the log probability of a report given the truth, shape (states, states)."""
        log_other = -np.logaddexp(self.epsilon, math.log(self.states - 1))
        return log_other + self.epsilon * np.eye(self.states)

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Report databases ``(n_trials, n_entries)`` of states."""
        truth = np.asarray(x, dtype=np.int64)
        lie = rng.random(truth.shape) >= math.exp(self.channel()[0, 0])
        other = (truth + rng.integers(1, self.states, size=truth.shape)) % self.states
        return np.where(lie, other, truth)

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of reports ``(n, 1, e)`` given databases ``(1, a, e)``: (n, a)."""
        same = (releases == answers).sum(axis=-1)
        logs = self.channel()
        return same * logs[0, 0] + (releases.shape[-1] - same) * logs[0, 1]

    def marginal_log_density(self, releases: Array, law: AnswerLaw) -> FloatArray:
        """Log probability of reports ``(n, k, e)`` of one database: forward recursion."""
        if not isinstance(law, SequenceLaw):
            raise NotComputableError("forward recursion needs the law of a chain")
        seen, logs = np.asarray(releases, dtype=np.int64), self.channel().T
        step = max(1, CELLS // (seen[0].size * self.states))
        parts = [seen[start : start + step] for start in range(0, len(seen), step)]
        return np.concatenate([law.log_likelihood(logs[part].sum(axis=1)) for part in parts])

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the laws of the reports of the sequence with the known entry.

        The others are independent of it. Every sequence of reports is listed where there are at
        most 4 million; else pure epsilon is exact for two states, and the rest bracketed.
        """
        if not (isinstance(first, SequenceLaw) and isinstance(second, SequenceLaw)):
            raise NotComputableError("randomised response needs the law of a chain")
        reports = n_releases * first.lengths[0]
        if self.states**reports > CELLS:
            if self.states > 2:
                raise NotComputableError(
                    f"{self.states}^{reports} sequences of reports are too many to list"
                )
            return self._binary(first, second, n_releases)
        one, other = (self._enumerate(law, n_releases) for law in (first, second))
        return FinitePair.from_logs(first=one, second=other)

    def _binary(self, first: SequenceLaw, second: SequenceLaw, k: int) -> PureBracket:
        """Bracket by the largest log ratio; below by the reports of the known entry alone."""
        own = k * self.epsilon
        ratio = max(_largest_ratio(first, s, own) for s in (first.value, second.value))
        counts = np.arange(k + 1)
        logs = self.channel()
        true_reports = np.log(comb(k, counts)) + counts * logs[0, 0] + (k - counts) * logs[0, 1]
        return PureBracket(
            ratio=ratio,
            processed=FinitePair.from_logs(first=true_reports, second=true_reports[::-1]),
        )

    def _enumerate(self, law: SequenceLaw, k: int) -> FloatArray:
        """Return the log probability of every sequence of k reports an entry."""
        channel = np.exp(self.channel())
        reports = channel
        for _ in range(k - 1):
            reports = (reports[:, :, None] * channel[:, None, :]).reshape(self.states, -1)
        prior = law.laws(law.position)[-1, law.value]
        table = law.initial[None, :]
        for t in range(1, law.lengths[0] + 1):
            if t > 1:
                table = table @ law.transition
            if t == law.position:
                known = np.zeros(law.initial.size)
                known[law.value] = 1 / prior
                table = table * known
            table = (table[:, None, :] * reports.T).reshape(-1, law.initial.size)
        with np.errstate(divide="ignore"):
            return np.log(table.sum(axis=1))


def _largest_ratio(law: SequenceLaw, value: int, own: float) -> float:
    """Return the largest log ratio of reports given the entry at `value` to the other state.

    The reports to the left and to the right of the entry are independent given it. What a side's
    reports tell, ``r = P[reports | 0] / P[reports | 1]``, is a Moebius function of what the
    reports beyond the next entry tell times the next entry's own likelihood ratio, hence monotone
    in that product: its extremes are reached at extremes, entry by entry.
    """
    marginals = law.laws(law.lengths[0])
    at = law.position - 1
    right = np.zeros(2)  # smallest and largest log r
    for _ in range(law.lengths[0] - law.position):
        right = _step(law.transition, right, own)
    left = np.zeros(2)
    for t in range(at):
        reversed_rows = (marginals[t][:, None] * law.transition).T
        mass = reversed_rows.sum(axis=1, keepdims=True)
        rows = np.divide(reversed_rows, mass, out=np.full((2, 2), 0.5), where=mass > 0)
        left = _step(rows, left, own)
    end, sign = (1, 1.0) if value == 0 else (0, -1.0)
    return float(own + sign * (left[end] + right[end]))


def _step(rows: FloatArray, ends: FloatArray, own: float) -> FloatArray:
    """Return the extreme log ratios one entry further, smallest first."""
    odds = np.array([ends[0] - own, ends[1] + own])  # of state 0 against 1 at the next entry
    share = np.stack([expit(odds), expit(-odds)])
    logs = np.log(rows @ share)
    return np.sort(logs[0] - logs[1])
