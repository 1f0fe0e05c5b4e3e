"""The influence of one set under a Gaussian prior truncated to a box, by quadrature: an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import logsumexp

from mechanisms.check import FloatArray, IntArray, whole
from mechanisms.influence.gaussian import positive_definite, set_aside, window_in_box

PIECE = 1 << 20


def truncated_influence(
    covariance: FloatArray,
    node: int,
    aside: Sequence[int] | IntArray,
    *,
    bound: float,
    width: float,
    starts: int = 101,
    points: int = 96,
) -> float:
    """Return the influence under the prior truncated to the box, by quadrature.

    Kept coordinates are tried at the corners of the box and windows at `starts` positions: a
    lower bound on the influence up to quadrature error, equal to it where corners are worst
    (not proved). Cost grows as ``points ** (n - 1)``: at most 4 coordinates.

    Parameters
    ----------
    covariance, node, aside, bound, width
        As in `mechanisms.influence.gaussian.observed_influence`.
    starts : int
        Number of window positions.
    points : int
        Gauss-Legendre points per coordinate.
    """
    sigma = positive_definite(covariance)
    n = len(sigma)
    if n > 4:
        raise ValueError(f"covariance must have at most 4 coordinates for quadrature, got {n}.")
    window_in_box(bound, width)
    hidden = set_aside(node, aside, n)
    kept = np.setdiff1d(np.arange(n), hidden)
    if kept.size == 0:
        return 0.0
    precision = np.linalg.inv(sigma).astype(np.float64)
    inside, log_inside = _legendre(8, width)
    positions = np.linspace(-bound, bound - width, whole("starts", starts, low=2))
    x = positions[:, None] + inside

    def log_mass(free: IntArray, fixed: IntArray, values: FloatArray) -> FloatArray:
        """Log of the integral over `free` in the box and x_i in each window, up to a constant."""
        density = _log_integral(precision, node, x.ravel(), free, fixed, values, bound, points)
        return logsumexp(density.reshape(x.shape) + log_inside, axis=1)

    others = np.setdiff1d(np.arange(n), [node])
    prior = log_mass(others, kept[:0], np.empty(0))
    rest = np.setdiff1d(hidden, [node])
    worst = 0.0
    for signs in product((-1.0, 1.0), repeat=kept.size):
        odds = log_mass(rest, kept, np.array([bound * sign for sign in signs])) - prior
        worst = max(worst, float(odds.max() - odds.min()))
    return worst


def _log_integral(
    precision: FloatArray,
    node: int,
    x: FloatArray,
    free: IntArray,
    fixed: IntArray,
    values: FloatArray,
    bound: float,
    points: int,
) -> FloatArray:
    grid, log_weight = _legendre(points, 2 * bound)
    digits = np.arange(points**free.size)[:, None] // points ** np.arange(free.size) % points
    full = np.zeros((len(digits), len(precision)))
    full[:, free], full[:, fixed] = grid[digits] - bound, values
    # Quadratic form with x_i split off: it is 0 in `full`.
    base = log_weight[digits].sum(axis=1) - 0.5 * np.einsum("ij,jk,ik->i", full, precision, full)
    slope = full @ precision[:, node]
    result = np.empty(x.size)
    step = max(1, PIECE // len(digits))
    for first in range(0, x.size, step):
        part = x[first : first + step, None]
        result[first : first + step] = logsumexp(
            base - part * slope - 0.5 * precision[node, node] * part**2, axis=1
        )
    return result


def _legendre(points: int, length: float) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre points on [0, length] and the logs of their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(whole("points", points, low=2))
    return (nodes + 1) * length / 2, np.log(weights * length / 2)
