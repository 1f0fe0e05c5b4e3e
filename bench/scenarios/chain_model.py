"""Sequences of a Markov chain; the secret is the state at one position of one sequence."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from attacks.base import Transcript
from bench.core.cell import canonical
from bench.datasets.sequences.chains import ChainSource
from bench.datasets.table.label_option import label_of
from bench.scenarios.chain_positions import positions_of
from bench.scenarios.listed_sequences import listed_sequences
from bench.scenarios.recorded import CountedAnswers
from bench.scenarios.windows import recorded_windows
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.check import FloatArray, IntArray, one_of, whole
from mechanisms.collapse.knowledge import DatabasePrior
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.combination import pointwise_max
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.knowledge import ChainKnowledge, CurveKnowledge, EntryValues
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.uncertainty import (
    UncertaintyOn,
    UncertaintyTable,
    chain_conditions,
    several_users,
    uncertain_curve,
    uncertainty_penalty,
)
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw

Facts = dict[type[Knowledge], Callable[[], Knowledge]]


@dataclass(frozen=True, kw_only=True)
class ChainModel:
    """What scenarios on Markov chains share: sequences, secrets, and what the curator knows.

    Worlds are sequences drawn from the chain given the secret entry (forward filtering, backward
    sampling); the database is the sequences one after the other. The curator knows the lengths
    and a class Theta of chains; group and time of an entry are public.

    Parameters
    ----------
    source : ChainSource
        The chain that worlds are drawn from; it belongs to Theta.
    length : int or None
        Steps of every sequence; None takes those of the sequences the chain was fitted to.
    users : int
        Independent sequences of this length.
    positions : "middle", "all" or sequence of int
        Where the secret entry is, from 1, in the longest sequence; each is a secret of its own.
    values : sequence of str, int or bool, or None
        States to be told apart; None takes all that are possible.
    initial_law : {"fixed", "any"}
        Initial laws in Theta: the source's own, or all.
    additional_priors : sequence of ChainSource
        Further chains of Theta, on the same states.
    uncertainty : float in [0, 1)
        Relative uncertainty t of the curator's probabilities, ``(1 - t) p`` to ``(1 + t) p``.
    uncertainty_on : {"joint", "conditional"}
        Which probabilities those bound.
    uncertainty_table : {"user", "database"}
        Of what: each user's own entries, users being independent of each other under every prior,
        or all entries of the database, under which users may be tied.
    b_max : int or None
        Largest tabulated b of the influence curve; beyond it the curve is held at its last value.
        None tabulates until no larger b could serve an epsilon of .05 or more.
    """

    source: ChainSource
    length: int | None = None
    users: int = 1
    positions: Literal["middle", "all"] | Sequence[int] = "middle"
    values: Sequence[str | int | bool] | None = None
    initial_law: Literal["fixed", "any"] = "fixed"
    additional_priors: Sequence[ChainSource] = field(default_factory=tuple)
    uncertainty: float = 0.0
    uncertainty_on: UncertaintyOn = "joint"
    uncertainty_table: UncertaintyTable = "user"
    b_max: int | None = None

    def __post_init__(self) -> None:
        if self.length is not None:
            whole("length", self.length)
        whole("users", self.users)
        if self.b_max is not None:
            whole("b_max", self.b_max)
        uncertainty_penalty(self.uncertainty, self.uncertainty_on)
        one_of("uncertainty_table", self.uncertainty_table, ("user", "database"))
        one_of("initial_law", self.initial_law, ("fixed", "any"))
        if isinstance(self.positions, str) and self.positions not in ("middle", "all"):
            raise ValueError(
                f"positions must be 'middle', 'all' or whole numbers, got {self.positions!r}."
            )

    worlds_from_model = True

    @property
    def synthetic(self) -> bool:
        """Whether the chain is invented rather than counted in records."""
        return self.source.synthetic

    @property
    def notes(self) -> tuple[str, ...]:
        """What was dropped or reordered while the chains' sequences were read."""
        return tuple(
            note
            for source in (self.source, *self.additional_priors)
            for note in getattr(source, "notes", ())
        )

    def check(self) -> None:
        """Load the chain; refuse states, positions and values that do not fit it."""
        self._secrets  # noqa: B018  (computed once, kept)
        self.theta_chains  # noqa: B018

    @cached_property
    def digest(self) -> str:
        """Identity of Theta, of the states' names and of the lengths."""
        parts = [self.source.digest, *(other.digest for other in self.additional_priors)]
        read = [parts, self.lengths, self.source.states]
        return hashlib.sha256(canonical(read).encode()).hexdigest()

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the sequences, the longest first."""
        if self.length is not None:
            return (self.length,) * self.users
        if not self.source.lengths:
            raise ValueError("length must be given for a chain that was not fitted to sequences.")
        return tuple(sorted(self.source.lengths, reverse=True))

    @cached_property
    def theta_chains(self) -> tuple[MarkovChain, ...]:
        """The class Theta."""
        others = (other.chain for other in self.additional_priors)
        chains = [self.source.chain, *getattr(self.source, "user_chains", ()), *others]
        sizes = {len(chain.transition) for chain in chains}
        if len(sizes) > 1:
            raise ValueError(f"the chains of Theta must share their states, got {sorted(sizes)}.")
        if self.initial_law == "any":
            chains = [MarkovChain(transition=c.transition, initial="free") for c in chains]
        return tuple(chains)

    @property
    def one_prior(self) -> bool:
        """Whether Theta is the one law that worlds are drawn from."""
        sure = self.uncertainty == 0 and self.initial_law == "fixed"
        return sure and len(self.theta_chains) == 1 and self.source.chain.start != "free"

    def state(self, label: str | int | bool) -> int:
        """Return the code of a state; refuse a label that the chain does not have."""
        found, _ = label_of("state", label, self.source.states, "the chain")
        return self.source.states.index(found)

    @cached_property
    def _secrets(self) -> list[tuple[int, int]]:
        """(position, state) of every secret."""
        longest, law = self.lengths[0], self.source.chain.first_law
        possible = []
        for _ in range(longest):
            possible.append(np.flatnonzero(law > 0))
            law = law @ self.source.chain.transition
        wanted = None if self.values is None else [self.state(v) for v in self.values]
        found = []
        for position in positions_of(self.positions, longest):
            values = [int(s) for s in possible[position - 1] if wanted is None or s in wanted]
            if len(values) > 1:
                found += [(position, value) for value in values]
            elif self.positions != "all":
                raise ValueError(
                    f"the entry at position {position} must have two possible values or more, "
                    f"got {[self.source.states[v] for v in values]}."
                )
        if not found:
            raise ValueError("no entry has two possible values: there is no secret.")
        return found

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return tuple(f"X{i}={self.source.states[s]}" for i, s in self._secrets)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of values at the same position."""
        at = [position for position, _ in self._secrets]
        n = len(at)
        return tuple((i, j) for i in range(n) for j in range(i + 1, n) if at[i] == at[j])

    def database_law(self, secret: int) -> SequenceLaw:
        """Return the law of the sequences under a secret."""
        position, value = self._secrets[secret]
        chain = self.source.chain
        return SequenceLaw(
            transition=chain.transition,
            initial=chain.first_law,
            lengths=self.lengths,
            position=position,
            value=value,
        )

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw sequences from the chain given each world's secret, in order of the secrets."""
        del split  # the adversary knows the chain: shadow worlds are drawn like tested ones
        database = np.empty((len(secret), sum(self.lengths)), dtype=np.int64)
        for value in np.unique(secret).tolist():
            where = np.flatnonzero(secret == value)
            database[where] = self.database_law(value).sample(len(where), rng)
        return Transcript(secret=secret, answers=self.answers_of(database), database=database)

    @property
    def estimated(self) -> str:
        """How the protected sequences got into the chain; empty where they did not."""
        return getattr(self.source, "estimated", "")

    def recorded(self) -> CountedAnswers:
        """Return the answers on all windows of the protected sequences."""
        return self._windows

    @cached_property
    def _windows(self) -> CountedAnswers:
        if len(self.lengths) > 1:
            raise NotOfferedError("windows of records are those of one sequence, not of several")
        found = getattr(self.source, "protected", ())
        return recorded_windows(found, self.lengths[0], self._secrets, self.answers_of)

    def answers_of(self, database: IntArray) -> FloatArray:
        """Return the answers ``(n, m)`` of databases ``(n, entries)``."""
        raise NotImplementedError

    def law(self, secret: int) -> FiniteLaw:
        """Return the exact law of the answer under a secret."""
        raise NotImplementedError

    @cached_property
    def curve(self) -> InfluenceCurve:
        """The influence curve of Theta, uncertainty included."""
        curves = [chain_curve(c, self.lengths, b_max=self.b_max) for c in self.theta_chains]
        curve = curves[0] if len(curves) == 1 else pointwise_max(curves)
        return curve if not self.uncertainty else uncertain_curve(
            curve, self.uncertainty, self.uncertainty_on, database=self._database
        )  # fmt: skip

    @property
    def _database(self) -> int | None:
        """Entries of the uncertain table, where that is the whole database's."""
        whole_table = self.uncertainty_table == "database" and self.uncertainty > 0
        return sum(self.lengths) if whole_table else None

    def shared_facts(self) -> Facts:
        """Return how each fact that does not depend on the query is made."""
        return {
            CurveKnowledge: lambda: CurveKnowledge(
                curve=self.curve, conditions=several_users(len(self.lengths), self._database)
            ),
            ChainKnowledge: lambda: ChainKnowledge(
                chains=self.theta_chains,
                lengths=self.lengths,
                uncertainty_penalty=uncertainty_penalty(self.uncertainty, self.uncertainty_on),
                database=self._database,
                conditions=chain_conditions(
                    len(self.lengths), self._database, self.uncertainty, self.uncertainty_on
                ),
            ),
            EntryValues: lambda: EntryValues(states=len(self.source.states)),
            DatabasePrior: self._listed,
        }

    def _listed(self) -> DatabasePrior:
        self.only_one_prior(DatabasePrior)
        at = sorted({p for p, _ in self._secrets}) if self.values is None else []
        return listed_sequences(self.source.chain, self.lengths, at[0] if len(at) == 1 else None)

    def only_one_prior(self, kind: type[Knowledge]) -> None:
        """Refuse a fact that describes the answers under one prior where Theta holds more."""
        if not self.one_prior:
            raise NotOfferedError(
                f"{kind.__name__} describes one prior; the curator's Theta holds more than one"
            )
