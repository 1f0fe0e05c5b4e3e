"""Domain: what is told by which values a release can print at all, or by a refusal to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Target, Transcript, UnsupportedMechanismError, Yields
from mechanisms.check import Array, FloatArray, IntArray

FEW = 0.5  # values a shadow world: with more, every value is new


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Score each secret by the printed values that it never prints in shadow worlds.

    Where the set of values that may be printed is read off the protected records (the labels of a
    private table, a range), a value that only one of them holds names it, whatever the noise. A
    missing entry is a value too: a mechanism that refuses says what it refused for. Values that
    both secrets print are left out, however often, so that nothing but the domain is used.
    """

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> DomainAttacker:
        """Collect the values that some secret prints and another does not."""
        del rng
        if not shadow.n_releases:
            raise UnsupportedMechanismError("there is no release whose values could be collected")
        seen = as_rows(shadow.releases)
        values = np.unique(seen)
        if values.size > FEW * len(seen):
            raise UnsupportedMechanismError(
                f"{len(seen)} shadow worlds print {values.size} different values: numbers of a "
                "continuum have no domain to speak of"
            )
        prints = printed(seen, values)
        worlds = np.array([(shadow.secret == s).sum() for s in range(target.n_secrets)])
        often = np.stack([prints[shadow.secret == s].sum(axis=0) for s in range(target.n_secrets)])
        telling = (often == 0).any(axis=0)
        # Half a world more of either kind: what was not seen is rare, not impossible.
        logs = np.log((often + 0.5) / (worlds + 1)[:, None])
        return DomainAttacker(values=values[telling], log_shares=logs[:, telling])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DomainAttacker:
    """Adds up what the telling values among those printed say.

    Parameters
    ----------
    values : array of shape (v,)
        Ascending, NaN last.
    log_shares : array of shape (n_secrets, v)
        Log share of the worlds that print each value.
    """

    values: FloatArray
    log_shares: FloatArray

    def score(self, releases: Array) -> FloatArray:
        """Return the scores of ``(n, k, ...)`` releases, 0 where nothing telling is printed."""
        return printed(as_rows(releases), self.values) @ self.log_shares.T


def as_rows(releases: Array) -> FloatArray:
    """Return every world's printed values in one row."""
    return np.asarray(releases, dtype=np.float64).reshape(len(releases), -1)


def printed(rows: FloatArray, values: FloatArray) -> IntArray:
    """Return whether each row holds each value, (n, v), as 0 or 1; NaN is a value."""
    found = np.zeros((len(rows), values.size), dtype=np.int64)
    if values.size:
        at = np.minimum(np.searchsorted(values, rows), values.size - 1)
        same = (values[at] == rows) | (np.isnan(values[at]) & np.isnan(rows))
        world, place = np.nonzero(same)
        found[world, at[world, place]] = 1
    return found
