"""Proper scores: how badly a belief predicts a database; small is a good prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.check import FloatArray, positive, whole
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.persuasive.beliefs import Belief, FiniteBelief, GaussianBelief

ROUNDING = 1e-12


class Score(Protocol):
    """Any proper score: under a belief P no other belief Q has a smaller expected score.

    Components of one's own implement this one method.
    """

    def value(self, belief: Belief, truth: FloatArray) -> FloatArray:
        """Return the score of a belief of batch shape (...) at the database (n,): shape (...)."""


@dataclass(frozen=True, slots=True)
class LogScore:
    """Negative log probability of the whole database, ``-log P({x})``, in nats.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, Example 2.
    """

    def value(self, belief: Belief, truth: FloatArray) -> FloatArray:
        """Return the score; inf where the belief excludes the truth."""
        if isinstance(belief, GaussianBelief):
            raise NotComputableError(
                "a Gaussian posterior given noiseless statistics has no density; "
                "use the marginal Dawid-Sebastiani scores"
            )
        with np.errstate(divide="ignore"):
            return -np.log(belief.probability(truth))


@dataclass(frozen=True, slots=True)
class DawidSebastiani:
    """Marginal Dawid-Sebastiani score of one entry, ``log var + (x - mean)^2 / var``.

    Parameters
    ----------
    entry : int
        Index of the entry, from 0.

    Notes
    -----
    Twice the negative log density of a normal law up to a constant: there is no factor 1/2. A
    belief without spread scores -inf where it is right, inf where it is wrong.

    References
    ----------
    Dawid and Sebastiani (1999); Bon, Bailie, Rousseau and Robert (2026), section 5.1.
    """

    entry: int

    def __post_init__(self) -> None:
        whole("entry", self.entry, low=0)

    def value(self, belief: Belief, truth: FloatArray) -> FloatArray:
        """Return the score."""
        mean, variance = belief.moments(self.entry)
        error = (np.asarray(truth, dtype=np.float64)[self.entry] - mean) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.log(variance) + error / variance
        certain = np.where(error > 0, math.inf, -math.inf)
        return np.where(variance > 0, spread, certain)


@dataclass(frozen=True, slots=True)
class MostProbableInterval:
    """1 if an entry lies outside the most probable closed interval of a given length, else 0.

    Parameters
    ----------
    entry : int
        Index of the entry, from 0.
    length : float in (0, inf)
        In units of the entry.

    Notes
    -----
    The receiver names an interval; privacy is kept where the truth is not in it. Among intervals
    of equal probability (to 1e-12) the lowest that starts at a possible value is named.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Examples 1 and 3.
    """

    entry: int
    length: float

    def __post_init__(self) -> None:
        whole("entry", self.entry, low=0)
        positive("length", self.length, infinite=False)

    def value(self, belief: Belief, truth: FloatArray) -> FloatArray:
        """Return the score."""
        x = float(np.asarray(truth, dtype=np.float64)[self.entry])
        if isinstance(belief, GaussianBelief):
            # A normal law's most probable interval is centred at its mean.
            return (np.abs(x - belief.mean[..., self.entry]) > self.length / 2).astype(np.float64)
        values = belief.points[:, self.entry]
        # Any interval can be moved up until it starts at an atom without losing an atom.
        starts = np.unique(values)
        inside = (values >= starts[:, None]) & (values <= starts[:, None] + self.length)
        masses = belief.weights @ inside.T.astype(np.float64)
        best = masses.max(axis=-1, keepdims=True) - ROUNDING
        chosen = starts[(masses >= best).argmax(axis=-1)]
        return ((x < chosen) | (x > chosen + self.length)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class SmallCountScore:
    """Negative log probability of one cell's count where it is small, and 0 elsewhere.

    ``-log P(x_i)`` if ``low <= x_i < high``, else 0: only small counts are sensitive.

    Parameters
    ----------
    cell : int
        Index of the cell, from 0.
    high : int
        First count that is not sensitive (r in the paper).
    low : int
        First sensitive count: 0 as in the paper, 1 where zeros are published.

    Notes
    -----
    The paper's own definition of its score for suppressed cells is lost; this reconstruction
    gives its bound, tight. It is not proper on all laws.
    """

    cell: int
    high: int
    low: int = 0

    def __post_init__(self) -> None:
        whole("cell", self.cell, low=0)
        whole("low", self.low, low=0)
        whole("high", self.high, low=self.low + 1)

    def value(self, belief: Belief, truth: FloatArray) -> FloatArray:
        """Return the score."""
        if not isinstance(belief, FiniteBelief):
            raise NotComputableError("counts need a finite belief")
        x = np.asarray(truth)[self.cell]
        if not self.low <= x < self.high:
            return np.zeros(belief.weights.shape[:-1])
        with np.errstate(divide="ignore"):
            return -np.log(belief.weights @ (belief.points[:, self.cell] == x))


def relative_score(prior: FloatArray, posterior: FloatArray) -> FloatArray:
    """Return the receiver's gain ``prior - posterior``, entry by entry; inf - inf counts as 0.

    Examples
    --------
    >>> relative_score(np.array([1.0, np.inf]), np.array([0.25, np.inf])).tolist()
    [0.75, 0.0]
    """
    prior, posterior = np.broadcast_arrays(
        np.asarray(prior, dtype=np.float64), np.asarray(posterior, dtype=np.float64)
    )
    same = np.isinf(prior) & (prior == posterior)
    return np.subtract(prior, posterior, out=np.zeros(prior.shape), where=~same)
