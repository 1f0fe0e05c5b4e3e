"""The expectation version: the receiver's average gain instead of its tail.

Over two-point priors the average of a function of the loss is a divergence of the output law
given the truth from the receiver's prediction ``q M(x) + (1 - q) M(x')``; it is largest as q
falls to 0, where Renyi differential privacy and f-divergence privacy appear. The paper's own
scores for these propositions are lost; the family here is derived.

References
----------
Bon, Bailie, Rousseau and Robert (2026), Appendix C (idea); Mironov (2017); Barber and Duchi (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp, xlogy

from mechanisms.check import FloatArray, positive, within
from mechanisms.privacy.persuasive.two_point_priors import log_ratios, two_point_loss


def renyi_loss(row: FloatArray, other: FloatArray, *, q: float, order: float) -> float:
    """Return ``log E[exp((order - 1) loss)] / (order - 1)`` over outputs given the truth.

    At q = 0, the limit, it is the Renyi divergence ``D_order(M(x) || M(x'))``: a bound for all
    ordered pairs of neighbours is (order, epsilon)-Renyi differential privacy. Order 1 is the
    average loss, Kullback-Leibler.

    Parameters
    ----------
    row, other : arrays of shape (t,)
        Output probabilities given the true database and given the alternative.
    q : float in [0, 1]
        The receiver's prior probability of the truth.
    order : float in (0, inf]
    """
    positive("order", order)
    losses, masses = _possible_losses(row, other, q)
    if order == 1:
        return float(masses @ losses)
    if math.isinf(order):
        return float(losses.max())
    return float(logsumexp((order - 1) * losses, b=masses)) / (order - 1)


def f_divergence_loss(
    row: FloatArray,
    other: FloatArray,
    *,
    q: float,
    f: Callable[[FloatArray], FloatArray],
    slope: float,
) -> float:
    """Return ``E[phi(loss)]`` over outputs given the truth, phi(D) = e^-D f(e^D) + f(0)(1 - e^-D).

    At q = 0, the limit, it is ``D_f(M(x) || M(x'))``. The term with f(0) leaves every f-divergence
    unchanged and accounts for outputs that the truth rules out, which are never seen.

    Parameters
    ----------
    row, other, q
        As in `renyi_loss`.
    f : callable
        Convex, with f(1) = 0 and finite f(0).
    slope : float
        Limit of ``f(t) / t`` at infinity, the value at an infinite loss; often inf.
    """
    losses, masses = _possible_losses(row, other, q)
    at_zero = float(f(np.zeros(1))[0])
    finite = np.isfinite(losses)
    inverse = np.exp(-losses[finite])
    terms = inverse * f(1 / inverse) + at_zero * (1 - inverse)
    infinite_mass = float(masses[~finite].sum())
    beyond = infinite_mass * (slope + at_zero) if infinite_mass > 0 else 0.0
    return float(masses[finite] @ terms) + beyond


def chi_squared_loss(row: FloatArray, other: FloatArray, *, q: float) -> float:
    """Return the expected loss whose limit is the chi-squared divergence, ``E[e^loss] - 1``."""
    return f_divergence_loss(row, other, q=q, f=lambda t: (t - 1) ** 2, slope=math.inf)


def kullback_leibler_loss(row: FloatArray, other: FloatArray, *, q: float) -> float:
    """Return the expected loss itself, whose limit is the Kullback-Leibler divergence."""
    return f_divergence_loss(row, other, q=q, f=lambda t: xlogy(t, t), slope=math.inf)


def _possible_losses(row: FloatArray, other: FloatArray, q: float) -> tuple[FloatArray, FloatArray]:
    """Return losses and probabilities of the outputs that the truth allows."""
    within("q", q, 0, 1)
    row, other = np.asarray(row, dtype=np.float64), np.asarray(other, dtype=np.float64)
    possible = row > 0
    return two_point_loss(log_ratios(row, other)[possible], np.array(q)), row[possible]
