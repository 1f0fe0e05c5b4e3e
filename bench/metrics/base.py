"""What the harness asks of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from bench.core.intervals import Estimate
from mechanisms.base import HasDeterminism, Mechanism
from mechanisms.check import Array, FloatArray, IntArray, NotPossibleError

Labelled = dict[str, Estimate]


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Released:
    """One repetition of releases beside the exact answers.

    Parameters
    ----------
    answers : array of shape (n, *answer_shape)
    releases : array of shape (n, n_releases, *release_shape)
    """

    answers: Array
    releases: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The scenario's labels: secrets, pairs of their indices, statistics."""

    secrets: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    statistics: tuple[str, ...]

    def pair(self, pair: tuple[int, int]) -> str:
        """Return the label of a pair; empty where there is only one."""
        if len(self.pairs) == 1:
            return ""
        return f"{self.secrets[pair[0]]} | {self.secrets[pair[1]]}"


def leaves_nothing_to_chance(games: Sequence[Released], mechanism: Mechanism) -> bool:
    """Whether every repetition of these worlds gives the same number.

    So for a deterministic mechanism on one and the same answer: recorded counts, say. The number
    is then known, and repeating it makes it no surer.
    """
    if not (isinstance(mechanism, HasDeterminism) and mechanism.deterministic):
        return False
    first = games[0].answers[:1]
    return all(bool((game.answers == first).all()) for game in games)


class NotMeasurableError(NotPossibleError):
    """A metric that is not defined for these releases; the message is the reason."""


class AttackMetric(Protocol):
    """A metric of attack scores."""

    side: ClassVar[str]
    name: str

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Return estimates by statistic label."""


class UtilityMetric(Protocol):
    """A metric of releases against answers: small is good, unless it says ``higher_is_better``."""

    side: ClassVar[str]
    name: str

    def estimate(self, games: list[Released], names: Names, mechanism: Mechanism) -> Labelled:
        """Return estimates by statistic label; raise NotMeasurableError with the reason."""
