"""Label counts of groups of users, released as rankings; the recorded counts themselves."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attacks.base import Transcript
from attacks.outside.public_fields import guess_by_group
from bench.datasets.sequences.chains import never_left_notes
from bench.datasets.sequences.sequence_file import SequenceFile
from bench.datasets.sequences.sequence_statistics import (
    OTHER,
    Population,
    SequenceStatistics,
    Steps,
)
from bench.datasets.source import DataError
from bench.datasets.table.table_file import MISSING
from bench.scenarios.base import K, TrueAnswer, make_fact
from mechanisms.base import NotOfferedError
from mechanisms.check import FloatArray, IntArray, one_of, whole, within
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.fit import SMOOTHING, row_frequencies, smooth
from mechanisms.influence.knowledge import PUBLIC, Candidates, ChainKnowledge, CurveKnowledge
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.uncertainty import (
    UncertaintyOn,
    UncertaintyTable,
    chain_conditions,
    several_users,
    uncertain_curve,
    uncertainty_penalty,
)
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.answer import AnswerLaw
from mechanisms.top_k.training_majority import TrainingCounts

TOP = 3  # places that rankings show by default


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """Count labels group by group in the queried part of users' sequences.

    Every world holds the recorded counts: this scenario measures utility (worlds conditioned on
    one entry are those of `bench.scenarios.chain_histogram`). The secret of an entry is its
    label, against any other label; group and time of every entry are public, and so are the
    training sequences, to which the curator fits one chain for all users. Queried sequences are
    modelled as starting from its stationary law, as published: what a user's last training label
    tells about the first queried ones is not covered by the claims.

    Parameters
    ----------
    population : Population
    other : bool
        Whether "Other" may be an answer.
    smoothing : float in [0, 1)
        Mass given to every transition that was never seen.
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

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Section 7.1.
    """

    population: Population
    other: bool = False
    smoothing: float = SMOOTHING
    uncertainty: float = 0.0
    uncertainty_on: UncertaintyOn = "joint"
    uncertainty_table: UncertaintyTable = "user"
    b_max: int | None = None

    secrets = ("an entry's label",)
    pairs = ()
    worlds_from_model = False

    def __post_init__(self) -> None:
        if self.b_max is not None:
            whole("b_max", self.b_max)
        within("smoothing", self.smoothing, 0, 1, ends="[)")
        within("uncertainty", self.uncertainty, 0, 1, ends="[)")
        uncertainty_penalty(self.uncertainty, self.uncertainty_on)
        one_of("uncertainty_table", self.uncertainty_table, ("user", "database"))
        if not isinstance(self.other, bool):
            raise ValueError(f"other must be true or false, got other={self.other!r}.")

    def check(self) -> None:
        """Load the sequences and fit the chain; refuse what does not fit."""
        self.chain  # noqa: B018  (computed once, kept)
        if len(self.statistics) < 2:
            raise DataError(f"a ranking needs two labels or more, got {list(self.statistics)}.")

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The sequences' statistics."""
        return self.population.sequence_statistics

    @property
    def synthetic(self) -> bool:
        """Whether the sequences are generated, none of them recorded."""
        return self.population.synthetic

    @property
    def digest(self) -> str:
        """Identity of the sequences' statistics."""
        return self.sequence_statistics.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """What is public, and what was dropped, merged or counted while the sequences were read."""
        filled = np.count_nonzero(self.counts, axis=1)
        empty, few = int((filled == 0).sum()), int(((filled > 0) & (filled < TOP)).sum())
        counts = (
            (empty, "groups without a queried entry are left out"),
            (few, f"groups have fewer than {TOP} labels with an entry: ties at 0 fill their top"),
        )
        counted = (f"{count} of {len(filled)} {what}" for count, what in counts if count)
        found = self.sequence_statistics
        never_left = np.flatnonzero(found.transitions.sum(axis=1) == 0)
        never = never_left_notes([found.states[i] for i in never_left])
        return (PUBLIC, self._starting_point, *found.notes, *never, *counted)

    @property
    def _starting_point(self) -> str:
        """What public fields tell of a queried label before any release."""
        found = self.sequence_statistics
        plain, grouped, n = guess_by_group(found.training, found.query)
        return (
            f"before any release the training part's most frequent label is right for "
            f"{plain / n:.3f} of {n} queried entries, the most frequent one of an entry's group "
            f"for {grouped / n:.3f}"
        )

    @cached_property
    def _answered(self) -> IntArray:
        """Codes of the labels that may be an answer."""
        names = self.sequence_statistics.states
        return np.array([i for i, s in enumerate(names) if self.other or s != OTHER], dtype=int)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Labels that are counted, the coordinates of a group's answer."""
        return tuple(self.sequence_statistics.states[i] for i in self._answered)

    @cached_property
    def chain(self) -> MarkovChain:
        """The chain of the training sequences, started from its stationary law."""
        return MarkovChain(transition=smooth(row_frequencies(self.sequence_statistics.transitions),
                                             self.smoothing))  # fmt: skip

    @property
    def curve(self) -> InfluenceCurve:
        """The influence curve of all users' sequences: the longest decides."""
        size = len(self.sequence_statistics.states)
        longest = int(self.sequence_statistics.lengths.max())
        curve = nominal_curve(self.chain.transition.tobytes(), size, longest, self.b_max)
        return (
            uncertain_curve(curve, self.uncertainty, self.uncertainty_on, database=self._database)
            if self.uncertainty
            else curve
        )

    @property
    def _database(self) -> int | None:
        """Entries of the uncertain table, where that is the whole database's."""
        whole_table = self.uncertainty_table == "database" and self.uncertainty > 0
        return int(self.sequence_statistics.lengths.sum()) if whole_table else None

    @cached_property
    def counts(self) -> FloatArray:
        """The exact answer, shape (groups, labels)."""
        return self.sequence_statistics.query[:, self._answered].astype(np.float64)

    def knowledge(self, kind: type[K]) -> K:
        """Offer the curve, the chain, sensitivity, candidates and the training counts."""
        size = len(self._answered)
        users = len(self.sequence_statistics.lengths)
        facts = {
            CurveKnowledge: lambda: CurveKnowledge(
                curve=self.curve, conditions=several_users(users, self._database)
            ),
            ChainKnowledge: lambda: ChainKnowledge(
                chains=(self.chain,),
                # The longest decides every scale.
                lengths=(int(self.sequence_statistics.lengths.max()),),
                uncertainty_penalty=uncertainty_penalty(self.uncertainty, self.uncertainty_on),
                database=self._database,
                conditions=chain_conditions(
                    users, self._database, self.uncertainty, self.uncertainty_on
                ),
            ),
            # One entry moves one count down by 1 and another up by 1, in one group.
            Sensitivity: lambda: Sensitivity(
                l1=2.0, l2=2.0**0.5, unit="entry", size=int(self.sequence_statistics.lengths.max()),
                dimension=size,
            ),
            Candidates: lambda: Candidates(
                values=np.arange(size, dtype=np.float64), utility="largest", sensitivity=1.0
            ),
            TrainingCounts: lambda: TrainingCounts(
                counts=self.sequence_statistics.training[:, self._answered].astype(np.float64)
            ),
        }  # fmt: skip
        return make_fact(facts, kind)

    def law(self, secret: int) -> AnswerLaw:
        """Refuse: the recorded counts are one draw, and no law is assumed of the whole."""
        del secret
        raise NotOfferedError("the recorded counts have no law; exact leakage needs a small chain")

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Return the recorded counts in every world."""
        del split, rng
        return Transcript(
            secret=secret, answers=np.broadcast_to(self.counts, (len(secret), *self.counts.shape))
        )

    def true_answer(self, rng: np.random.Generator) -> TrueAnswer:
        """Return the recorded counts, group by group."""
        del rng
        return TrueAnswer(
            answer=self.counts[None],
            whole=np.array([True]),
            note=f"all {int(self.counts.sum())} queried entries",
            groups=self.sequence_statistics.groups,
        )


@functools.lru_cache(maxsize=8)
def nominal_curve(transition: bytes, size: int, length: int, b_max: int | None) -> InfluenceCurve:
    """Compute a stationary chain's curve once a process for all readings of its uncertainty."""
    chain = MarkovChain(transition=np.frombuffer(transition).reshape(size, size))
    return chain_curve(chain, length, b_max=b_max)


def of_file(
    path: str | None,
    *,
    user: str | int = "user",
    time: str | int = "time",
    label: str | int = "label",
    group: str | int | None = "group",
    train: float = 0.8,
    labels: Sequence[str | int | bool] | None = None,
    steps: Steps = "all",
    separator: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    names: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    other: bool = False,
    smoothing: float = SMOOTHING,
    uncertainty: float = 0.0,
    uncertainty_on: UncertaintyOn = "joint",
    uncertainty_table: UncertaintyTable = "user",
    b_max: int | None = None,
) -> Sequences:
    """Build the scenario of any table of (user, time, label, group).

    The parameters up to `missing` are those of
    `bench.datasets.sequences.sequence_file.SequenceFile`, the rest those of `Sequences`.
    """
    file = SequenceFile(
        path=path, user=user, time=time, label=label, group=group, train=train, labels=labels,
        steps=steps, separator=separator, encoding=encoding, decimal=decimal, names=names,
        missing=missing,
    )  # fmt: skip
    return Sequences(
        population=file, other=other, smoothing=smoothing, uncertainty=uncertainty,
        uncertainty_on=uncertainty_on, uncertainty_table=uncertainty_table, b_max=b_max,
    )  # fmt: skip
