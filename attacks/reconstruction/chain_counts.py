"""What noisy counts of one state reveal about every entry of a Markov chain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import logsumexp, softmax

from attacks.reconstruction.posterior import log_likelihood
from mechanisms.base import HasLogDensity
from mechanisms.check import Array, FloatArray, weights, whole
from mechanisms.influence.chain import transition_matrix
from mechanisms.laws.entry_given_count import entries_given_visits, log_convolved, log_visits

NEGLIGIBLE = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChainCountPosterior:
    """The exact posterior of one user's entries from noisy counts of a state over all users.

    Releases tell of the entries through the count alone, so the posterior is a mixture:
    ``P(entry | releases) = sum_c P(entry | count c) P(count c | releases)``. The table of the
    first factor is computed once for all releases.

    Parameters
    ----------
    transition : array of shape (k, k)
        Row-stochastic; of every user.
    initial : array of shape (k,)
        Law of the first entry of every user.
    length : int
        Entries of the attacked user.
    state : int
        The counted state.
    other_lengths : sequence of int
        Entries of the other users, independent of the attacked one and counted with it.
    """

    transition: FloatArray
    initial: FloatArray
    length: int
    state: int
    other_lengths: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "transition", transition_matrix(self.transition))
        object.__setattr__(self, "initial", weights("initial", self.initial))
        states = len(self.transition)
        if self.initial.shape != (states,):
            raise ValueError(
                f"initial must have one entry a state ({states}), got {self.initial.shape}."
            )
        for length in (self.length, *self.other_lengths):
            whole("length", length)
        if whole("state", self.state, low=0) >= states:
            raise ValueError(f"state must be below {states}, got state={self.state}.")

    def counts(self, mechanism: HasLogDensity, releases: Array) -> FloatArray:
        """Return P(count of the attacked user | releases), shape (n, length + 1).

        Parameters
        ----------
        mechanism : HasLogDensity
            Released the count over all users, shape (1,).
        releases : array of shape (n, n_releases, 1)
        """
        own = self._log_law(self.length)
        others = reduce(log_convolved, map(self._log_law, self.other_lengths), np.zeros(1))
        totals = np.arange(own.size + others.size - 1, dtype=np.float64)[:, None]
        likelihood = log_likelihood(mechanism, releases, totals)
        given_own = np.empty((len(likelihood), own.size))
        for c in range(own.size):
            # The others make up the rest of the total.
            given_own[:, c] = logsumexp(likelihood[:, c : c + others.size] + others, axis=1)
        logs = given_own + own
        if np.isneginf(logs).all(axis=1).any():
            raise ValueError("releases must be possible under the chain, got one that is not.")
        return softmax(logs, axis=1)

    def entries(self, mechanism: HasLogDensity, releases: Array) -> FloatArray:
        """Return P(entry = state | releases) of the attacked user, shape (n, length, k).

        Counts of posterior probability below 1e-15 in every trial are left out of the table.
        """
        posterior = self.counts(mechanism, releases)
        likely = np.flatnonzero((posterior > NEGLIGIBLE).any(axis=0))
        low, high = int(likely[0]), int(likely[-1])
        table = entries_given_visits(
            self.transition, self.initial, self.length, self.state, low, high
        )
        mixed = np.tensordot(posterior[:, low : high + 1], table, axes=(1, 2))
        return mixed / mixed.sum(axis=-1, keepdims=True)

    def prior(self) -> FloatArray:
        """Return the law of every entry before any release, shape (length, k)."""
        laws = [self.initial]
        for _ in range(self.length - 1):
            laws.append(laws[-1] @ self.transition)
        return np.stack(laws)

    def _log_law(self, length: int) -> FloatArray:
        return log_visits(self.transition, self.initial, length, self.state)
