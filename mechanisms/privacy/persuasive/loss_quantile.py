"""The three numbers of persuasive privacy: exact, certified and checked loss.

The loss of a release is the receiver's score gain. A mechanism meets (kappa, delta) where the
loss exceeds kappa with probability at most delta, the database fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import beta, binom

from mechanisms.check import FloatArray, IntArray, whole, within

ROUNDING = 1e-12


def exact_kappa(losses: FloatArray, probabilities: FloatArray, *, delta: float) -> float:
    """Return the smallest kappa >= 0 with P(loss > kappa) <= delta, the largest over all cases.

    Parameters
    ----------
    losses : array of shape (..., t)
        Loss at each possible release; leading axes are scores, receivers and databases.
    probabilities : array broadcastable to (..., t)
        Probability of each release given the database.
    delta : float in [0, 1)

    Returns
    -------
    float
        Exact; a tail may exceed delta by a relative 1e-12, as rounded sums of .1 do.

    Examples
    --------
    >>> exact_kappa(np.array([3.0, 1.0, 0.0]), np.array([0.1, 0.2, 0.7]), delta=0.1)
    1.0
    """
    within("delta", delta, 0, 1, ends="[)")
    losses, probabilities = np.broadcast_arrays(losses, probabilities)
    if losses.size == 0:
        raise ValueError("losses must not be empty.")
    if np.isnan(losses).any():
        raise ValueError("losses must not be NaN.")
    order = np.argsort(-losses, axis=-1, kind="stable")
    losses = np.take_along_axis(losses, order, axis=-1)
    probabilities = np.take_along_axis(probabilities, order, axis=-1)
    # The mass above the j-th largest loss is at most that of the j - 1 before it; impossible
    # releases have no mass, and so are passed over.
    before = np.zeros(probabilities.shape)
    np.cumsum(probabilities[..., :-1], axis=-1, out=before[..., 1:])
    last = (before <= delta * (1 + ROUNDING)).sum(axis=-1, keepdims=True) - 1
    return max(0.0, float(np.take_along_axis(losses, last, axis=-1).max()))


def realised_kappa(losses: FloatArray) -> float:
    """Return what a deterministic release certifies: its largest realised loss, at least 0.

    No interval: the release is a function of the database, so nothing was sampled.
    """
    losses = np.asarray(losses, dtype=np.float64)
    if losses.size == 0 or np.isnan(losses).any():
        raise ValueError("losses must not be empty or NaN.")
    return max(0.0, float(losses.max()))


def certified_kappa(losses: FloatArray, *, delta: float, error: float = 0.05) -> float:
    """Return a lower bound on the exact kappa of a randomised release, from sampled releases.

    The largest kappa' such that, for one case, the share of releases with loss above every
    smaller number has a one-sided Clopper-Pearson lower bound above delta.

    Parameters
    ----------
    losses : array of shape (..., n)
        Losses of n independent releases of one fixed database; leading axes are the cases
        (records and receivers), over which the error is split.
    delta : float in [0, 1)
    error : float in (0, 1)
        Probability that the result exceeds the exact kappa, over the releases' randomness.

    Returns
    -------
    float
        At least 0; 0 too where n releases are too few for any statement at this delta.

    Notes
    -----
    How many releases must lie above depends on n, delta and the error alone, so the bound is an
    order statistic chosen in advance: nothing is lost to searching kappa'.

    Examples
    --------
    >>> certified_kappa(np.linspace(0, 1, 100), delta=0.5) < 0.5
    True
    """
    within("delta", delta, 0, 1, ends="[)")
    within("error", error, 0, 1, ends="()")
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim == 0 or losses.size == 0 or np.isnan(losses).any():
        raise ValueError("losses must have shape (..., n), and not be empty or NaN.")
    n, cases = losses.shape[-1], losses[..., 0].size
    needed = fewest_hits(n, delta, error / cases)
    if needed is None:
        return 0.0
    return max(0.0, float(np.partition(losses, n - needed, axis=-1)[..., n - needed].max()))


def fewest_hits(n: int, delta: float, error: float) -> int | None:
    """Return the fewest hits of n whose lower limit is at least delta; None if n are too few.

    The lower limit of m hits is the rate at which m or more have probability `error`.
    """
    hits = int(binom.isf(error, n, delta)) + 1
    return hits if hits <= n else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledCheck:
    """Whether P(loss > kappa) <= delta, judged from sampled releases.

    Parameters
    ----------
    rates, lower, upper : arrays of shape (cases,)
        Share of releases with loss above kappa, and its one-sided limits.
    n : int
        Releases a case.
    verdict : {"holds", "violated", "open"}
        "holds" where every upper limit is at most delta, "violated" where a lower limit exceeds
        it; each is wrong with probability at most the error.
    """

    rates: FloatArray
    lower: FloatArray
    upper: FloatArray
    n: int
    verdict: Literal["holds", "violated", "open"]


def check_by_sampling(
    sample: Callable[[int, np.random.Generator], FloatArray],
    *,
    kappa: float,
    delta: float,
    n: int,
    error: float = 0.05,
    rng: np.random.Generator,
) -> SampledCheck:
    """Check a (kappa, delta) claim on sampled losses, where they cannot be listed.

    Parameters
    ----------
    sample : callable (n, rng) -> array of shape (cases, n)
        Losses of n independent releases, a row for each score, receiver and database tried.
    kappa : float in [0, inf]
    delta : float in [0, 1)
        At delta = 0 sampling can refute, never prove.
    n : int
    error : float in (0, 1)
        Split over the cases.
    """
    within("kappa", kappa, 0, math.inf)
    within("delta", delta, 0, 1, ends="[)")
    within("error", error, 0, 1, ends="()")
    losses = np.atleast_2d(np.asarray(sample(whole("n", n), rng), dtype=np.float64))
    if losses.shape[-1] != n or np.isnan(losses).any():
        raise ValueError(f"sample must return ({n},) losses a case without NaN.")
    hits = (losses > kappa).sum(axis=1)
    share = error / len(losses)
    lower, upper = binomial_lower(hits, n, share), binomial_upper(hits, n, share)
    verdict: Literal["holds", "violated", "open"] = "open"
    if (lower > delta).any():
        verdict = "violated"
    elif (upper <= delta).all():
        verdict = "holds"
    return SampledCheck(rates=hits / n, lower=lower, upper=upper, n=n, verdict=verdict)


def binomial_lower(hits: IntArray, n: int, error: float) -> FloatArray:
    """Return the one-sided lower limit of a proportion (Clopper and Pearson, 1934)."""
    hits = np.asarray(hits)
    return np.where(hits > 0, beta.ppf(error, np.maximum(hits, 1), n - hits + 1), 0.0)


def binomial_upper(hits: IntArray, n: int, error: float) -> FloatArray:
    """Return the one-sided upper limit of a proportion (Clopper and Pearson, 1934)."""
    hits = np.asarray(hits)
    return np.where(hits < n, beta.ppf(1 - error, hits + 1, np.maximum(n - hits, 1)), 1.0)
