"""Small databases, all of them listed with their probabilities."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from attacks.base import Transcript
from bench.core.cell import canonical
from bench.scenarios.base import K, look_up_fact
from mechanisms.check import IntArray, one_of, weights
from mechanisms.collapse.knowledge import DatabasePrior
from mechanisms.knowledge import FiniteAnswers
from mechanisms.laws.finite import FiniteLaw


@dataclass(frozen=True, kw_only=True)
class ListedDatabases:
    """Release a whole database of few entries; the prior is public.

    The answer is the database itself, so that mechanisms that see answers run here too.

    Parameters
    ----------
    databases : nested sequence, m rows of e whole numbers
        All possible databases, each once.
    prior : sequence of m numbers
        Their probabilities, sum 1.
    secret : sequence of m whole numbers, or "entries"
        Code of the secret of each database, 0, 1, ..., all pairs of which are to be kept apart;
        or the value of every entry is a secret, to be kept apart from its other values.
    data : {"same", "new"}
        Whether every release is of the same database, or of one drawn anew given the secret.
    """

    databases: Sequence[Sequence[int]]
    prior: Sequence[float]
    secret: Sequence[int] | Literal["entries"] = "entries"
    data: Literal["same", "new"] = "same"

    def __post_init__(self) -> None:
        one_of("data", self.data, ("same", "new"))
        DatabasePrior(databases=self._rows, prior=self._prior, secret=self._codes)
        codes = self._codes
        if codes is not None and set(codes.tolist()) != set(range(len(set(codes.tolist())))):
            raise ValueError(f"secret must hold the codes 0, 1, ..., got {list(self.secret)}.")
        if not self.pairs:
            raise ValueError("databases must leave a secret two values or more, got one.")
        for name, (held, _) in zip(self.secrets, self._members, strict=True):
            if not self._prior[held].sum() > 0:
                raise ValueError(f"prior must give every secret mass, got none for {name}.")

    synthetic = True
    worlds_from_model = True

    @cached_property
    def _rows(self) -> IntArray:
        return np.asarray(self.databases, dtype=np.int64)

    @cached_property
    def _prior(self) -> np.ndarray:
        return weights("prior", self.prior)

    @property
    def _codes(self) -> IntArray | None:
        if isinstance(self.secret, str):
            if self.secret != "entries":
                raise ValueError(f"secret must be a list or 'entries', got {self.secret!r}.")
            return None
        return np.asarray(self.secret, dtype=np.int64)

    @cached_property
    def _members(self) -> list[tuple[np.ndarray, tuple[int, int]]]:
        """Which databases have each secret, and the secret as (place, value)."""
        columns = self._rows.T if self._codes is None else self._codes[None]
        return [
            (column == value, (place, int(value)))
            for place, column in enumerate(columns)
            for value in np.unique(column)
        ]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        one = self._codes is not None
        return tuple(f"secret={v}" if one else f"X{at + 1}={v}" for _, (at, v) in self._members)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of values of one secret."""
        at = [place for _, (place, _) in self._members]
        n = len(at)
        return tuple((i, j) for i in range(n) for j in range(i + 1, n) if at[i] == at[j])

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the entries."""
        return tuple(f"X{i + 1}" for i in range(self._rows.shape[1]))

    @property
    def digest(self) -> str:
        """Identity of the databases and their law."""
        read = [self._rows.tolist(), self._prior.tolist(), self.secret]
        return hashlib.sha256(canonical(read).encode()).hexdigest()

    def check(self) -> None:
        """Everything was checked when the scenario was built."""

    def law(self, secret: int) -> FiniteLaw:
        """Return the law of the database under a secret."""
        held, _ = self._members[secret]
        mass = self._prior[held]
        return FiniteLaw(atoms=self._rows[held], weights=mass / mass.sum())

    def database_law(self, secret: int) -> FiniteLaw:
        """Return the same law: the answer is the database."""
        return self.law(secret)

    def knowledge(self, kind: type[K]) -> K:
        """Offer the prior of databases, and the laws as those of answers."""
        laws = tuple(self.law(s) for s in range(len(self.secrets)))
        prior = DatabasePrior(databases=self._rows, prior=self._prior, secret=self._codes)
        answers = FiniteAnswers(laws=laws, pairs=self.pairs)
        return look_up_fact({DatabasePrior: prior, FiniteAnswers: answers}, kind)

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw databases from the prior given each world's secret."""
        del split  # the prior is public: shadow worlds are drawn like tested ones
        rows = np.empty((len(secret), self._rows.shape[1]), dtype=np.int64)
        for value in np.unique(secret).tolist():
            where = np.flatnonzero(secret == value)
            rows[where] = self.law(value).sample(len(where), rng).astype(np.int64)
        return Transcript(secret=secret, answers=rows.astype(np.float64), database=rows)
