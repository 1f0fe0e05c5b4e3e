"""Answers on a lattice behind noise of any rank: the likeliest lattice points, listed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from attacks.outside.lattice import Lattice
from attacks.outside.reduction import near_points, reduced
from mechanisms.check import FloatArray, IntArray

LISTED = 32  # lattice points a release
AGAIN = 3  # rounds of the nearest plane: the first ones are far off in their last digits
CHUNK = 500_000  # numbers at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListDecoder:
    """Weigh the lattice points nearest to a release, in noise and in the prior together.

    The posterior of f given ``y = f + Z`` is Gaussian, of precision that of the noise plus that
    of the prior, restricted to the lattice. Its whitening maps the lattice to another one. In a
    reduced basis of that (Lenstra, Lenstra and Lovasz, 1982) nearest planes find the points near
    the release (Babai, 1986), of which the likeliest are averaged. One direction without noise
    is enough where its digits outnumber what is open, and so is one with little.

    Parameters
    ----------
    lattice : Lattice
        At least one coordinate has a step.
    mean, spread : arrays of shape (m,) and (m, m)
        Of the prior.
    variances : array of shape (m,), positive
        Of the noise and of rounding, along the columns of `vectors`, orthonormal.
    vectors : array of shape (m, m)
    """

    lattice: Lattice
    mean: FloatArray
    spread: FloatArray
    variances: FloatArray
    vectors: FloatArray

    def estimate(self, y: FloatArray) -> FloatArray | None:
        """Return the posterior means of ``(n, m)`` releases, shape (n, m).

        None where more lattice points are likely than are listed: a sum over few of many would be
        worse than the mean without a lattice.
        """
        rows, targets = self._whitened(y)
        on = np.flatnonzero(self.lattice.step > 0)
        off = np.setdiff1d(np.arange(self.mean.size), on)
        # What coordinates without a lattice can make up for does not count.
        free, upper_off = np.linalg.qr(rows[:, off])

        def apart(columns: FloatArray) -> FloatArray:
            return columns - free @ (free.T @ columns)

        basis = apart(rows[:, on]) * self.lattice.step[on]
        change = reduced(basis)
        q, upper = np.linalg.qr(basis @ change)
        if likely_points(upper) > LISTED:
            return None
        targets = targets - (rows[:, on] @ self.lattice.offset[on])[:, None]
        scaled = rows[:, on] * self.lattice.step[on]
        step = max(1, CHUNK // (LISTED * rows.size))
        found = np.empty_like(y)
        for start in range(0, len(y), step):
            part = slice(start, start + step)
            wanted = targets[:, part]
            steps, weights = self._listed(apart(wanted), basis, change, q, upper)
            mean_steps = np.einsum("nc,ncm->nm", weights, steps)
            found[part, on] = self.lattice.offset[on] + self.lattice.step[on] * mean_steps
            left = wanted - scaled @ mean_steps.T
            found[part, off] = np.linalg.solve(upper_off, free.T @ left).T
        return found

    def _whitened(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rows W and targets t: twice minus the log posterior is ``|W f - t|^2``.

        The largest rows come first, which keeps the digits of the small ones.
        """
        prior = np.linalg.inv(np.linalg.cholesky(self.spread))
        root = (self.vectors / np.sqrt(self.variances)).T
        rows = np.concatenate([root, prior])
        there = np.broadcast_to((prior @ self.mean)[:, None], (self.mean.size, len(y)))
        order = np.argsort(-np.abs(rows).max(axis=1))
        return rows[order], np.concatenate([root @ y.T, there])[order]

    def _listed(
        self, targets: FloatArray, basis: FloatArray, change: IntArray, q: FloatArray,
        upper: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Return the steps of the likeliest points, (n, c, l), and their weights, (n, c)."""
        base = np.zeros((targets.shape[1], basis.shape[1]), dtype=np.int64)
        for _ in range(AGAIN):
            beside, _ = near_points(upper, (q.T @ (targets - basis @ base.T)).T, 1)
            base += beside[:, 0] @ change.T
        points, distances = near_points(upper, (q.T @ (targets - basis @ base.T)).T, LISTED)
        return base[:, None] + points @ change.T, softmax(-distances / 2, axis=1)


def likely_points(upper: FloatArray) -> float:
    """Return about how many lattice points a standard Gaussian makes likely: e to its entropy.

    Parameters
    ----------
    upper : array of shape (m, m)
        Upper triangular, of a basis.
    """
    volume = float(np.log(np.abs(np.diag(upper))).sum())
    entropy = len(upper) / 2 * math.log(2 * math.pi * math.e)
    return math.exp(min(entropy - volume, 700.0))
