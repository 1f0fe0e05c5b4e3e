"""In how many directions noise is added: elsewhere the answer is released as it is."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray

NOISED = 1e-12


def noised_directions(covariance: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Return the noise variances, ascending, their directions as columns, and the noise's rank.

    A variance below 1e-12 of the largest one is a rounding error of the calibration, not noise.
    Independent noises whose deviations differ by a factor of a million are told to be of deficient
    rank too, which errs towards less claimed privacy.

    Parameters
    ----------
    covariance : array of shape (m, m)
        Symmetric, positive semi-definite, in squared units of the query.

    Examples
    --------
    >>> noised_directions(np.array([[1.0, 1.0], [1.0, 1.0]]))[2]
    1
    """
    values, vectors = np.linalg.eigh(covariance)
    rank = int((values > NOISED * values[-1]).sum()) if values[-1] > 0 else 0
    return values, vectors, rank
