"""When a person's entry is known from a noisy count of one column, published every day.

The column is binary and the same every day; the noise is fresh.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom

from attacks.reconstruction.posterior import log_likelihood, secret_posterior
from attacks.reconstruction.runs import RunsUntilRevealed
from mechanisms.base import HasLogDensity, Mechanism
from mechanisms.check import Array, FloatArray, whole, within

KNOWN = 0.95


def knows_all_others(
    mechanism: Mechanism,
    share: float,
    *,
    days: int,
    n_trials: int,
    rng: np.random.Generator,
    known: float = KNOWN,
) -> RunsUntilRevealed:
    """Watch the attacker who knows all other rows and subtracts them from every count.

    What is left of a count is the person's own bit and the noise. A bit is known from the first
    day on which the posterior of its true value is at least `known`.

    Parameters
    ----------
    mechanism : Mechanism
        Releases a count, shape (1,), with a density (`HasLogDensity`) that depends on the
        difference of release and count alone: additive noise.
    share : float in (0, 1)
        Public P(bit = 1), the attacker's prior of the person's bit; true bits are drawn with it.
    days : int
        Last day watched.
    n_trials : int
        Persons, each with noise of its own.
    rng : numpy.random.Generator
    known : float in (1/2, 1)

    Returns
    -------
    RunsUntilRevealed
        Days of each person: 0 where the prior alone is sure enough, inf where no day was.
    """
    within("share", share, 0, 1, ends="()")
    bar = float(logit(within("known", known, 0.5, 1, ends="()")))
    if not isinstance(mechanism, HasLogDensity):
        raise TypeError("mechanism must offer log_density: the attacker weighs every release.")
    bits = (rng.random(whole("n_trials", n_trials)) < share).astype(np.float64)[:, None]
    sign = 2 * bits[:, 0] - 1
    odds = np.full(n_trials, float(logit(share)))  # of bit 1
    reached = np.where(sign * odds >= bar, 0.0, math.inf)
    for day in range(1, whole("days", days) + 1):
        if not np.isinf(reached).any():
            break
        seen = mechanism.release(bits, rng)[:, None]
        logs = log_likelihood(mechanism, seen, np.array([[0.0], [1.0]]))
        odds += logs[:, 1] - logs[:, 0]
        reached[np.isinf(reached) & (sign * odds >= bar)] = day
    return RunsUntilRevealed(runs=reached, cap=days)


def knows_the_share_only(
    mechanism: HasLogDensity, releases: Array, rows: int, share: float
) -> FloatArray:
    """Return P(bit of any one person = 1 | the first d counts), shape (n, days + 1), d = 0, ....

    To this attacker all rows are alike, independent with the public share, so the posterior is
    ``E[count | releases] / rows``. It tends to the true share of ones, however many days: the
    count is what can be learnt, and whose bit is 1 cannot.

    Parameters
    ----------
    mechanism : HasLogDensity
        Releases the count, shape (1,).
    releases : array of shape (n, days, 1)
    rows : int
        Rows of the column, the person's own included.
    share : float in (0, 1)
        Public P(bit = 1).
    """
    counts = np.arange(whole("rows", rows) + 1, dtype=np.float64)
    prior = binom.logpmf(counts, rows, within("share", share, 0, 1, ends="()"))
    days = releases.shape[1]
    logs = np.tile(prior, (len(releases), 1))
    means = [np.full(len(releases), share)]
    flat = np.full(counts.size, 1 / counts.size)
    for day in range(days):
        logs = logs + log_likelihood(mechanism, releases[:, day : day + 1], counts[:, None])
        means.append(secret_posterior(logs, flat) @ counts / rows)
    return np.stack(means, axis=1)


def earliest_day(epsilon: float, share: float, known: float = KNOWN) -> int:
    """Return the first day on which any attacker's posterior of a bit can reach `known`.

    Under noise that is epsilon-differentially private for one row, a day moves the odds of a bit
    by a factor of at most ``e^epsilon``, even for the attacker who knows all other rows.

    Parameters
    ----------
    epsilon : float in (0, inf)
        Of one count, for one row.
    share : float in (0, 1)
        The attacker's prior; the likelier value is reached first.
    known : float in (1/2, 1)

    Examples
    --------
    >>> earliest_day(0.1, 0.5), earliest_day(0.1, 0.96)
    (30, 0)
    """
    within("epsilon", epsilon, 0, math.inf, ends="()")
    prior = float(expit(abs(logit(within("share", share, 0, 1, ends="()")))))
    gap = float(logit(within("known", known, 0.5, 1, ends="()")) - logit(prior))
    return max(0, math.ceil(gap / epsilon - 1e-9))  # rounding errs towards an earlier day
