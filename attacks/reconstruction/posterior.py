"""What the Bayesian attacker believes after any number of releases."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from mechanisms.base import HasLogDensity
from mechanisms.check import Array, FloatArray, IntArray, weights
from mechanisms.laws.finite import FiniteLaw

CHUNK = 4_000_000


def secret_posterior(log_likelihoods: FloatArray, prior: object) -> FloatArray:
    """Return P(secret | releases), shape (n, s).

    Parameters
    ----------
    log_likelihoods : array of shape (n, s)
        Log density of the releases under each secret, as `LikelihoodRatio` scores it; a
        summand common to all secrets does not matter.
    prior : array of shape (s,)
        Probabilities of the secrets, sum 1.
    """
    prior = weights("prior", prior)
    if prior.shape != log_likelihoods.shape[1:]:
        raise ValueError(
            f"prior must have one entry a secret ({log_likelihoods.shape[1]}), got {prior.size}."
        )
    with np.errstate(divide="ignore"):
        logs = log_likelihoods + np.log(prior)
    if np.isneginf(logs).all(axis=1).any():
        raise ValueError("releases must be possible under the prior, got one that is not.")
    return softmax(logs, axis=1)


def log_likelihood(mechanism: HasLogDensity, releases: Array, answers: Array) -> FloatArray:
    """Return the log density of ``(n, k, *shape)`` releases given each of ``(a, *shape)`` answers.

    Releases are independent given the answer. Shape (n, a).
    """
    step = max(1, CHUNK // max(1, answers.size))
    parts = [
        sum(
            (mechanism.log_density(part[:, j, None], answers[None]) for j in range(part.shape[1])),
            np.zeros((len(part), len(answers))),
        )
        for part in (releases[i : i + step] for i in range(0, len(releases), step))
    ]
    return np.concatenate(parts)


def answer_posterior(mechanism: HasLogDensity, releases: Array, law: FiniteLaw) -> FloatArray:
    """Return P(answer | releases) of ``(n, k, *shape)`` releases: (n, a), one per atom of the law.

    Exact for any mechanism with a density: additive noise, randomised response, the mechanisms
    that collapse (whose answers are databases). With k = 0 releases it is the prior.
    """
    return secret_posterior(log_likelihood(mechanism, releases, law.atoms), law.weights)


def entry_posterior(posterior: FloatArray, databases: IntArray, states: int) -> FloatArray:
    """Return P(entry = state | releases), shape (n, e, states), from that of whole databases.

    Parameters
    ----------
    posterior : array of shape (n, a)
    databases : array of shape (a, e)
        Entries coded 0, ..., states - 1.
    states : int
    """
    return np.stack([posterior @ (databases == s) for s in range(states)], axis=-1)


def averaged(releases: Array, support: FloatArray) -> IntArray:
    """Guess the answer that is nearest to the mean of the releases: its row in `support`, (n,).

    The attacker who knows nothing of the noise but that it is centred, and nothing of the prior.

    Parameters
    ----------
    releases : array of shape (n, k, m)
    support : array of shape (a, m)
        Possible answers.
    """
    mean = np.asarray(releases, dtype=np.float64).mean(axis=1)
    squares = ((mean[:, None] - np.asarray(support, dtype=np.float64)) ** 2).sum(axis=-1)
    return squares.argmin(axis=1)
