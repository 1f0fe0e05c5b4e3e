"""One release and any of its secrets: mechanisms are calibrated as for the property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from attacks.base import Transcript
from bench.scenarios.base import K
from bench.scenarios.property_subsets import PropertySubsets
from bench.scenarios.secrets.kinds import Kind, Records
from bench.scenarios.secrets.side import Side
from mechanisms.base import Mechanism
from mechanisms.check import FloatArray, IntArray, one_of
from mechanisms.group_privacy import GroupClaim
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.noise.record_claim import claim_from_noise
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, kw_only=True)
class OneRelease:
    """The statistics of `size` records, as in a property scenario, with a secret of another kind.

    Mechanisms get the facts of the property scenario, so that every mechanism is calibrated as it
    would be there; worlds, laws and claims are about the secret at hand. What a mechanism claims
    about the property says nothing here; its noise may (`claim`).

    Parameters
    ----------
    release : PropertySubsets
        Data, statistics, size, property; its model should be "population".
    secret : Kind
    worlds : {"data", "model"}
        Draw worlds from records, or from the laws below.
    """

    release: PropertySubsets
    secret: Kind
    worlds: Literal["data", "model"] = "data"
    synthetic = False

    def __post_init__(self) -> None:
        one_of("worlds", self.worlds, ("data", "model"))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return self.secret.names

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Indices of the secrets to be kept indistinguishable."""
        return self.secret.pairs

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the answer's coordinates."""
        return self.release.statistics

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.release.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """What the property scenario tells of its records."""
        return self.release.notes

    @property
    def worlds_from_model(self) -> bool:
        """Whether worlds are drawn from the laws: always so where the laws are exact."""
        return self.worlds == "model" or not any(side.drawn for side in self._sides)

    def check(self) -> None:
        """Load the records; refuse rows and statistics that they do not have."""
        self.release.check()
        self._sides  # noqa: B018  (computed once, kept)

    @cached_property
    def _sides(self) -> tuple[Side, ...]:
        release = self.release
        return self.secret.sides(
            Records(
                features=release.contributions, moves=release.moves, size=release.size,
                has=release.has_property, shares=release.shares,
            )
        )  # fmt: skip

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw worlds; shadow and test worlds come from the same records, drawn anew."""
        del split
        answers = np.empty((len(secret), len(self.statistics)))
        for value, side in enumerate(self._sides):
            where = np.flatnonzero(secret == value)
            answers[where] = (
                self.law(value).sample(len(where), rng)
                if self.worlds == "model"
                else side.sample(len(where), rng)
            )
        return Transcript(secret=secret, answers=answers)

    def knowledge(self, kind: type[K]) -> K:
        """Offer what the property scenario offers."""
        return self.release.knowledge(kind)

    @cached_property
    def _laws(self) -> tuple[AnswerLaw, ...]:
        return tuple(side.law() for side in self._sides)

    def law(self, secret: int) -> AnswerLaw:
        """Return the law under a value; two Gaussian sides share their average covariance."""
        law = self._laws[secret]
        if not isinstance(law, GaussianLaw):
            return law
        return replace(law, covariance=shared(self._laws))

    def unpooled_law(self, secret: int) -> AnswerLaw:
        """Return the law under a value, with its own covariance."""
        return self._laws[secret]

    def claim(self, mechanism: Mechanism, n_releases: int, delta: float) -> Guarantee | NoClaim:
        """Return what the mechanism's noise guarantees about this secret, by coupling records."""
        replaced = self.secret.replaced or self.release.size
        fixed = isinstance(getattr(mechanism, "claim", None), GroupClaim)
        return claim_from_noise(
            mechanism, self.release.moves, replaced, n_releases=n_releases, delta=delta,
            from_laws=not fixed,
        )  # fmt: skip

    @property
    def estimated(self) -> str:
        """How the protected records got into what calibrates mechanisms."""
        return self.release.estimated


def shared(laws: Sequence[AnswerLaw]) -> FloatArray:
    """Return the average covariance of Gaussian laws."""
    return np.mean([law.covariance for law in laws if isinstance(law, GaussianLaw)], axis=0)
