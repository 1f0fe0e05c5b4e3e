"""Random subsets without replacement, for many trials at once."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray, IntArray, within

CHUNK = 2_000_000


def without_replacement(
    population: int, take: int, trials: int, rng: np.random.Generator
) -> IntArray:
    """Draw `trials` independent uniform subsets of ``range(population)``; exact.

    Floyd's algorithm, one step an element of the subset, vectorised over trials.

    Returns
    -------
    array of shape (trials, take)
        The elements of each subset, distinct, in no particular order.

    Raises
    ------
    ValueError
        If `take` is not between 0 and `population`.
    """
    within("take", take, 0, population)
    chosen = np.empty((trials, take), dtype=np.int64)
    for step, top in enumerate(range(population - take, population)):
        pick = rng.integers(top + 1, size=trials)
        taken = (chosen[:, :step] == pick[:, None]).any(axis=1)
        chosen[:, step] = np.where(taken, top, pick)
    return chosen


def sum_features(features: FloatArray, chosen: IntArray) -> FloatArray:
    """Sum the rows of ``(N, m)`` features over each of ``(trials, take)`` subsets: (trials, m)."""
    total = np.empty((len(chosen), features.shape[1]))
    step = max(1, CHUNK // max(1, chosen.shape[1] * features.shape[1]))
    for start in range(0, len(chosen), step):
        total[start : start + step] = features[chosen[start : start + step]].sum(axis=1)
    return total


def subset_moments(
    without: FloatArray, with_property: FloatArray, take: int, size: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the exact mean and covariance of the statistics of a subset.

    `take` records come from `with_property`, the rest from `without`, without replacement (the
    finite population correction uses the population's covariance with divisor N - 1).
    """
    mean = np.zeros(weights.size)
    covariance = np.zeros((weights.size, weights.size))
    for rows, count in ((without, size - take), (with_property, take)):
        mean += count * rows.mean(axis=0)
        covariance += count * (1 - count / len(rows)) * np.cov(rows, rowvar=False)
    return mean * weights, covariance * np.outer(weights, weights)
