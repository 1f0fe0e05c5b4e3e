"""Exact leakage of mechanisms on small databases, all of whose outputs are listed."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from mechanisms.check import Array, FloatArray, IntArray, whole
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.finite_channel import channel_pair
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import PURE

COLLAPSE_NOTE = "does not compose: two runs can reveal the whole database"


class Listed(Protocol):
    """A mechanism whose outputs, and the pairs of laws that it is to protect, can be listed."""

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

    Raises
    ------
    NotComputableError
        If a law is not finite, or there are too many tables of outputs to list.
    """
    if not (isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw)):
        raise NotComputableError("exact leakage needs finitely many databases")
    outputs = mechanism.outputs()[:, None]
    one, other = (
        (law, mechanism.log_density(outputs, law.atoms[None]).T) for law in (first, second)
    )
    return channel_pair(one, other, n_releases)


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


def row_numbers(rows: Array, table: IntArray) -> IntArray:
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
