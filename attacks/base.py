"""What an attack sees, and what it yields.

Kerckhoffs: the adversary knows the mechanism, its parameters and the scenario's model, but of
the tested worlds it sees the releases and the public facts alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.check import Array, BoolArray, FloatArray, IntArray, NotPossibleError
from mechanisms.laws.answer import AnswerLaw

Yields = Literal["scores", "secret", "guess", "intervals"]
YIELDS = ("scores", "secret", "guess", "intervals")
Truth = Literal["database", "answers"]
NO_RELEASES = np.empty((0, 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transcript:
    """Worlds and what was released in them, one row a world.

    Scenarios draw worlds before any release; the adversary trains on transcripts of worlds that
    it simulated; of the tested ones it sees `releases` and `public` alone.

    Parameters
    ----------
    secret : array of shape (n,)
        Index into the scenario's secrets.
    answers : array of shape (n, *answer_shape)
    database : array of shape (n, ...) or None
        The records, where a mechanism or an attack works on them.
    releases : array of shape (n, n_releases, *release_shape)
        Releases of the same answer; by default none, of shape (n, 0).
    public : mapping of str to array of shape (n, ...)
        Facts that everybody knows, by name: margins, thresholds, group sizes. One row a world; a
        fact that is the same in all worlds may be broadcast.
    """

    secret: IntArray
    answers: Array
    database: Array | None = None
    releases: Array = field(default_factory=lambda: NO_RELEASES)
    public: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.secret)
        if self.releases is NO_RELEASES:
            object.__setattr__(self, "releases", np.empty((n, 0)))
        named = {"answers": self.answers, "database": self.database, "releases": self.releases}
        for name, rows in (named | {f"public {k!r}": v for k, v in self.public.items()}).items():
            if rows is not None and (np.ndim(rows) < 1 or len(rows) != n):
                raise ValueError(
                    f"{name} must have one row a world, got shape {np.shape(rows)} for {n} worlds."
                )

    def __len__(self) -> int:
        return len(self.secret)

    @property
    def n_releases(self) -> int:
        """Releases of each answer."""
        return self.releases.shape[1]

    def rows(self, which: slice | IntArray) -> Transcript:
        """Return some of the worlds."""
        return replace(
            self,
            secret=self.secret[which],
            answers=self.answers[which],
            database=None if self.database is None else self.database[which],
            releases=self.releases[which],
            public={name: fact[which] for name, fact in self.public.items()},
        )

    def prefix(self, n_releases: int) -> Transcript:
        """Return the same worlds with the first releases only."""
        if n_releases == self.n_releases:
            return self
        return replace(self, releases=np.ascontiguousarray(self.releases[:, :n_releases]))

    @classmethod
    def join(cls, parts: Sequence[Transcript]) -> Transcript:
        """Return the worlds of several transcripts one after the other."""
        first = parts[0]
        if len(parts) == 1:
            return first
        databases = [p.database for p in parts if p.database is not None]
        return cls(
            secret=np.concatenate([p.secret for p in parts]),
            answers=np.concatenate([p.answers for p in parts]),
            database=np.concatenate(databases) if databases else None,
            releases=np.concatenate([p.releases for p in parts]),
            public={name: np.concatenate([p.public[name] for p in parts]) for name in first.public},
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guess:
    """What an attacker takes a database, or part of it, to be.

    Parameters
    ----------
    values : array of shape (n, e)
        Guessed entries. An entry that is left open holds what no entry is: -1 among codes, NaN
        among numbers.
    of : {"database", "answers"}
        What is guessed; its rows are read entry by entry.
    entries : array of shape (e,) or None
        Which entries, counted along a flattened row; None guesses all of them.
    revealed_at : array of shape (n,) or None
        Number of releases, from 1, after which the attacker was certain; 0 where it is not. None
        where the attack never is.
    """

    values: Array
    of: Truth = "database"
    entries: IntArray | None = None
    revealed_at: IntArray | None = None

    def __post_init__(self) -> None:
        _check_rows("values", self.values, 2)
        if self.revealed_at is not None and self.revealed_at.shape != (len(self.values),):
            raise ValueError(
                f"revealed_at must have shape ({len(self.values)},), got {self.revealed_at.shape}."
            )

    @classmethod
    def join(cls, parts: Sequence[Guess]) -> Guess:
        """Return the guesses of consecutive worlds as one."""
        revealed = [p.revealed_at for p in parts if p.revealed_at is not None]
        return replace(
            parts[0],
            values=np.concatenate([p.values for p in parts]),
            revealed_at=np.concatenate(revealed) if revealed else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """Between which values an attacker knows the entries of a database or of an answer to lie.

    Parameters
    ----------
    lower, upper : arrays of shape (n, e)
        Ends included; -inf and inf where nothing limits an entry.
    of : {"database", "answers"}
        What is bounded; its rows are read entry by entry.
    entries : array of shape (e,) or None
        Which entries, counted along a flattened row; None bounds all of them.
    hidden : array of bool of shape (n, e) or None
        Entries that the release does not publish; None where it publishes none.
    """

    lower: FloatArray
    upper: FloatArray
    of: Truth = "answers"
    entries: IntArray | None = None
    hidden: BoolArray | None = None

    def __post_init__(self) -> None:
        _check_rows("lower", self.lower, 2)
        for name, other in (("upper", self.upper), ("hidden", self.hidden)):
            if other is not None and other.shape != self.lower.shape:
                raise ValueError(
                    f"{name} must have the shape {self.lower.shape} of lower, got {other.shape}."
                )
        if not (self.lower <= self.upper).all():
            raise ValueError("lower must be at most upper in every entry.")

    @classmethod
    def join(cls, parts: Sequence[Intervals]) -> Intervals:
        """Return the intervals of consecutive worlds as one."""
        hidden = [p.hidden for p in parts if p.hidden is not None]
        return replace(
            parts[0],
            lower=np.concatenate([p.lower for p in parts]),
            upper=np.concatenate([p.upper for p in parts]),
            hidden=np.concatenate(hidden) if hidden else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """What the adversary knows about the system under attack.

    Parameters
    ----------
    mechanism : Mechanism
    n_secrets : int
    laws, database_laws : tuple of AnswerLaw, or None
        The law under each secret of what the mechanism sees, and of the records, where there is.
    new_data : bool
        Whether every release is of data drawn anew given the secret: releases are then
        independent given it.
    """

    mechanism: Mechanism
    n_secrets: int
    laws: tuple[AnswerLaw, ...] | None
    database_laws: tuple[AnswerLaw, ...] | None = None
    new_data: bool = False


class UnsupportedMechanismError(NotPossibleError):
    """An attack that cannot run against a mechanism; the message is the reason."""


class Scorer(Protocol):
    """A fitted attack that yields scores."""

    def score(self, releases: Array, *args: Any, **public: Any) -> FloatArray:  # noqa: ANN401
        """Return log-scores of shape (n, n_secrets); larger is more likely.

        ``releases`` has shape (n, n_releases, *release_shape). Rows are scored independently.
        """


class SecretGuesser(Protocol):
    """A fitted attack that names the secret: a score of 0 or 1."""

    def guess(self, releases: Array, *args: Any, **public: Any) -> IntArray:  # noqa: ANN401
        """Return the index of one secret a row, shape (n,)."""


class Guesser(Protocol):
    """A fitted attack that guesses a database or part of it."""

    def guess(self, releases: Array, *args: Any, **public: Any) -> Guess:  # noqa: ANN401
        """Return one guess a row."""


class Bounder(Protocol):
    """A fitted attack that bounds entries."""

    def bound(self, releases: Array, *args: Any, **public: Any) -> Intervals:  # noqa: ANN401
        """Return one interval a row and entry."""


Attacker = Scorer | SecretGuesser | Guesser | Bounder


class Attack(Protocol):
    """What ``conf/attack/*.yaml`` builds.

    ``yields`` says what the fitted attack returns, and so which method it has:

    ============= ================ ==========================================================
    "scores"      ``score``        log-scores of the secrets; certifies
    "secret"      ``guess``        the index of one secret, a 0/1 score; certifies
    "guess"       ``guess``        a `Guess` of the database or the answer; never certifies
    "intervals"   ``bound``        `Intervals` of entries; never certifies
    ============= ================ ==========================================================

    ``trained`` says whether the attacker depends on the shadow worlds' releases or secrets,
    ``adaptive`` whether it depends on the mechanism: an attacker that does not is fitted once and
    shared. An attack that also has ``needs``, names of public facts, gets them as arguments of
    these names behind the releases.
    """

    yields: ClassVar[Yields]
    trained: ClassVar[bool]

    @property
    def adaptive(self) -> bool:
        """Whether the fitted attacker depends on the mechanism."""

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> Attacker:
        """Fit on shadow worlds; raise UnsupportedMechanismError with the reason if impossible.

        For an attack that is not trained the shadow worlds come without releases.
        """


def needs_of(attack: Attack) -> tuple[str, ...]:
    """Return the names of the public facts that an attack needs."""
    return tuple(getattr(attack, "needs", ()))


def _check_rows(name: str, rows: Array, ndim: int) -> None:
    if np.ndim(rows) != ndim:
        raise ValueError(f"{name} must have {ndim} dimensions (n, e), got {np.shape(rows)}.")
