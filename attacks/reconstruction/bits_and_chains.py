"""Attacks of the cross that rebuild bits of a column, or entries of a chain, from counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Guess, Target, Transcript, UnsupportedMechanismError, Yields
from attacks.reconstruction.chain_counts import ChainCountPosterior
from attacks.reconstruction.subset_counts import Method, RoundedReconstruction, SubsetReconstruction
from mechanisms.base import HasLogDensity
from mechanisms.check import Array, IntArray
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.privacy.bracket import NotComputableError

QUERIES = "queries"
LEARNT = 5_000  # fractional bits on which rounding is learnt at most: programs are slow


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetBits:
    """Rebuild a binary column from counts over public subsets of its rows.

    Releases are averaged; fractional bits fit them best, and are rounded at the Bayes threshold,
    learnt on the shadow worlds.

    Parameters
    ----------
    method : {"by_size", "linear_program", "least_squares"}
        As in `attacks.reconstruction.subset_counts.SubsetReconstruction`.
    """

    yields: ClassVar[Yields] = "guess"
    trained: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = (QUERIES,)
    method: Method = "by_size"

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> BitsGuesser:
        """Learn the rounding on shadow worlds, of either secret in turn."""
        if target.mechanism.sees != "answers" or shadow.database is None:
            raise UnsupportedMechanismError("it needs counts released, and records to learn from")
        if QUERIES not in shadow.public:
            raise UnsupportedMechanismError(f"it needs the public fact {QUERIES!r}")
        queries = shadow.public[QUERIES][0].astype(np.float64)
        attack = SubsetReconstruction(queries=queries, method=self.method)
        size = max(1, min(len(shadow), LEARNT // queries.shape[1]))
        some = shadow.rows(np.sort(rng.permutation(len(shadow))[:size]))
        if some.releases.shape[2:] != (len(queries),):
            raise UnsupportedMechanismError("releases have another shape than the counts")
        assert some.database is not None
        return BitsGuesser(rounded=attack.fit(some.database.astype(np.int64), some.releases))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BitsGuesser:
    """A fitted reconstruction of the bits."""

    rounded: RoundedReconstruction

    def guess(self, releases: Array, queries: Array) -> Guess:
        """Return the more probable value of every bit."""
        distinct = queries[:1] if queries.strides[0] == 0 else queries
        if (distinct != self.rounded.attack.queries).any():
            raise UnsupportedMechanismError("it needs the same subsets in every world")
        return Guess(values=self.rounded.guess(releases))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEntries:
    """Guess every entry of the first sequence by its exact posterior from noisy counts of a state.

    The prior is the chain itself; worlds draw the values of the secret entry alike often, which
    differs from it in that one entry. Other sequences are independent and counted too.
    """

    yields: ClassVar[Yields] = "guess"
    trained: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> EntriesGuesser:
        """Take the chain from the scenario's laws, and the counted state from its answers."""
        del rng
        law = next(iter(target.database_laws or ()), None)
        if not isinstance(law, SequenceLaw) or shadow.database is None:
            raise UnsupportedMechanismError("it needs sequences of a chain")
        if target.mechanism.sees != "answers" or not isinstance(target.mechanism, HasLogDensity):
            raise UnsupportedMechanismError("it needs a noisy count with a release density")
        first, *others = law.lengths
        return EntriesGuesser(
            posterior=ChainCountPosterior(
                transition=law.transition, initial=law.initial, length=first,
                state=_counted(shadow, law), other_lengths=tuple(others),
            ),
            mechanism=target.mechanism,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EntriesGuesser:
    """The exact posterior of the entries."""

    posterior: ChainCountPosterior
    mechanism: HasLogDensity

    def guess(self, releases: Array) -> Guess:
        """Return the likeliest state of each entry of the first sequence."""
        try:
            found = self.posterior.entries(self.mechanism, releases)
        except NotComputableError as error:
            raise UnsupportedMechanismError(str(error)) from error
        return Guess(values=found.argmax(axis=-1), entries=np.arange(self.posterior.length))


def _counted(shadow: Transcript, law: SequenceLaw) -> int:
    """Return the one state whose visits the answers count in all shadow worlds."""
    rows: IntArray = np.asarray(shadow.database)
    for state in range(law.initial.size):
        visits = (rows == state).sum(axis=1, keepdims=True)
        if shadow.answers.shape == visits.shape and (shadow.answers == visits).all():
            return state
    raise UnsupportedMechanismError("answers must count the visits to one state")
