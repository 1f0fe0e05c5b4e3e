"""The law of whole sequences of a Markov chain, one entry of which is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.check import FloatArray, IntArray, finite, weights, whole
from mechanisms.laws.finite import FiniteLaw
from mechanisms.privacy.bracket import NotComputableError

MOST_LISTED = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SequenceLaw:
    """Independent sequences of one chain, given the value of one entry of the first sequence.

    A database is one row: the sequences one after the other, states coded 0, 1, ...

    Parameters
    ----------
    transition : array of shape (k, k)
        Row-stochastic.
    initial : array of shape (k,)
        Law of the first state of every sequence.
    lengths : tuple of int
    position : int
        Of the known entry in the first sequence, from 1.
    value : int
        Its state; possible there.
    """

    transition: FloatArray
    initial: FloatArray
    lengths: tuple[int, ...]
    position: int
    value: int

    def __post_init__(self) -> None:
        transition, initial = (
            finite("transition", self.transition),
            weights("initial", self.initial),
        )
        if transition.shape != (initial.size, initial.size):
            raise ValueError(
                "transition and initial must have shapes (k, k) and (k,), "
                f"got {transition.shape} and {initial.shape}."
            )
        if not self.lengths or whole("position", self.position) > self.lengths[0]:
            raise ValueError(
                f"position must lie in the first sequence, got position={self.position} "
                f"and lengths={self.lengths}."
            )
        if not 0 <= whole("value", self.value, low=0) < initial.size:
            raise ValueError(f"value must be a state below {initial.size}, got {self.value}.")
        object.__setattr__(self, "transition", transition)
        object.__setattr__(self, "initial", initial)
        if not self.laws(self.position)[-1, self.value] > 0:
            raise ValueError(f"state {self.value} is impossible at position {self.position}.")

    def laws(self, length: int) -> FloatArray:
        """Return the law of each of the first entries, nothing known, shape (length, k)."""
        laws = np.empty((length, self.initial.size))
        laws[0] = self.initial
        for t in range(1, length):
            laws[t] = laws[t - 1] @ self.transition
        return laws

    def listed(self) -> FiniteLaw:
        """Return the law with all its databases listed.

        Raises
        ------
        NotComputableError
            If there are more than 1,024 sequences of states.
        """
        rows = every_sequence(self.initial.size, sum(self.lengths))
        seen = rows[..., None] == np.arange(self.initial.size)
        with np.errstate(divide="ignore"):
            logs = self.log_likelihood(np.log(seen))
        return FiniteLaw(atoms=rows.astype(np.float64), weights=np.exp(logs) / np.exp(logs).sum())

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw `size` databases, shape (size, sum of lengths).

        From the known entry to the right by the chain, to the left by the reversed chain
        ``P(x_t | x_{t+1}) ~ mu_t(x_t) P(x_t, x_{t+1})``: forward filtering, backward sampling.
        """
        first, *others = self.lengths
        at = self.position - 1
        drawn = np.empty((size, sum(self.lengths)), dtype=np.int64)
        drawn[:, at] = self.value
        laws = self.laws(first)
        for t in range(at - 1, -1, -1):
            joint = laws[t][:, None] * self.transition
            drawn[:, t] = _next(joint.T, drawn[:, t + 1], rng)
        self._continue(drawn[:, at:first], rng)
        start = first
        for length in others:
            drawn[:, start] = rng.choice(self.initial.size, size=size, p=self.initial)
            self._continue(drawn[:, start : start + length], rng)
            start += length
        return drawn

    def _continue(self, drawn: IntArray, rng: np.random.Generator) -> None:
        """Fill the columns after the first by the chain."""
        for t in range(1, drawn.shape[1]):
            drawn[:, t] = _next(self.transition, drawn[:, t - 1], rng)

    def log_likelihood(self, log_emissions: FloatArray) -> FloatArray:
        """Return the log probability of what is seen of each database, by forward recursion.

        Parameters
        ----------
        log_emissions : array of shape (n, sum of lengths, k)
            Log probability of what is seen of each entry, for each of its states.

        Returns
        -------
        array of shape (n,)
        """
        total = np.zeros(len(log_emissions))
        start = 0
        for index, length in enumerate(self.lengths):
            logs = log_emissions[:, start : start + length]
            if index == 0:
                known = np.full(self.initial.size, -np.inf)
                known[self.value] = -np.log(self.laws(self.position)[-1, self.value])
                logs = logs.copy()
                logs[:, self.position - 1] += known
            total += _forward(self.initial, self.transition, logs)
            start += length
        return total


def every_sequence(states: int, length: int) -> IntArray:
    """Return all sequences of states 0, 1, ..., shape (states^length, length), up to 1,024.

    Raises
    ------
    NotComputableError
        If there are more.
    """
    if length * np.log(states) > np.log(MOST_LISTED) + 1e-9:
        raise NotComputableError(
            f"{states}^{length} sequences are too many to list, {MOST_LISTED:,} are the most"
        )
    return np.stack(np.unravel_index(np.arange(states**length), (states,) * length), axis=1)


def _next(rows: FloatArray, state: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw from row `state` (up to its sum) for every entry of `state`; never a zero entry."""
    cumulative = np.cumsum(rows, axis=1)
    seen = cumulative[state]
    u = rng.random((state.size, 1)) * seen[:, -1:]
    return (u >= seen).sum(axis=1)


def _forward(initial: FloatArray, transition: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the log probability of each row's emissions ``(n, length, k)``, rescaled a step."""
    total = np.zeros(len(logs))
    state = np.broadcast_to(initial, (len(logs), initial.size))
    for t in range(logs.shape[1]):
        if t:
            state = state @ transition
        top = logs[:, t].max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        state = state * np.exp(logs[:, t] - top)
        mass = state.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            total += (np.log(mass) + top)[:, 0]
        state = np.divide(state, mass, out=np.zeros_like(state), where=mass > 0)
    return total
