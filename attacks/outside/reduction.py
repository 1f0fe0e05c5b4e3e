"""Points of a lattice near a given one: a reduced basis, and nearest planes with alternatives."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray, IntArray

LOVASZ = 0.99  # of the squared length that a swap must save; 1 is the strictest
SWAPS = 100_000
AROUND = np.arange(-2, 3)  # planes tried beside the nearest one


def reduced(basis: FloatArray) -> IntArray:
    """Return U, whole numbers of determinant +-1, for which ``basis @ U`` is LLL-reduced.

    Lenstra, Lenstra and Lovasz (1982), in floating point with an orthogonalisation anew after
    every swap: right for the few coordinates of an answer. U is applied to the given basis, so
    rounding errors do not add up.

    Parameters
    ----------
    basis : array of shape (d, m)
        Columns, linearly independent.

    Examples
    --------
    >>> reduced(np.array([[1.0, 100.0], [0.0, 1.0]])).tolist()
    [[1, -100], [0, 1]]
    """
    size = basis.shape[1]
    unimodular = np.eye(size, dtype=np.int64)
    k = 1
    for _ in range(SWAPS):
        if k >= size:
            break
        for j in range(k - 1, -1, -1):  # the coefficients of later planes change with each step
            _, r = np.linalg.qr(basis @ unimodular)
            unimodular[:, k] -= int(np.rint(r[j, k] / r[j, j])) * unimodular[:, j]
        _, r = np.linalg.qr(basis @ unimodular)
        if r[k, k] ** 2 + r[k - 1, k] ** 2 < LOVASZ * r[k - 1, k - 1] ** 2:
            unimodular[:, [k - 1, k]] = unimodular[:, [k, k - 1]]
            k = max(k - 1, 1)
        else:
            k += 1
    return unimodular


def near_points(upper: FloatArray, targets: FloatArray, keep: int) -> tuple[IntArray, FloatArray]:
    """Return whole-number vectors z for which ``upper @ z`` is near each target.

    From the last coordinate to the first the planes around the nearest one are tried, and the
    `keep` best beginnings go on: Babai's nearest plane (1986) for keep = 1.

    Parameters
    ----------
    upper : array of shape (m, m)
        Upper triangular, of a reduced basis.
    targets : array of shape (n, m)
    keep : int

    Returns
    -------
    array of shape (n, c, m) and array of shape (n, c)
        Candidates, c <= keep, and their squared distances.
    """
    size = len(upper)
    points = np.zeros((len(targets), 1, size))
    distances = np.zeros((len(targets), 1))
    for i in range(size - 1, -1, -1):
        left = targets[:, None, i] - points[:, :, i + 1 :] @ upper[i, i + 1 :]
        tried = np.rint(left / upper[i, i])[..., None] + AROUND
        longer = distances[..., None] + (left[..., None] - upper[i, i] * tried) ** 2
        best = min(keep, longer[0].size)
        order = np.argpartition(longer.reshape(len(targets), -1), best - 1, axis=1)[:, :best]
        points = np.take_along_axis(points, (order // AROUND.size)[..., None], axis=1)
        points[:, :, i] = np.take_along_axis(tried.reshape(len(targets), -1), order, axis=1)
        distances = np.take_along_axis(longer.reshape(len(targets), -1), order, axis=1)
    return points.astype(np.int64), distances
