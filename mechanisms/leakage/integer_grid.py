"""Exact leakage of Laplace and geometric noise on answers with finitely many whole values.

A mixture of Laplace or geometric noises, one at each value of the answer, is tabulated on the
box of whole points that spans the values, in log space. Outside the box the likelihood ratio is
constant along each axis, so the box tells everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.check import Array, FloatArray
from mechanisms.laws.answer import AnswerLaw, FiniteLaw
from mechanisms.leakage.pair import FinitePair, log_renyi
from mechanisms.privacy.bracket import Bracket, NotComputableError

CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogPair:
    """Two release laws on finitely many outputs, as log probabilities; exact in both tails.

    Parameters
    ----------
    first, second : arrays of shape (k,)
        Log probabilities of the same outputs; -inf for an impossible one.
    """

    first: FloatArray
    second: FloatArray

    def _linear(self) -> FinitePair:
        return FinitePair(np.exp(self.first), np.exp(self.second))

    def delta(self, epsilon: float) -> Bracket:
        """Return the hockey-stick divergence, the larger of both directions."""
        return self._linear().delta(epsilon)

    def epsilon(self, delta: float) -> Bracket:
        """Return the largest log ratio at delta = 0, else invert the hockey-stick divergence."""
        return self.renyi(math.inf) if delta == 0 else self._linear().epsilon(delta)

    def renyi(self, order: float) -> Bracket:
        """Return the Renyi divergence, the larger of both directions."""
        ways = (self.first, self.second), (self.second, self.first)
        return _point(max(log_renyi(p, q, order) for p, q in ways))

    def accuracy(self) -> Bracket:
        """Return (1 + total variation) / 2."""
        return self._linear().accuracy()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PureBracket:
    """Two release laws whose largest log ratio is known, and a post-processing of them.

    Pure epsilon is exact. Every other number is bracketed: below by the post-processing, above by
    the randomised response that dominates every pair with this ratio.

    Parameters
    ----------
    ratio : float in [0, inf)
        Largest log ratio of the release laws.
    processed : LogPair
        The laws of a function of the release.

    References
    ----------
    Kairouz, Oh, Viswanath (2015), Theorem 2.5 (domination).
    """

    ratio: float
    processed: LogPair

    def _dominating(self) -> LogPair:
        logs = -np.logaddexp(0.0, np.array([self.ratio, -self.ratio]))
        return LogPair(first=logs, second=logs[::-1])

    def delta(self, epsilon: float) -> Bracket:
        """Bracket the hockey-stick divergence."""
        return Bracket(self.processed.delta(epsilon).lo, self._dominating().delta(epsilon).hi)

    def epsilon(self, delta: float) -> Bracket:
        """Return the exact pure epsilon at delta = 0; bracket it elsewhere."""
        if delta == 0:
            return _point(self.ratio)
        return Bracket(self.processed.epsilon(delta).lo, self._dominating().epsilon(delta).hi)

    def renyi(self, order: float) -> Bracket:
        """Bracket the Renyi divergence; exact at order inf."""
        if order == math.inf:
            return _point(self.ratio)
        return Bracket(self.processed.renyi(order).lo, self._dominating().renyi(order).hi)

    def accuracy(self) -> Bracket:
        """Bracket the Bayes ceiling."""
        return Bracket(self.processed.accuracy().lo, self._dominating().accuracy().hi)


def laplace_lattice(first: AnswerLaw, second: AnswerLaw, scales: FloatArray) -> PureBracket:
    """Compare two finite laws of whole numbers (or vectors of them) after Laplace noise.

    Between neighbouring whole points along an axis both densities are ``A e^t + B e^-t``, so
    their ratio is monotone: the largest ratio is at a whole point. Rounding is post-processing.
    """
    tables = _tables(first, second, scales)
    densities, rounded = tables, tables
    for axis, scale in enumerate(scales.tolist()):
        densities = [_density(table, scale, axis) for table in densities]
        rounded = [_rounded(table, scale, axis) for table in rounded]
    return PureBracket(
        ratio=largest_log_ratio(*densities),
        processed=LogPair(first=rounded[0].ravel(), second=rounded[1].ravel()),
    )


def geometric_lattice(first: AnswerLaw, second: AnswerLaw, scales: FloatArray) -> LogPair:
    """Compare two finite laws of whole numbers (or vectors of them) after geometric noise.

    Everything beyond an end of the box is one output: the likelihood ratio is constant there.
    """
    tables = _tables(first, second, scales)
    for axis, scale in enumerate(scales.tolist()):
        tables = [_geometric(table, scale, axis) for table in tables]
    return LogPair(first=tables[0].ravel(), second=tables[1].ravel())


def repeated(law: FiniteLaw, k: int) -> FiniteLaw:
    """Return the law of an answer k times over: what k releases of one answer add noise to."""
    rows = np.asarray(law.support, dtype=np.float64).reshape(law.weights.size, -1)
    return law if k == 1 else FiniteLaw(support=np.tile(rows, k), weights=law.weights)


def largest_log_ratio(first: FloatArray, second: FloatArray) -> float:
    """Return ``max |first - second|`` over entries that are not both -inf."""
    seen = (first > -np.inf) | (second > -np.inf)
    return float(np.abs(first[seen] - second[seen]).max(initial=0.0))


def whole_numbers(answers: Array) -> FloatArray:
    """Return answers as floats; refuse any that is not a whole number."""
    values = np.asarray(answers, dtype=np.float64)
    if not (values == np.rint(values)).all():
        wrong = values[values != np.rint(values)].flat[0]
        raise ValueError(f"answers must be whole numbers for geometric noise, got {wrong:g}.")
    return values


def _tables(first: AnswerLaw, second: AnswerLaw, scales: FloatArray) -> list[FloatArray]:
    """Return the log probabilities of both laws on the box of whole points that spans them."""
    if not (isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw)):
        raise NotComputableError("exact leakage of this noise needs finitely many answers")
    points = [
        np.asarray(law.support, dtype=np.float64).reshape(law.weights.size, -1)
        for law in (first, second)
    ]
    together = np.concatenate(points)
    if together.shape[1] != scales.size or not (together == np.rint(together)).all():
        raise NotComputableError("exact leakage of this noise needs whole-number answers")
    low = together.min(axis=0)
    shape = (together.max(axis=0) - low + 1).astype(int)
    if math.prod(shape.tolist()) > CELLS:
        raise NotComputableError(f"the table of releases has more than {CELLS} cells")
    tables = []
    for law, rows in zip((first, second), points, strict=True):
        table = np.zeros(shape)
        np.add.at(table, tuple((rows - low).astype(int).T), law.weights)
        with np.errstate(divide="ignore"):
            tables.append(np.log(table))
    return tables


def _sides(table: FloatArray, scale: float, axis: int) -> tuple[FloatArray, FloatArray]:
    """Return log sums of ``w_x exp(-|z - x| / scale)`` over x below z, and over x above z."""
    moved = np.moveaxis(table, axis, 0)
    below, above = np.full_like(moved, -np.inf), np.full_like(moved, -np.inf)
    for z in range(1, len(moved)):
        below[z] = np.logaddexp(below[z - 1], moved[z - 1]) - 1 / scale
        above[-1 - z] = np.logaddexp(above[-z], moved[-z]) - 1 / scale
    return np.moveaxis(below, 0, axis), np.moveaxis(above, 0, axis)


def _density(table: FloatArray, scale: float, axis: int) -> FloatArray:
    """Return the log density of the Laplace mixture at whole points, up to a constant."""
    below, above = _sides(table, scale, axis)
    return np.logaddexp(np.logaddexp(below, above), table)


def _geometric(table: FloatArray, scale: float, axis: int) -> FloatArray:
    """Return the log probabilities of the geometric mixture, its tails in the end cells."""
    if table.shape[axis] == 1:
        return table
    logs = np.moveaxis(_density(table, scale, axis), axis, 0)
    ratio = math.exp(-1 / scale)
    logs[1:-1] += math.log1p(-ratio) - math.log1p(ratio)
    logs[[0, -1]] -= math.log1p(ratio)
    return np.moveaxis(logs, 0, axis)


def _rounded(table: FloatArray, scale: float, axis: int) -> FloatArray:
    """Return the log probabilities of the rounded Laplace mixture, its tails in the end cells."""
    if table.shape[axis] == 1:
        return table
    below, above = (np.moveaxis(side, axis, 0) for side in _sides(table, scale, axis))
    centre = np.moveaxis(table, axis, 0)
    half = 0.5 / scale
    log_half = math.log(0.5)
    logs = np.logaddexp(
        np.logaddexp(below, above) + half + math.log1p(-math.exp(-2 * half)) + log_half,
        centre + math.log(-math.expm1(-half)),
    )
    stay = math.log1p(-0.5 * math.exp(-half))
    logs[0] = np.logaddexp(above[0] + half + log_half, centre[0] + stay)
    logs[-1] = np.logaddexp(below[-1] + half + log_half, centre[-1] + stay)
    return np.moveaxis(logs, 0, axis)


def _point(value: float) -> Bracket:
    return Bracket(value, value)
