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
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import Bracket, NotComputableError

CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PureBracket:
    """Two release laws whose largest log ratio is known, and a post-processing of them.

    Pure epsilon is exact. Every other number is bracketed: below by the post-processing, above by
    the randomised response that dominates every pair with this ratio.

    Parameters
    ----------
    ratio : float in [0, inf)
        Largest log ratio of the release laws.
    processed : FinitePair
        The laws of a function of the release.

    References
    ----------
    Kairouz, Oh, Viswanath (2015), Theorem 2.5 (domination).
    """

    ratio: float
    processed: FinitePair

    def _dominating(self) -> FinitePair:
        return dominating_pair(self.ratio)

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


def dominating_pair(ratio: float) -> FinitePair:
    """Return randomised response with this log ratio in [0, inf].

    Every pair of laws with this largest log ratio is a post-processing of it, so each of its
    numbers is an upper end.

    References
    ----------
    Kairouz, Oh, Viswanath (2015), Theorem 2.5 (domination).
    """
    logs = -np.logaddexp(0.0, np.array([ratio, -ratio]))  # of e^r/(1 + e^r) and 1/(1 + e^r)
    return FinitePair.from_logs(first=logs, second=logs[::-1])


def laplace_lattice(first: AnswerLaw, second: AnswerLaw, scales: FloatArray) -> PureBracket:
    """Compare two finite laws of whole numbers (or vectors of them) after Laplace noise.

    Between neighbouring whole points along an axis both densities are ``A e^t + B e^-t``, so
    their ratio is monotone: the largest ratio is at a whole point. Rounding is post-processing.
    """
    tables = _tables(first, second, scales)
    # Laplace noise is a product over the axes, so that a mixture is convolved axis by axis; the
    # densities give the exact ratio, the rounded laws a lower end of everything else.
    densities, rounded = tables, tables
    for axis, scale in enumerate(scales.tolist()):
        densities = [_density(table, scale, axis) for table in densities]
        rounded = [_rounded(table, scale, axis) for table in rounded]
    return PureBracket(
        ratio=largest_log_ratio(*densities),
        processed=FinitePair.from_logs(first=rounded[0].ravel(), second=rounded[1].ravel()),
    )


def geometric_lattice(first: AnswerLaw, second: AnswerLaw, scales: FloatArray) -> FinitePair:
    """Compare two finite laws of whole numbers (or vectors of them) after geometric noise.

    Everything beyond an end of the box is one output: the likelihood ratio is constant there.
    """
    tables = _tables(first, second, scales)
    for axis, scale in enumerate(scales.tolist()):
        tables = [_geometric(table, scale, axis) for table in tables]
    return FinitePair.from_logs(first=tables[0].ravel(), second=tables[1].ravel())


def repeated(law: FiniteLaw, k: int) -> FiniteLaw:
    """Return the law of an answer k times over: what k releases of one answer add noise to."""
    rows = np.asarray(law.atoms, dtype=np.float64).reshape(law.weights.size, -1)
    return law if k == 1 else FiniteLaw(atoms=np.tile(rows, k), weights=law.weights)


def largest_log_ratio(first: FloatArray, second: FloatArray) -> float:
    """Return ``max |first - second|`` over entries that are not both -inf."""
    # An output impossible under both tells nothing; one impossible under one of them tells all.
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
        np.asarray(law.atoms, dtype=np.float64).reshape(law.weights.size, -1)
        for law in (first, second)
    ]
    together = np.concatenate(points)
    if together.shape[1] != scales.size or not (together == np.rint(together)).all():
        raise NotComputableError("exact leakage of this noise needs whole-number answers")
    low = together.min(axis=0)
    shape = (together.max(axis=0) - low + 1).astype(int)
    # Counted in Python integers: a product of spans can overflow an int64.
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
    # One step along the axis multiplies a one-sided sum by e^(-1/scale): two passes, not a table
    # of all distances.
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
    # P(Z = z) = (1 - r)/(1 + r) r^|z|; an end holds its tail, the geometric sum 1/(1 + r) r^|z|.
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
    # Mass of [z - 1/2, z + 1/2] under Lap(scale) at x: e^(-|z - x|/scale) sinh(half) off the
    # centre, 1 - e^(-half) at it; the end cells reach to infinity.
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
