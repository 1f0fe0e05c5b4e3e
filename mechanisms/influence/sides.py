"""What one distant entry of a Markov chain tells about a value pair, to its left and right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechanisms.check import BoolArray, FloatArray, whole
from mechanisms.influence.chain import MarkovChain

# Probabilities below this are brackets, not numbers: at least 0 and at most this.
UNDERFLOW = 1e-290
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogBounds:
    """Logarithms that bracket probabilities which may have underflowed.

    Exact (``upper == lower``) except where a possible event fell below the underflow bound:
    there `lower` is -inf, so that a ratio errs towards a larger influence.
    """

    upper: FloatArray
    lower: FloatArray

    @classmethod
    def of(cls, values: FloatArray, possible: BoolArray) -> LogBounds:
        """Bound `values`, of which those marked `possible` are positive."""
        large = values >= UNDERFLOW
        with np.errstate(divide="ignore"):
            lower = np.log(np.where(large, values, 0.0))
            upper = np.where(large, lower, np.log(np.where(possible, UNDERFLOW, 0.0)))
        return cls(upper=upper, lower=lower)


def log_ratio(bounds: LogBounds) -> FloatArray:
    """Return the largest log ratio of row s to row t over columns, shape (n_rows, n_rows).

    Entry [s, t] is ``max over y of log p(s, y) / p(t, y)``, with 0/0 ignored and p/0 = inf.
    """
    upper, lower = bounds.upper, bounds.lower
    n_rows, n_columns = upper.shape
    finite = bool(np.isfinite(lower).all())
    result = np.empty((n_rows, n_rows))
    step = max(1, BLOCK // (n_rows * n_columns))
    for first in range(0, n_rows, step):
        with np.errstate(invalid="ignore"):
            ratio = upper[first : first + step, None, :] - lower[None, :, :]
        if not finite:
            ratio[np.isnan(ratio)] = -np.inf
        result[first : first + step] = ratio.max(axis=2)
    return result


def log_powers(transition: FloatArray, count: int) -> Iterator[LogBounds]:
    """Yield bounds on the 1st to the `count`-th power of a transition matrix."""
    edges = (transition > 0).astype(np.float64)
    power, reach = np.eye(len(transition)), np.eye(len(transition))
    for _ in range(count):
        power = power @ transition
        reach = ((reach @ edges) > 0).astype(np.float64)
        yield LogBounds.of(power, reach > 0)


class Sides:
    """The one-sided influences of one chain, tabulated by distance.

    `right[d - 1, s, t]` is ``max over y of log P^d(s, y) / P^d(t, y)``: what the entry d steps to
    the right tells. To the left the entry tells ``max over possible x of
    log P^d(x, s) / P^d(x, t)`` (`left`) plus ``log P[X_i = t] / P[X_i = s]`` (`offsets`).
    """

    def __init__(self, chain: MarkovChain, length: int, b_max: int) -> None:
        whole("length", length)
        self._chain = chain
        self._length = length
        self._powers = list(log_powers(chain.transition, b_max))
        self._left: dict[bytes, FloatArray] = {}
        size = len(chain.transition)
        self.right = np.empty((b_max, size, size))
        for index, power in enumerate(self._powers):
            self.right[index] = log_ratio(power)
        self.supports = _supports(chain, length)
        changes = np.flatnonzero((self.supports[1:] != self.supports[:-1]).any(axis=1))
        self.settled = int(changes[-1]) + 2 if changes.size else 1
        """First position from which the set of possible states no longer changes."""

    def left(self, node: int) -> FloatArray:
        """Return the left table for 1-based position `node`, shape (b_max, k, k).

        Rows of distances that leave the chain repeat the first position and are not to be used.
        """
        distances = np.arange(1, len(self._powers) + 1)
        supports = self.supports[np.maximum(node - distances, 1) - 1]
        if (supports == supports[0]).all():
            return self._left_from(supports[0]) if len(supports) else np.empty_like(self.right)
        table = np.empty_like(self.right)
        for index, support in enumerate(supports):
            table[index] = self._left_from(support)[index]
        return table

    def offsets(self) -> Iterator[FloatArray]:
        """Yield ``log P[X_i = t] / P[X_i = s]`` for each position, largest over the class."""
        if self._chain.start == "free":
            size = len(self._chain.transition)
            yield np.full((size, size), np.inf)  # the first state is free
            for power in log_powers(self._chain.transition, self._length - 1):
                columns = LogBounds(upper=power.upper.T, lower=power.lower.T)
                yield log_ratio(columns).T  # largest over the initial state
            return
        law = self._chain.first_law
        for support in self.supports:
            mass = LogBounds.of(law, support)
            with np.errstate(invalid="ignore"):
                yield mass.upper[None, :] - mass.lower[:, None]
            if self._chain.start == "given":
                law = law @ self._chain.transition

    def _left_from(self, support: BoolArray) -> FloatArray:
        key = support.tobytes()
        if key not in self._left:
            table = np.empty_like(self.right)
            for index, power in enumerate(self._powers):
                seen = LogBounds(upper=power.upper[support].T, lower=power.lower[support].T)
                table[index] = log_ratio(seen)
            self._left[key] = table
        return self._left[key]


def _supports(chain: MarkovChain, length: int) -> BoolArray:
    """Return which states are possible at each position, shape (length, n_states)."""
    support = chain.first_law > 0
    edges = chain.transition > 0
    supports = np.empty((length, support.size), dtype=bool)
    for index in range(length):
        supports[index] = support
        following: BoolArray = np.any(edges[support], axis=0)
        if chain.start == "stationary" or (following == support).all():
            supports[index:] = support
            break
        support = following
    return supports
