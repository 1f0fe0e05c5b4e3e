"""In how many directions noise is added: elsewhere the answer is released as it is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mechanisms.base import HasNoiseCovariance
from mechanisms.check import FloatArray
from mechanisms.laws.answer import AnswerLaw, GaussianLaw

NOISED = 1e-12
EXAMPLES = 10


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


def noise_root(covariance: FloatArray) -> FloatArray:
    """Return R with ``R R' = covariance`` whose spared directions have no noise at all.

    The root of a rounding error is no rounding error: of a variance of 1e-16 it makes noise of
    1e-8 of the largest, which nobody asked for and no claim counts.

    Examples
    --------
    >>> v = np.array([0.6, 0.8])
    >>> root = noise_root(1e8 * np.outer(v, v))
    >>> bool(np.abs(root.T @ [-0.8, 0.6]).max() < 1e-11)
    True
    """
    deviations = np.sqrt(np.diag(covariance))
    if not (covariance - np.diag(deviations**2)).any():
        return np.diag(deviations)
    values, vectors = np.linalg.eigh(covariance)
    error = 16 * len(covariance) * np.finfo(np.float64).eps * values[-1]
    root: FloatArray = vectors * np.sqrt(np.where(values > error, values, 0.0))
    return root


def spared(mechanism: object, laws: Iterable[AnswerLaw]) -> str:
    """Return that additive noise spares directions of continuous answers, in words, or no text.

    Noise in a proper subspace leaves the rest of the answer as it is. Under a continuous law that
    rest may say little; but records have answers on a lattice, and there it can name them.

    Parameters
    ----------
    mechanism : Mechanism
    laws : iterable of AnswerLaw
        Only Gaussian ones are a model of something else.
    """
    sizes = [law.mean.size for law in laws if isinstance(law, GaussianLaw)]
    if not sizes or not isinstance(mechanism, HasNoiseCovariance):
        return ""
    rank = noised_directions(mechanism.noise_covariance)[2]
    return "" if rank == sizes[0] else f"noise of rank {rank} in {sizes[0]} coordinates"


def names_answers(covariance: FloatArray, answers: FloatArray, rounding: float = 0.0) -> bool:
    """Whether the part of each answer that noise spares tells it from all the others.

    Then the release is as good as without noise, however much there is in the other directions.

    Parameters
    ----------
    covariance : array of shape (m, m)
        Of the noise, of deficient rank.
    answers : array of shape (n, m)
        Examples; fewer than 10 different ones tell nothing.
    rounding : float in [0, inf)
        Step of the grid that releases are rounded to, which blurs what is spared.

    Examples
    --------
    >>> counts = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    >>> along = np.array([[1.0, np.sqrt(2)], [np.sqrt(2), 2.0]])
    >>> names_answers(along, counts), names_answers(np.diag([1.0, 0.0]), counts)
    (True, False)
    """
    size = answers.shape[1]
    values, vectors, rank = noised_directions(np.broadcast_to(covariance, (size, size)))
    different = np.unique(answers, axis=0)
    if len(different) < EXAMPLES or rank == size:
        return False
    spared_part = different @ vectors[:, : size - rank]
    # The little noise of a spared direction blurs: 8 deviations of it and rounding are no gap.
    # What is a rounding error of the covariance alone is no noise (`noise_root`).
    real = values[: size - rank] > 16 * size * np.finfo(np.float64).eps * values[-1]
    blur = 8 * np.sqrt(np.where(real, values[: size - rank], 0.0))
    grid = rounding * size**0.5 + 64 * np.finfo(np.float64).eps * np.abs(different).max()
    cells = np.floor(spared_part / (blur + grid))
    return len(np.unique(cells, axis=0)) == len(different)
