"""The quadratic form of a covariance's inverse, for covariances that may be singular."""

from __future__ import annotations

import math

import numpy as np

from mechanisms.check import FloatArray, finite

SINGULAR = 1e-14
OUTSIDE = 1e-8


def quadratic_form(vector: FloatArray, covariance: FloatArray) -> float:
    """Return ``v' C^+ v``, or inf for a vector outside the range of `covariance`.

    Computed on the correlation matrix, so that the units of the coordinates do not matter.
    An eigenvalue of it below 1e-14 of the largest counts as zero; a component of relative length
    above 1e-8 along such a direction puts the vector outside the range.

    Parameters
    ----------
    vector : array of shape (m,)
    covariance : array of shape (m, m)
        Symmetric, positive semi-definite.

    Examples
    --------
    >>> quadratic_form(np.array([1.0, 1e-8]), np.diag([1.0, 1e-16]))
    2.0
    >>> quadratic_form(np.array([1.0, 1e-8]), np.diag([1.0, 0.0]))
    inf
    """
    vector, covariance = finite("vector", vector), finite("covariance", covariance)
    spread = np.sqrt(np.maximum(np.diag(covariance), 0))
    varies = spread > 0
    if (vector[~varies] != 0).any():
        return math.inf
    if not varies.any():
        return 0.0
    standard = vector[varies] / spread[varies]
    correlation = covariance[np.ix_(varies, varies)] / np.outer(spread[varies], spread[varies])
    values, vectors = np.linalg.eigh(correlation)
    keep = values > SINGULAR * values[-1]
    along = vectors.T @ standard
    if np.linalg.norm(along[~keep]) > OUTSIDE * np.linalg.norm(standard):
        return math.inf
    return float((along[keep] ** 2 / values[keep]).sum())
