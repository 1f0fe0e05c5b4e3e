"""Exact leakage of mechanisms on small databases, all of whose outputs are listed."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from mechanisms.check import Array, FloatArray, IntArray, whole
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import PURE

COLLAPSE_NOTE = "does not compose: two runs can reveal the whole database"


class Listed(Protocol):
    """A mechanism whose outputs, and the pairs of laws that it is to protect, can be listed.

    Any two different outputs on one database reveal it: that is what collapses.
    """

    def outputs(self) -> Array:
        """Return all possible outputs, shape (c, *release_shape)."""

    def law_pairs(self) -> tuple[tuple[FiniteLaw, FiniteLaw], ...]:
        """Return the laws of the database under the two sides of every secret pair and prior."""

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of releases ``(n, 1, *shape)`` given databases ``(1, a, e)``: (n, a)."""


def listed_leakage(
    mechanism: Listed, first: AnswerLaw, second: AnswerLaw, n_releases: int
) -> FinitePair:
    """Compare `n_releases` runs on one database under two finite laws of it; exact.

    Runs that all show the same output tell that output; runs that do not tell the database. How
    often which output came tells nothing more, so the reduced channel ``{output, always} +
    {database}`` is sufficient, for any number of runs.

    Raises
    ------
    NotComputableError
        If a law is not finite, or of sequences that are too many to list.
    """
    laws = [law.listed() if isinstance(law, SequenceLaw) else law for law in (first, second)]
    one, other = laws
    if not (isinstance(one, FiniteLaw) and isinstance(other, FiniteLaw)):
        raise NotComputableError("exact leakage needs finitely many databases")
    databases = np.unique(np.concatenate([one.atoms, other.atoms]), axis=0)
    logs = (
        _reduced(mechanism, law, databases, whole("n_releases", n_releases)) for law in (one, other)
    )
    return FinitePair.from_logs(*logs)


def _reduced(mechanism: Listed, law: FiniteLaw, databases: Array, k: int) -> FloatArray:
    """Return log probabilities of "this output, k times" and of "revealed, this database"."""
    once = mechanism.log_density(mechanism.outputs()[:, None], law.atoms[None])
    with np.errstate(divide="ignore"):
        weights = np.log(law.weights)
        always = k * once
        # A database of one possible output is never revealed, nor is any by a single run.
        stays = np.minimum(1.0, np.exp(always).sum(axis=0)) if k > 1 else np.ones(len(weights))
        changes = np.where(once.max(axis=0) == 0, -np.inf, np.log1p(-stays))
    revealed = np.full(len(databases), -np.inf)
    revealed[row_numbers(law.atoms, databases)] = changes + weights
    return np.concatenate([logsumexp(always + weights, axis=1), revealed])


def worst_epsilon(mechanism: Listed, n_releases: int) -> float:
    """Return the exact Pufferfish epsilon of `n_releases` runs: the worst of all law pairs."""
    return max(
        listed_leakage(mechanism, *pair, n_releases).epsilon(0.0).hi
        for pair in mechanism.law_pairs()
    )


def collapse_guarantee(
    one_run: float, n_releases: int, *, example: int, notes: tuple[str, ...] = ()
) -> Guarantee:
    """Claim the exact leakage of one run; several are unbounded."""
    several = whole("n_releases", n_releases) > 1
    return Guarantee(
        notion=PURE,
        bound=math.inf if several else one_run,
        theorem=f"Bai et al. (2026), Section 4, Example {example}",
        notes=(*notes, COLLAPSE_NOTE),
    )


def row_numbers(rows: Array, table: Array) -> IntArray:
    """Return at which row of `table` (m, e), its rows all different, each of `rows` (n, e) is.

    Raises
    ------
    ValueError
        If a row is not in the table.
    """
    if rows.ndim != 2 or rows.shape[1] != table.shape[1]:
        raise ValueError(
            f"databases must have shape (n, {table.shape[1]}), got shape {rows.shape}."
        )
    _, label = np.unique(np.concatenate([table, rows]), axis=0, return_inverse=True)
    label = label.ravel()
    at = np.full(label.max() + 1, -1)
    at[label[: len(table)]] = np.arange(len(table))
    found = at[label[len(table) :]]
    if (found < 0).any():
        stranger = np.asarray(rows)[found < 0][0].tolist()
        raise ValueError(f"databases must be among the {len(table)} of the prior, got {stranger}.")
    return found
