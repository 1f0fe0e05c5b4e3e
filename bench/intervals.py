"""Every interval of the harness: how per-trial values become value, lower, upper and n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, t

from mechanisms.check import FloatArray, IntArray, within

LEVEL = 0.95
MANY_REPETITIONS = 10
RESAMPLES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval: level 95 % unless `method` says otherwise.

    Parameters
    ----------
    value, lower, upper : float
    n : int
        Trials behind the value; 0 for a number that is computed, not estimated.
    method : str
        How the interval was made, or "exact".
    """

    value: float
    lower: float
    upper: float
    n: int
    method: str


def exact(value: float) -> Estimate:
    """Return a computed number: no sampling, no interval."""
    return Estimate(value=value, lower=value, upper=value, n=0, method="exact")


def clopper_pearson(
    hits: FloatArray | int, n: FloatArray | int, level: float = LEVEL
) -> tuple[FloatArray, FloatArray]:
    """Return the exact two-sided interval of a binomial proportion (Clopper and Pearson, 1934).

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    within("level", level, 0, 1, ends="()")
    hits, n = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = (1 - level) / 2
    low = np.where(hits > 0, beta.ppf(tail, np.maximum(hits, 1), n - hits + 1), 0.0)
    high = np.where(hits < n, beta.ppf(1 - tail, hits + 1, np.maximum(n - hits, 1)), 1.0)
    return low, high


def rate(repetitions: Sequence[FloatArray]) -> Estimate:
    """Estimate a rate from hits in [0, 1], one array a repetition.

    With at least 10 repetitions (each with its own trained attacker) Student's t over them, so
    that the attacker's training counts; otherwise Clopper-Pearson over the trials.
    """
    if len(repetitions) >= MANY_REPETITIONS:
        estimate = _over_repetitions([float(r.mean()) for r in repetitions], repetitions)
        if estimate.upper > estimate.lower:
            return _clipped(estimate, 0.0, 1.0)
    hits = np.concatenate(repetitions)
    low, _ = clopper_pearson(math.floor(hits.sum()), hits.size)
    _, high = clopper_pearson(math.ceil(hits.sum()), hits.size)
    return Estimate(
        value=float(hits.mean()),
        lower=float(low),
        upper=float(high),
        n=hits.size,
        method="Clopper-Pearson",
    )


def mean(repetitions: Sequence[FloatArray]) -> Estimate:
    """Estimate a mean from per-trial values: Student's t over repetitions, else over trials."""
    if len(repetitions) >= MANY_REPETITIONS:
        return _over_repetitions([float(r.mean()) for r in repetitions], repetitions)
    values = np.concatenate(repetitions)
    centre, half = _student(values)
    return Estimate(
        value=centre,
        lower=centre - half,
        upper=centre + half,
        n=values.size,
        method="Student t over trials",
    )


def functional(
    statistic: Callable[[IntArray, FloatArray], float],
    repetitions: Sequence[tuple[IntArray, FloatArray]],
    rng: np.random.Generator,
) -> Estimate:
    """Estimate a statistic of (secret, score) samples, such as an AUC.

    Student's t over at least 10 repetitions; otherwise the percentile bootstrap, resampling
    within each secret and repetition.
    """
    values = [statistic(secret, score) for secret, score in repetitions]
    trials = [secret.astype(np.float64) for secret, _ in repetitions]
    if len(repetitions) >= MANY_REPETITIONS:
        return _clipped(_over_repetitions(values, trials), 0.0, 1.0)
    resampled = np.empty((RESAMPLES, len(repetitions)))
    for j, (secret, score) in enumerate(repetitions):
        groups = [np.flatnonzero(secret == s) for s in np.unique(secret)]
        for i in range(RESAMPLES):
            index = np.concatenate([rng.choice(g, size=g.size) for g in groups])
            resampled[i, j] = statistic(secret[index], score[index])
    low, high = np.quantile(resampled.mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    centre = float(np.mean(values))
    return Estimate(
        value=centre,
        lower=min(centre, float(low)),
        upper=max(centre, float(high)),
        n=sum(t.size for t in trials),
        method=f"bootstrap, {RESAMPLES} resamples",
    )


def _over_repetitions(values: Sequence[float], trials: Sequence[FloatArray]) -> Estimate:
    centre, half = _student(np.asarray(values))
    return Estimate(
        value=centre,
        lower=centre - half,
        upper=centre + half,
        n=sum(t.size for t in trials),
        method=f"Student t over {len(values)} repetitions",
    )


def _student(values: FloatArray) -> tuple[float, float]:
    centre = float(values.mean())
    if values.size < 2:
        return centre, math.inf
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    return centre, float(t.ppf((1 + LEVEL) / 2, values.size - 1)) * error


def _clipped(estimate: Estimate, low: float, high: float) -> Estimate:
    return Estimate(
        value=estimate.value,
        lower=max(low, estimate.lower),
        upper=min(high, estimate.upper),
        n=estimate.n,
        method=estimate.method,
    )
