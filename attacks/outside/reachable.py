"""How many of numpy's draws lead from an answer to a release, float for float.

Mironov (2012), On significance of the least significant bits for differential privacy.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from mechanisms.check import FloatArray, IntArray

DRAWS = 2.0**53
WIDTHS = (8, 16, 32, 64)  # numbers tried on either side of where the law puts the draw
CHUNK = 200_000  # numbers tried at once


def laplace_log_mass(releases: FloatArray, answers: FloatArray, scale: float) -> FloatArray:
    """Log probability that ``fl(answer + z)`` is the release, z from ``Generator.laplace``.

    numpy draws a whole k below 2^53 and returns ``scale log(h 2^-53)`` for k below 2^52, with
    h = 2 k, else ``-scale log(h 2^-53)``, where h is ``fl(2 - u) - u`` in units of 2^-53,
    u = k 2^-53: of every four consecutive k two give h = 0 mod 4, one 1 mod 8 and one 7 mod 8.
    So the numbers h near ``2^53 exp(-|release - answer| / scale)`` are tried. Where too many of
    them lead there to be counted, the law's own density serves.

    Parameters
    ----------
    releases, answers : arrays that broadcast against each other
        In units of the query.
    scale : float in (0, inf)

    Returns
    -------
    array of the common shape
        -inf where no draw leads from the answer to the release.
    """
    y, x = np.broadcast_arrays(releases, answers)
    shape, y, x = y.shape, y.ravel(), x.ravel()
    away = y - x
    t = np.abs(away) / scale
    h = np.rint(DRAWS * np.exp(-t))
    gap = np.spacing(np.maximum(np.abs(y), np.abs(away)))  # the rounding of y, or of z itself
    # Half the draws between 1 and 2^53 are used; the exponential is off by a few units.
    wide = 4 + h * (gap / scale) + 2 * (1 + t) * h / DRAWS
    counts = h * (np.spacing(np.abs(y)) / scale) / 2
    for low, width in zip((0, *WIDTHS[:-1]), WIDTHS, strict=True):
        which = np.flatnonzero((wide > low if low else wide >= 0) & (wide <= width))
        step = max(1, CHUNK // (2 * width + 1))
        for at in range(0, which.size, step):
            part = which[at : at + step]
            counts[part] = _laplace_counts(y[part], x[part], h[part], scale, width)
    with np.errstate(divide="ignore"):
        return np.log(counts / DRAWS).reshape(shape)


def _laplace_counts(
    y: FloatArray, x: FloatArray, h: FloatArray, scale: float, width: int
) -> IntArray:
    """Count the admissible numbers within `width` of h that lead from x to y."""
    tried = h[:, None] + np.arange(-width, width + 1)
    side = np.where(y < x, scale, -scale)[:, None]
    # xlogy takes the C library's logarithm, as numpy's generator does; np.log need not.
    sums = xlogy(1.0, np.maximum(tried, 1.0) / DRAWS)
    sums *= side
    sums += x[:, None]
    row, column = np.nonzero(sums == y[:, None])
    found = tried[row, column].astype(np.int64)
    rest = found & 7
    used = np.where(y[row] < x[row], rest % 2 == 0, (rest % 4 == 0) | (rest == 1) | (rest == 7))
    used &= (found >= 1) & (found <= int(DRAWS))
    return np.bincount(row[used], minlength=y.size)
