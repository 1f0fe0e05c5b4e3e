"""The database beside a decoy from the other secret: no leakage once, the whole database twice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, weights, whole
from mechanisms.collapse.listed import collapse_guarantee, listed_leakage, row_numbers
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecoyDatabase:
    """Release the database and a decoy drawn from the prior given the other secret.

    The left one is a database with secret 0, the right one with secret 1. Whichever secret is
    true, the release has the law ``P(. | secret 0) x P(. | secret 1)``: under this prior one run
    leaks nothing. In further runs the decoy alone changes.

    Parameters
    ----------
    databases : array of whole numbers, shape (m, e)
        All possible databases of e entries, each once.
    prior : array of shape (m,)
        Probabilities, sum 1.
    secret : array of shape (m,)
        Which of the two secrets, 0 or 1, each database has; both must be possible.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), "Composition for Pufferfish Privacy", Example 1.

    Examples
    --------
    >>> decoy = DecoyDatabase(
    ...     databases=[[0], [1], [2], [3]], prior=[0.3, 0.2, 0.3, 0.2], secret=[0, 0, 1, 1]
    ... )
    >>> decoy.guarantee.bound, round(decoy.expected_runs(), 4)
    (0.0, 3.1667)
    """

    sees: ClassVar[Sees] = "database"
    databases: IntArray
    prior: FloatArray
    secret: IntArray

    def __post_init__(self) -> None:
        databases, prior = np.asarray(self.databases), weights("prior", self.prior)
        secret = np.asarray(self.secret)
        if databases.ndim != 2 or not prior.shape == secret.shape == databases.shape[:1]:
            raise ValueError(
                "databases must have shape (m, e), prior and secret (m,), "
                f"got {databases.shape}, {prior.shape} and {secret.shape}."
            )
        if not np.isin(secret, (0, 1)).all():
            raise ValueError(f"secret must be 0 or 1, got {secret[~np.isin(secret, (0, 1))][0]}.")
        if len(np.unique(databases, axis=0)) < len(databases):
            raise ValueError("databases must all be different.")
        for s in (0, 1):
            if not prior[secret == s].sum() > 0:
                raise ValueError(f"prior must give both secrets mass, got none for secret {s}.")
        object.__setattr__(self, "databases", databases.astype(np.int64))
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "secret", secret.astype(np.int64))

    @property
    def guarantee(self) -> Guarantee:
        """What one run guarantees under this prior: epsilon = 0."""
        return collapse_guarantee(0.0, 1, example=1, notes=self.notes)

    def repeated_guarantee(self, n_releases: int) -> Guarantee:
        """Return what several runs guarantee: nothing, unless neither side can ever change."""
        claim = collapse_guarantee(0.0, n_releases, example=1, notes=self.notes)
        frozen = self._largest(0) == 1 == self._largest(1)
        return replace(claim, bound=0.0) if frozen else claim

    @property
    def notes(self) -> tuple[str, ...]:
        """Say in words under which secret the database is never revealed, if under any."""
        return tuple(
            f"P(. | secret {1 - s}) is a point mass: under secret {s} the decoy never changes, so "
            "the database is never revealed and the expected number of runs is infinite"
            for s in (0, 1)
            if self._largest(1 - s) == 1
        )

    def law(self, secret: int) -> FiniteLaw:
        """Return the law of the database given a secret."""
        member = self.secret == secret
        mass = self.prior[member]
        return FiniteLaw(atoms=self.databases[member], weights=mass / mass.sum())

    def law_pairs(self) -> tuple[tuple[FiniteLaw, FiniteLaw], ...]:
        """Return the one secret pair under the one prior."""
        return ((self.law(0), self.law(1)),)

    def outputs(self) -> IntArray:
        """Return all pairs of a database with secret 0 and one with secret 1, (c, 2, e)."""
        left, right = (np.flatnonzero(self.secret == s) for s in (0, 1))
        pairs = np.stack(np.meshgrid(left, right, indexing="ij"), axis=-1).reshape(-1, 2)
        return self.databases[pairs]

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Release pairs of databases, shape (n_trials, 2, e), of databases ``(n_trials, e)``."""
        own = row_numbers(np.asarray(x), self.databases)
        sides = np.stack([rng.choice(len(self.prior), len(own), p=p) for p in self._given()], 1)
        np.put_along_axis(sides, self.secret[own][:, None], own[:, None], axis=1)
        return self.databases[sides]

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of releases ``(n, 1, 2, e)`` given databases ``(1, a, e)``: (n, a)."""
        own = row_numbers(np.asarray(answers)[0], self.databases)
        left, right = (
            row_numbers(np.asarray(releases)[:, 0, s], self.databases)[:, None] for s in (0, 1)
        )
        with np.errstate(divide="ignore"):
            logs = np.log(self._given())
        given_first = np.where(left == own, logs[1][right], -np.inf)
        given_second = np.where(right == own, logs[0][left], -np.inf)
        return np.where(self.secret[own] == 0, given_first, given_second)

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the laws of several runs on one database, listed."""
        return listed_leakage(self, first, second, n_releases)

    def expected_runs(self, secret: int | None = None) -> float:
        """Return the expected number of runs until the database is revealed; inf for never.

        Under secret s the decoy d is drawn from p = P(. | 1 - s); the first run whose decoy
        differs from that of the first run reveals: ``1 + sum_d p(d) / (1 - p(d))``.

        Parameters
        ----------
        secret : {0, 1}, optional
            The true secret; without it, the mean over the prior.
        """
        if secret is None:
            mass = self.prior[self.secret == 1].sum()
            return float((1 - mass) * self.expected_runs(0) + mass * self.expected_runs(1))
        p = self._decoys(secret)
        return math.inf if p.size == 1 else 1 + float((p / (1 - p)).sum())

    def revealed_within(self, n_releases: int, secret: int | None = None) -> float:
        """Return the probability that `n_releases` runs reveal the database."""
        if secret is None:
            mass = self.prior[self.secret == 1].sum()
            first, second = (self.revealed_within(n_releases, s) for s in (0, 1))
            return float((1 - mass) * first + mass * second)
        p = self._decoys(secret)
        return float(1 - (p ** whole("n_releases", n_releases)).sum())

    def _given(self) -> FloatArray:
        """Return P(database | secret) for both secrets, shape (2, m)."""
        rows = np.stack([np.where(self.secret == s, self.prior, 0.0) for s in (0, 1)])
        return rows / rows.sum(axis=1, keepdims=True)

    def _decoys(self, secret: int) -> FloatArray:
        """Return the probabilities of the possible decoys under a true secret."""
        if secret not in (0, 1):
            raise ValueError(f"secret must be 0 or 1, got secret={secret!r}.")
        p = self._given()[1 - secret]
        return p[p > 0]

    def _largest(self, secret: int) -> float:
        return float(self._given()[secret].max())
