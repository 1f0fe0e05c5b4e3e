"""What the harness asks of a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np

from attacks.base import Guess, Intervals, Transcript
from bench.core.intervals import Estimate
from mechanisms.base import HasDeterminism, Mechanism
from mechanisms.check import Array, FloatArray, IntArray, NotPossibleError

Labelled = dict[str, Estimate]
Needs = Literal["scores", "prefix scores", "guess", "intervals", "releases"]
Blocks = Iterable[Transcript]
# What an attack yields for a metric to need it; "releases" needs no attack.
SERVED_BY: dict[str, tuple[str, ...]] = {
    "scores": ("scores", "secret"), "prefix scores": ("scores", "secret"), "guess": ("guess",),
    "intervals": ("intervals",), "releases": (),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """One repetition of one attack: fresh worlds, and hold-out worlds for choosing thresholds.

    Parameters
    ----------
    secret : array of shape (n,)
    score : array of shape (n, n_secrets)
        Log-scores of the fresh worlds.
    holdout_secret : array of shape (h,)
    holdout_score : array of shape (h, n_secrets)
        Of simulated worlds that the attacker was not trained on.
    """

    secret: IntArray
    score: FloatArray
    holdout_secret: IntArray
    holdout_score: FloatArray


class NotMeasurableError(NotPossibleError):
    """A metric that is not defined for what it is given; the message is the reason."""


F = TypeVar("F", bound=Guess | Intervals)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found(Generic[F]):
    """One repetition of an attack that yields guesses or intervals, beside the truth.

    Parameters
    ----------
    worlds : Transcript
        The fresh worlds, without releases.
    output : Guess or Intervals
    """

    worlds: Transcript
    output: F

    @property
    def truth(self) -> Array:
        """What was guessed or bounded, shape (n, e): the columns of the output."""
        worlds, of = self.worlds, self.output.of
        rows = worlds.answers if of == "answers" else worlds.database
        if rows is None:
            raise NotMeasurableError("the scenario draws no records to compare with")
        flat = rows.reshape(len(rows), -1)
        truth = flat if self.output.entries is None else flat[:, self.output.entries]
        size = (self.output.values if isinstance(self.output, Guess) else self.output.lower).shape
        if size != truth.shape:
            raise ValueError(f"an output of shape {size} is about {of} of shape {truth.shape}.")
        return truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The scenario's labels: secrets, pairs of their indices, statistics."""

    secrets: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    statistics: tuple[str, ...]

    @property
    def in_pairs(self) -> bool:
        """Whether every secret is to be kept from exactly one other."""
        members = [s for pair in self.pairs for s in pair]
        return sorted(members) == list(range(len(self.secrets)))

    @property
    def partners(self) -> IntArray | None:
        """Each secret's partner, where there is one and there are several pairs."""
        if not self.in_pairs or len(self.pairs) == 1:
            return None
        found = np.empty(len(self.secrets), dtype=np.int64)
        for first, second in self.pairs:
            found[first], found[second] = second, first
        return found

    def pair(self, pair: tuple[int, int]) -> str:
        """Return the label of a pair; empty where there is only one."""
        if len(self.pairs) == 1:
            return ""
        return f"{self.secrets[pair[0]]} | {self.secrets[pair[1]]}"


def leaves_nothing_to_chance(games: Sequence[Blocks], mechanism: Mechanism) -> bool:
    """Whether every repetition of these worlds gives the same number.

    So for a deterministic mechanism on one and the same answer: recorded counts, say. The number
    is then known, and repeating it makes it no surer.
    """
    if not (isinstance(mechanism, HasDeterminism) and mechanism.deterministic):
        return False
    first = next(iter(games[0])).answers[:1]
    return all(bool((block.answers == first).all()) for game in games for block in game)


class ScoreMetric(Protocol):
    """A metric of scores of the secret, be they graded or the 0 and 1 of a guess.

    With ``needs = "prefix scores"`` the scores have shape (n, n_releases, n_secrets): those after
    the first release, the first two, and so on.
    """

    needs: ClassVar[Needs]
    name: str

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Return estimates by statistic label; raise NotMeasurableError with the reason."""


class FoundMetric(Protocol[F]):
    """A metric of guesses or of intervals (``needs = "guess"`` or ``"intervals"``)."""

    needs: ClassVar[Needs]
    name: str

    def estimate(self, games: list[Found[F]], names: Names, rng: np.random.Generator) -> Labelled:
        """Return estimates by statistic label; raise NotMeasurableError with the reason."""


class ReleaseMetric(Protocol):
    """A metric of releases against answers: small is good, unless it says ``higher_is_better``.

    A game is the fresh worlds of one repetition, block by block: all in one block unless their
    releases would fill the memory. Reading it again plays it again.
    """

    needs: ClassVar[Needs]
    name: str

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Return estimates by statistic label; raise NotMeasurableError with the reason."""


def per_world(game: Blocks, value: Callable[[Transcript], FloatArray]) -> FloatArray:
    """Return the values of a game's worlds, block after block."""
    return np.concatenate([value(block) for block in game])
