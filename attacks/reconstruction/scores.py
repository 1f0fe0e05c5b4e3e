"""How much of a database a guess or a posterior gets right: one value a trial, no intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import Array, FloatArray, weights


def fraction_reconstructed(guesses: Array, truth: Array) -> FloatArray:
    """Return the share of entries guessed right, shape (n,), of databases ``(n, e)``.

    An entry that a guess leaves unknown (-1) is not right.
    """
    return _hits(guesses, truth).mean(axis=1)


def gain_over_prior(guesses: Array, truth: Array, prior: Array) -> FloatArray:
    """Return how much larger a share of entries is guessed right than by the prior alone, (n,).

    Parameters
    ----------
    guesses, truth : arrays of shape (n, e)
    prior : array of shape (e,)
        The most probable value of each entry before any release.
    """
    alone = np.broadcast_to(np.asarray(prior), np.shape(truth))
    return fraction_reconstructed(guesses, truth) - fraction_reconstructed(alone, truth)


def whole_database(guesses: Array, truth: Array) -> NDArray[np.bool_]:
    """Return whether every entry is guessed right, shape (n,): its mean is P(all revealed)."""
    return np.all(_hits(guesses, truth), axis=1)


def odds_gained(posterior: FloatArray, prior: object) -> FloatArray:
    """Return by how many nats releases moved the odds of any two secrets, shape (n,).

    ``max over i, j of log(posterior_i / posterior_j) - log(prior_i / prior_j)``, which epsilon
    bounds under every pure Pufferfish guarantee for all pairs of secrets: values above the claim
    refute it, up to rounding. inf where a possible secret is excluded.

    Parameters
    ----------
    posterior : array of shape (n, s)
    prior : array of shape (s,)
        Secrets of prior probability 0 are left out, as the definition does.
    """
    prior = weights("prior", prior)
    if posterior.ndim != 2 or posterior.shape[1] != prior.size:
        raise ValueError(
            f"posterior must have one column a secret ({prior.size}), got shape {posterior.shape}."
        )
    possible = prior > 0
    with np.errstate(divide="ignore"):
        moved = np.log(posterior[:, possible]) - np.log(prior[possible])
    return moved.max(axis=1) - moved.min(axis=1)


def _hits(guesses: Array, truth: Array) -> NDArray[np.bool_]:
    if np.shape(guesses) != np.shape(truth) or np.ndim(truth) != 2:
        raise ValueError(
            f"guesses and truth must both have shape (n, e), got {np.shape(guesses)} and "
            f"{np.shape(truth)}."
        )
    return np.equal(guesses, truth)
