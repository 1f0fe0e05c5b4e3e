"""Constraints that are necessary for linear composition (NfC), and what repeating costs.

A mechanism on finitely many databases composes linearly only if for every database D with one
secret there is a law beta on the databases with the other secret such that, for every output w,
``log P(w | D) <= epsilon + sum_l beta_l log P(w | D_l)`` (Bai et al. 2026, Theorem 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from mechanisms.check import FloatArray, IntArray, finite, positive, weights
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.finite_channel import channel_pair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NfcCost:
    """The smallest epsilon at which a mechanism meets NfC constraints.

    Attributes
    ----------
    value : float in [0, inf]
        The epsilon a run costs in the long run: the exact Pufferfish epsilon of r runs, divided
        by r, tends to it, whatever the prior, as long as no database has probability 0. With
        budgets, the constraints hold if and only if it is at most 1.
    weights : array of shape (d, d)
        Row D: the law beta of database D on those with the other secret; NaN where no law serves.
    secret : array of shape (d,)
    """

    value: float
    weights: FloatArray
    secret: IntArray

    def constant(self, prior: FloatArray) -> float:
        """Return c >= 0 with ``epsilon of r runs <= r * value + c`` for every r.

        By concavity of the weighted geometric mean, ``P(w | D) <= e^(r value) sum_l beta_l
        P(w | D_l)`` for r runs w, and the sum over D is at most ``e^c`` times the law of w under
        the other secret. The penalty is paid once; where it is 0, composition is linear.

        Parameters
        ----------
        prior : array of shape (d,), entries > 0
            Probabilities of the databases.
        """
        prior = weights("prior", prior)
        if not prior.min() > 0:
            raise ValueError("prior must be positive, got a database of probability 0.")
        if math.isinf(self.value):
            return math.inf
        given = prior / np.bincount(self.secret, weights=prior)[self.secret]
        return max(0.0, float(np.log((given @ self.weights / given).max())))


def nfc_cost(
    channels: FloatArray | Sequence[FloatArray], secret: IntArray, budgets: Sequence[float] = (1.0,)
) -> NfcCost:
    """Return the smallest t at which mechanisms meet the NfC constraints at ``t * budgets``.

    Parameters
    ----------
    channels : array of shape (d, c), or a sequence of one such array a mechanism
        Probabilities of the outputs given each database.
    secret : array of shape (d,)
        Which of the two secrets, 0 or 1, each database has; each has some.
    budgets : sequence of float in (0, inf)
        One a mechanism. The constraints of all of them share their weights beta.

    Returns
    -------
    NfcCost
        The value is computed from the weights found, which are feasible: never below the optimum.
    """
    arrays = [channels] if isinstance(channels, np.ndarray) else list(channels)
    if len(arrays) != len(budgets):
        raise ValueError(
            f"budgets must have one entry a mechanism ({len(arrays)}), got {len(budgets)}."
        )
    for budget in budgets:
        positive("budgets", budget, infinite=False)
    rows = np.concatenate([_channel(array, len(secret)) for array in arrays], axis=1)
    scale = np.repeat(np.asarray(budgets, dtype=np.float64), [a.shape[1] for a in arrays])
    labels = np.asarray(secret)
    if not np.array_equal(np.unique(labels), [0, 1]):
        raise ValueError(f"secret must hold 0 and 1, got {np.unique(labels).tolist()}.")
    values, betas = np.empty(len(rows)), np.zeros((len(rows), len(rows)))
    for d, row in enumerate(rows):
        others = np.flatnonzero(labels != labels[d])
        beta = _best_weights(row, rows[others], scale)
        betas[d, others] = np.nan if beta is None else beta
        values[d] = math.inf if beta is None else constraint_value(row, rows[others], beta, scale)
    return NfcCost(value=max(0.0, float(values.max())), weights=betas, secret=labels)


def constraint_value(
    row: FloatArray, others: FloatArray, beta: FloatArray, scale: FloatArray | float = 1.0
) -> float:
    """Return ``max over w of (log P(w|D) - sum_l beta_l log P(w|D_l)) / scale``.

    Parameters
    ----------
    row : array of shape (c,)
        P(w | D).
    others : array of shape (l, c)
        P(w | D_l) of the databases with the other secret.
    beta : array of shape (l,)
        Non-negative, sum 1.
    scale : array of shape (c,), or float
        Budget of the mechanism that each output belongs to.

    Notes
    -----
    Random post-processing never raises it: the set of ``(a, b_1, ..., b_k)`` with ``a <= e^eps
    prod_l b_l^beta_l`` is a convex cone, as a weighted geometric mean is concave and homogeneous,
    and post-processing adds and scales such vectors.
    """
    seen = row > 0
    used = beta > 0
    with np.errstate(divide="ignore"):
        means = beta[used] @ np.log(others[used][:, seen])
    return float(((np.log(row[seen]) - means) / np.broadcast_to(scale, row.shape)[seen]).max())


def repeated_epsilon(
    channel: FloatArray, secret: IntArray, prior: FloatArray, n_releases: int
) -> float:
    """Return the exact Pufferfish epsilon of `n_releases` runs of a finite mechanism.

    Both orders of the pair; tables of counts of the outputs are listed.

    Parameters
    ----------
    channel, secret
        As in `nfc_cost`, one mechanism.
    prior : array of shape (d,)
        Probabilities of the databases, positive for both secrets.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(channel)
    sides = []
    for s in (0, 1):
        member = np.flatnonzero(np.asarray(secret) == s)
        mass = weights("prior", prior)[member]
        law = FiniteLaw(atoms=member.astype(np.float64), weights=mass / mass.sum())
        sides.append((law, logs[law.atoms.astype(np.int64)]))  # a law drops what has no mass
    return channel_pair(sides[0], sides[1], n_releases).epsilon(0.0).hi


def _best_weights(row: FloatArray, others: FloatArray, scale: FloatArray) -> FloatArray | None:
    """Minimise t over laws beta; None where every law misses a possible output."""
    seen = row > 0
    able = (others[:, seen] > 0).all(axis=1)
    if not able.any():
        return None
    # log P(w|D) - sum_l beta_l log P(w|D_l) <= t scale_w; the variables are beta and t.
    logs = np.log(others[able][:, seen])
    found = linprog(
        np.append(np.zeros(able.sum()), 1.0),
        A_ub=np.column_stack([-logs.T, -scale[seen]]),
        b_ub=-np.log(row[seen]),
        A_eq=np.append(np.ones(able.sum()), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * int(able.sum()) + [(None, None)],
        method="highs",
    )
    if not found.success:
        raise ArithmeticError(f"the linear program of the NfC constraints failed: {found.message}")
    beta = np.zeros(len(others))
    beta[able] = np.maximum(found.x[:-1], 0.0)
    return beta / beta.sum()


def _channel(array: object, databases: int) -> FloatArray:
    channel = finite("channel", array)
    if channel.ndim != 2 or len(channel) != databases:
        raise ValueError(
            f"channel must have one row a database ({databases}), got shape {channel.shape}."
        )
    if (channel < 0).any() or (np.abs(channel.sum(axis=1) - 1) > 1e-9).any():
        raise ValueError("channel rows must be non-negative and sum to 1.")
    return channel
