"""What the harness asks of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from attacks.base import Transcript
from mechanisms.base import Knowledge, Mechanism, NotOfferedError
from mechanisms.check import Array, FloatArray, IntArray
from mechanisms.laws.answer import AnswerLaw
from mechanisms.privacy.guarantee import Guarantee, NoClaim

K = TypeVar("K", bound=Knowledge)


class Scenario(Protocol):
    """A dataset, a query, secret pairs, and what curator and adversary are assumed to know.

    ``secrets`` names the values of the secret; ``pairs`` are those to be kept apart;
    ``statistics`` names the coordinates of the answer; ``digest`` identifies the data;
    ``synthetic`` says whether no record of a person is among them; ``worlds_from_model`` whether
    worlds are drawn from the curator's model rather than from records.
    """

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Indices of the secrets to be kept indistinguishable."""

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the answer's coordinates."""

    @property
    def digest(self) -> str:
        """Identity of the data, for cell keys."""

    @property
    def synthetic(self) -> bool:
        """Whether the data are generated, none of them recorded."""

    @property
    def worlds_from_model(self) -> bool:
        """Whether worlds are drawn from the model that laws and knowledge describe."""

    def check(self) -> None:
        """Load the data and raise ValueError on what does not fit, before anything is computed."""

    def knowledge(self, kind: type[K]) -> K:
        """Return one typed fact, or raise NotOfferedError."""

    def law(self, secret: int) -> AnswerLaw:
        """Return the answer's law under a secret, or raise NotOfferedError."""

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw one world an entry of `secret`; split is "shadow" or "test"."""


@runtime_checkable
class HasUnpooledLaws(Protocol):
    """A scenario whose model simplifies: it also knows each secret's law without that step."""

    def unpooled_law(self, secret: int) -> AnswerLaw:
        """Return the answer's law under a secret, not made to agree with the other side."""


@runtime_checkable
class HasNotes(Protocol):
    """A scenario that tells what was dropped, merged or counted while its data were read."""

    @property
    def notes(self) -> tuple[str, ...]:
        """One line each."""


@runtime_checkable
class HasClaim(Protocol):
    """A scenario whose secrets are not those that mechanisms are calibrated to."""

    def claim(self, mechanism: Mechanism, n_releases: int, delta: float) -> Guarantee | NoClaim:
        """Return what follows from the mechanism about the scenario's own secrets."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrueAnswer:
    """The answer of the recorded data themselves, to be released once.

    Parameters
    ----------
    answer : array of shape (1, *shape)
    whole : array of bool, broadcast against the answer
        Which coordinates are whole numbers whatever the data: counts.
    note : str
        Of which records.
    groups : tuple of str
        Names of the first axis of a two-dimensional answer.
    """

    answer: FloatArray
    whole: Array
    note: str
    groups: tuple[str, ...] = ()


@runtime_checkable
class HasTrueAnswer(Protocol):
    """A scenario that knows the answer of the recorded data themselves."""

    def true_answer(self, rng: np.random.Generator) -> TrueAnswer:
        """Return it; chance decides which records, where a release is about some of them."""


@runtime_checkable
class HasData(Protocol):
    """A scenario that says whether several releases are of the same data.

    ``data = "new"``: a world's data are drawn anew, given its secret, for every release after the
    first; releases are then independent given the secret. Other scenarios' data stay.
    """

    @property
    def data(self) -> Literal["same", "new"]:
        """Whether data stay, or are new at every release."""


@runtime_checkable
class HasDatabaseLaw(Protocol):
    """A scenario that knows the law of its whole database, for mechanisms that work on records."""

    def database_law(self, secret: int) -> AnswerLaw:
        """Return the database's law under a secret."""


@runtime_checkable
class HasFixedParts(Protocol):
    """A scenario whose worlds were recorded: each part is as it is, whatever sizes are asked."""

    def fixed_part(self, part: str) -> Transcript:
        """Return the worlds of "shadow", "holdout" or "test"."""


def has_new_data(scenario: Scenario) -> bool:
    """Whether every release is of new data; other scenarios may call a table `data`."""
    data = scenario.data if isinstance(scenario, HasData) else "same"
    return isinstance(data, str) and data == "new"


def look_up_fact(facts: dict[type[Knowledge], Knowledge], kind: type[K]) -> K:
    """Return the fact of type `kind`, or say which facts are offered."""
    for fact in facts.values():
        if isinstance(fact, kind):
            return fact
    names = ", ".join(sorted(t.__name__ for t in facts)) or "nothing"
    raise NotOfferedError(f"the scenario offers {names}, not {kind.__name__}")


def make_fact(facts: dict[type[Knowledge], Callable[[], Any]], kind: type[K]) -> K:
    """Return the fact of type `kind`, made now, or say which facts are offered."""
    for offered, make in facts.items():
        if issubclass(offered, kind):
            return make()
    names = ", ".join(sorted(t.__name__ for t in facts))
    raise NotOfferedError(f"the scenario offers {names}, not {kind.__name__}")
