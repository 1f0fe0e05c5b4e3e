"""Every interval of the harness: how per-trial values become value, lower, upper and n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta, t

from mechanisms.check import FloatArray, IntArray, finite, within

LEVEL = 0.95
MANY_REPETITIONS = 10
RESAMPLES = 400
FEW = 5


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

    Raises
    ------
    ValueError
        If hits are not between 0 and n, or the level not in (0, 1).

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    within("level", level, 0, 1, ends="()")
    hits, n = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if not ((hits >= 0) & (hits <= n)).all():
        raise ValueError(f"hits must be between 0 and n, got hits={hits} of n={n}.")
    tail = (1 - level) / 2
    low = np.where(hits > 0, beta.ppf(tail, np.maximum(hits, 1), n - hits + 1), 0.0)
    high = np.where(hits < n, beta.ppf(1 - tail, hits + 1, np.maximum(n - hits, 1)), 1.0)
    return low, high


def rate(repetitions: Sequence[FloatArray]) -> Estimate:
    """Estimate a rate from hits in [0, 1], one array a repetition.

    Clopper-Pearson over all trials. With at least 10 repetitions (each with its own trained
    attacker) also Student's t over them, so that the attacker's training counts, and the wider of
    the two at each end: near 0 and 1 the repetitions' means vary too little for t alone.
    """
    return contrast([[r] for r in repetitions], [1.0])


def grouped_rate(repetitions: Sequence[FloatArray]) -> Estimate:
    """Estimate a rate over fixed groups from hits in [0, 1], arrays of shape (trials, groups).

    Groups are not drawn: some are nearly always right and some nearly never, so that all hits
    pooled vary more than their mean does. A trial's mean over the groups is one observation:
    Student's t over trials, and with at least 10 repetitions also over these, the wider of the
    two at each end; `rate` where fewer than 5 hits are 1 or 0 (then pooled hits vary alike, and
    t may see nothing), and for a single group.
    """
    hits = np.concatenate(repetitions)
    total = float(hits.sum())
    few = min(total, hits.size - total) < FEW
    if hits.shape[1] == 1 or len(hits) < 2 or few:
        return rate([r.ravel() for r in repetitions])
    centre, half = _student(_hits(hits).mean(axis=1))
    estimate = Estimate(
        value=centre,
        lower=centre - half,
        upper=centre + half,
        n=hits.size,
        method="Student t over trials, groups averaged",
    )
    if len(repetitions) >= MANY_REPETITIONS:
        means = [float(r.mean()) for r in repetitions]
        estimate = _wider(_over_repetitions(means, hits.size), estimate)
    return _clip(estimate, 0.0, 1.0)


def contrast(repetitions: Sequence[Sequence[FloatArray]], weights: Sequence[float]) -> Estimate:
    """Estimate a weighted sum of independent rates: an average recall, or TPR - FPR.

    Parameters
    ----------
    repetitions : sequence of sequences of arrays
        In each repetition one array of hits in [0, 1] a rate.
    weights : sequence of float
        One a rate.

    Notes
    -----
    The Clopper-Pearson limits of the rates are combined by squaring and adding their distances
    to the estimates (MOVER: Newcombe, 1998, method 10; Zou and Donner, 2008); for a single rate
    they are left as they are. Repetitions count as in `rate`.
    """
    groups = [_hits(np.concatenate(group)) for group in zip(*repetitions, strict=True)]
    value = sum(w * float(g.mean()) for w, g in zip(weights, groups, strict=True))
    below, above = zip(
        *(_distances(w, g) for w, g in zip(weights, groups, strict=True)), strict=True
    )
    pooled = Estimate(
        value=value,
        lower=value - math.hypot(*below),
        upper=value + math.hypot(*above),
        n=sum(g.size for g in groups),
        method="Clopper-Pearson" + (", MOVER" if len(groups) > 1 else ""),
    )
    if len(repetitions) >= MANY_REPETITIONS:
        values = [
            sum(w * float(g.mean()) for w, g in zip(weights, r, strict=True)) for r in repetitions
        ]
        pooled = _wider(_over_repetitions(values, pooled.n), pooled)
    return _clip(pooled, sum(min(w, 0.0) for w in weights), sum(max(w, 0.0) for w in weights))


def mean(repetitions: Sequence[FloatArray]) -> Estimate:
    """Estimate a mean from per-trial values: Student's t over repetitions, else over trials.

    Values that are all equal give an interval of no width; rates belong to `rate`.
    """
    values = finite("values", np.concatenate(repetitions))
    floor = 0.0 if values.min() >= 0 else -math.inf  # an error has no negative mean
    if len(repetitions) >= MANY_REPETITIONS:
        estimate = _over_repetitions([float(r.mean()) for r in repetitions], values.size)
        return replace(estimate, lower=max(floor, estimate.lower))
    centre, half = _student(values)
    return Estimate(
        value=centre,
        lower=max(floor, centre - half),
        upper=centre + half,
        n=values.size,
        method="Student t over trials",
    )


def functional(
    statistic: Callable[[IntArray, FloatArray], float],
    repetitions: Sequence[tuple[IntArray, FloatArray]],
    rng: np.random.Generator,
) -> Estimate:
    """Estimate a statistic in [0, 1] of (secret, score) samples, such as an AUC.

    Student's t over at least 10 repetitions; otherwise the percentile bootstrap, resampling
    within each secret and repetition. Both see too little within 5 trials of 0 or 1 (perfect
    scores do not vary at all), where the interval is at least Clopper-Pearson over as many
    independent pairs as the samples hold: m, the size of the smaller class.
    """
    values = [statistic(secret, score) for secret, score in repetitions]
    n = sum(secret.size for secret, _ in repetitions)
    if len(repetitions) >= MANY_REPETITIONS:
        estimate = _over_repetitions(values, n)
    else:
        resampled = np.mean(
            [_resample(statistic, secret, score, rng) for secret, score in repetitions], axis=0
        )
        low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        centre = float(np.mean(values))
        estimate = Estimate(
            value=centre,
            lower=min(centre, float(low)),
            upper=max(centre, float(high)),
            n=n,
            method=f"bootstrap, {RESAMPLES} resamples",
        )
    pairs = sum(int(np.unique(secret, return_counts=True)[1].min()) for secret, _ in repetitions)
    if min(estimate.value, 1 - estimate.value) * pairs < FEW:
        below, above = _limits(estimate.value * pairs, pairs)
        of_pairs = Estimate(
            value=estimate.value, lower=below, upper=above, n=n, method="Clopper-Pearson over pairs"
        )
        estimate = _wider(estimate, of_pairs)
    return _clip(estimate, 0.0, 1.0)


def _resample(
    statistic: Callable[[IntArray, FloatArray], float],
    secret: IntArray,
    score: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the statistic of resamples within each secret, shape (RESAMPLES,)."""
    groups = [np.flatnonzero(secret == s) for s in np.unique(secret)]
    values = np.empty(RESAMPLES)
    for i in range(RESAMPLES):
        index = np.concatenate([rng.choice(g, size=g.size) for g in groups])
        values[i] = statistic(secret[index], score[index])
    return values


def _hits(values: FloatArray) -> FloatArray:
    hits = finite("hits", values)
    if hits.min() < 0 or hits.max() > 1:
        raise ValueError(f"hits must be in [0, 1], got {hits.min():g} to {hits.max():g}.")
    return hits


def _limits(hits: float, n: int) -> tuple[float, float]:
    """Clopper-Pearson for a sum of hits in [0, 1]: rounded down below, up above."""
    low, _ = clopper_pearson(max(0, math.floor(hits)), n)
    _, high = clopper_pearson(min(n, math.ceil(hits)), n)
    return float(low), float(high)


def _distances(weight: float, hits: FloatArray) -> tuple[float, float]:
    """Return how far a weighted rate's limits lie below and above its estimate."""
    centre = float(hits.mean())
    low, high = _limits(float(hits.sum()), hits.size)
    ends = (weight * (centre - low), weight * (high - centre))
    return ends if weight >= 0 else (-ends[1], -ends[0])


def _wider(first: Estimate, second: Estimate) -> Estimate:
    """Return the first estimate with the wider of both limits at each end."""
    return Estimate(
        value=first.value,
        lower=min(first.lower, second.lower),
        upper=max(first.upper, second.upper),
        n=first.n,
        method=f"{first.method}, at least {second.method}",
    )


def _over_repetitions(values: Sequence[float], n: int) -> Estimate:
    centre, half = _student(np.asarray(values))
    return Estimate(
        value=centre,
        lower=centre - half,
        upper=centre + half,
        n=n,
        method=f"Student t over {len(values)} repetitions",
    )


def _student(values: FloatArray) -> tuple[float, float]:
    centre = float(values.mean())
    if values.size < 2:
        return centre, math.inf
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    return centre, float(t.ppf((1 + LEVEL) / 2, values.size - 1)) * error


def _clip(estimate: Estimate, low: float, high: float) -> Estimate:
    return Estimate(
        value=estimate.value,
        lower=max(low, estimate.lower),
        upper=min(high, estimate.upper),
        n=estimate.n,
        method=estimate.method,
    )
