"""What an attack sees, and what it returns.

Kerckhoffs: the adversary knows the mechanism, its parameters and the scenario's model, but of
the tested worlds it sees the releases alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.check import Array, FloatArray, IntArray, NotPossibleError
from mechanisms.laws.answer import AnswerLaw


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Worlds:
    """Possible worlds: a secret and the exact answer in each.

    Parameters
    ----------
    secret : array of shape (n,)
        Index into the scenario's secrets.
    answers : array of shape (n, *answer_shape)
    database : array of shape (n, ...) or None
        The records, where a mechanism or an attack works on them.
    """

    secret: IntArray
    answers: Array
    database: Array | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shadow:
    """Worlds that the adversary simulated: secrets, exact answers and releases.

    Parameters
    ----------
    secret : array of shape (n,)
    answers : array of shape (n, *answer_shape)
    releases : array of shape (n, n_releases, *release_shape)
    """

    secret: IntArray
    answers: Array
    releases: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """What the adversary knows about the system under attack.

    Parameters
    ----------
    mechanism : Mechanism
    n_secrets : int
    laws : tuple of AnswerLaw, or None
        The answer's law under each secret; None where the scenario offers none.
    """

    mechanism: Mechanism
    n_secrets: int
    laws: tuple[AnswerLaw, ...] | None


class UnsupportedMechanismError(NotPossibleError):
    """An attack that cannot run against a mechanism; the message is the reason."""


class Attacker(Protocol):
    """A fitted attack."""

    def score(self, releases: Array) -> FloatArray:
        """Return log-scores of shape (n, n_secrets); larger is more likely.

        ``releases`` has shape (n, n_releases, *release_shape).
        """


class Attack(Protocol):
    """What ``conf/attack/*.yaml`` builds.

    ``trained`` says whether the attacker depends on the shadow worlds, ``adaptive`` whether it
    depends on the mechanism: an attacker that does not is fitted once and shared.
    """

    trained: ClassVar[bool]

    @property
    def adaptive(self) -> bool:
        """Whether the fitted attacker depends on the mechanism."""

    def fit(self, shadow: Shadow, target: Target, rng: np.random.Generator) -> Attacker:
        """Fit on shadow worlds; raise UnsupportedMechanismError with the reason if impossible."""
