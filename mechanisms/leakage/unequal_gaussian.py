"""Exact leakage of two Gaussians whose covariances may differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from mechanisms.check import FloatArray
from mechanisms.leakage.gaussian_log_ratio import LogRatio
from mechanisms.leakage.root import RELATIVE
from mechanisms.privacy.bracket import Bracket

SAME = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnequalGaussians:
    """N(m_0, S_0) against N(m_1, S_1), in the coordinates that diagonalise both.

    Parameters
    ----------
    forward, backward : LogRatio
        Of the first law against the second, and the other way round.
    """

    forward: LogRatio
    backward: LogRatio

    def delta(self, epsilon: float) -> Bracket:
        """Bracket delta rigorously; its width is about 1e-11, or more for nearly equal laws."""
        return Bracket(0.0, 0.0) if epsilon == math.inf else self._curve(epsilon)(epsilon)

    def epsilon(self, delta: float) -> Bracket:
        """Invert delta; rounded outwards. At delta = 0 see `renyi` of order inf."""
        if delta == 0:
            return self.renyi(math.inf)
        enough, top = self._enough(delta), 1.0
        while top < enough and self._curve(top)(top).hi > delta:
            top *= 2  # a curve is sharpest when made for no larger epsilon than needed
        top = min(top, enough)
        curve = self._curve(top)
        if curve(0.0).hi <= delta:
            return Bracket(0.0, 0.0)
        high = _crossing(lambda e: curve(e).hi - delta, top, outwards=1.0)
        low = _crossing(lambda e: curve(e).lo - delta, top, outwards=-1.0)
        return Bracket(low, high)

    def renyi(self, order: float) -> Bracket:
        """Return the closed form, the larger of both directions.

        In one direction it is infinite from order ``1 + 1/(v - 1)`` on, v the largest variance
        ratio above 1; at order inf it is finite only if the first law varies strictly less than
        the second wherever they differ. The larger of both directions at order inf, and with it
        the pure epsilon, is therefore infinite unless the laws are equal.
        """
        value = max(self.forward.renyi(order), self.backward.renyi(order))
        return Bracket(value, value)

    def accuracy(self) -> Bracket:
        """Return (1 + total variation) / 2, total variation being delta at epsilon 0."""
        distance = self.forward.tradeoff(0.0)(0.0)
        return Bracket((1 + distance.lo) / 2, (1 + distance.hi) / 2)

    def _curve(self, largest: float) -> Callable[[float], Bracket]:
        first, second = self.forward.tradeoff(largest), self.backward.tradeoff(largest)
        return lambda epsilon: first(epsilon).join(second(epsilon))

    def _enough(self, delta: float) -> float:
        """Return an epsilon at which delta holds: D_order + log(1/delta) / (order - 1)."""
        reach = min(self.forward.reach(), self.backward.reach())
        steps = [min(reach / 2, s) for s in (0.1, 0.5, 2.0, 8.0, 32.0, 128.0, 512.0)]
        return min(self.renyi(1 + s).hi - math.log(delta) / s for s in steps)


def diagonalise(
    first_mean: FloatArray,
    first_covariance: FloatArray,
    second_mean: FloatArray,
    second_covariance: FloatArray,
) -> UnequalGaussians | None:
    """Diagonalise both covariances together; None if the two laws are mutually singular.

    They are when one of them is flat where the other is not, or when they are flat in the same
    directions and their means differ there (relative tolerance 1e-12 on variances). Variances that
    agree to 1e-10 count as equal, which moves no delta by more than 1e-10 a direction.
    """
    total = first_covariance + second_covariance
    spread = np.sqrt(np.diag(total))
    difference = first_mean - second_mean
    varies = spread > 0
    if difference[~varies].any():
        return None
    if not varies.any():
        nothing = LogRatio(shift=np.zeros(1), variances=np.ones(1))
        return UnequalGaussians(forward=nothing, backward=nothing)
    spread, pick = spread[varies], np.ix_(varies, varies)
    values, vectors = np.linalg.eigh(total[pick] / np.outer(spread, spread))
    keep = values > 1e-14 * values[-1]
    standard = difference[varies] / spread
    if np.linalg.norm(vectors.T[~keep] @ standard) > 1e-8 * np.linalg.norm(standard):
        return None
    whiten = (vectors[:, keep] / np.sqrt(values[keep])).T / spread
    shares, rotation = np.linalg.eigh(whiten @ first_covariance[pick] @ whiten.T)
    if shares.min() < 1e-12 or shares.max() > 1 - 1e-12:
        return None
    shift = rotation.T @ (whiten @ difference[varies])
    ratios = np.where(np.abs(shares - 0.5) < SAME / 4, 1.0, shares / (1 - shares))
    return UnequalGaussians(
        forward=LogRatio(shift=shift / np.sqrt(1 - shares), variances=ratios),
        backward=LogRatio(shift=shift / np.sqrt(shares), variances=1 / ratios),
    )


def _crossing(excess: Callable[[float], float], top: float, *, outwards: float) -> float:
    """Return where a falling function reaches 0, moved to the side that `outwards` points to."""
    if excess(0.0) <= 0:
        return 0.0
    root = top if excess(top) > 0 else float(brentq(excess, 0.0, top, **RELATIVE))
    step = 1e-11
    while outwards * excess(root) > 0 and step < 1:
        root *= 1 + outwards * step
        step *= 2
    return root
