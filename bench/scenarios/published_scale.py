"""The scale of a mechanism's noise as a release of its own, of the records that calibrated it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attacks.base import Transcript
from bench.scenarios.base import K
from bench.scenarios.numeric_column import NumericColumn
from mechanisms.base import Calibration, NotApplicableError, NotOfferedError
from mechanisms.check import FloatArray, IntArray
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw


@dataclass(frozen=True, kw_only=True)
class PublishedScale:
    """Publish what a mechanism was calibrated to; the secret is one record's own.

    A world is a record of the table, whose secret is not known; all others and the record's number
    are. The answer is the deviation of the noise that the table, with this record's secret, leads
    to. A mechanism protects an answer; nothing protects its parameters.

    Parameters
    ----------
    of : NumericColumn
        A table with one pair of secrets.
    calibration : Calibration
    budget : mapping
        Its budget: epsilon, and order or delta where it takes one.
    """

    of: NumericColumn
    calibration: Calibration
    budget: Mapping[str, float]

    statistics = ("deviation of the noise",)
    worlds_from_model = False
    synthetic = False

    def __post_init__(self) -> None:
        if self.of.pairs != ((0, 1),):
            raise ValueError(f"of must have one pair of secrets, got pairs={self.of.pairs!r}.")
        if self.of.model != "table":
            raise ValueError(
                f"of must be calibrated on its own records (model='table'), got {self.of.model!r}: "
                "laws of other records tell nothing of these."
            )

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values of the record's secret."""
        return self.of.secrets

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The one pair."""
        return self.of.pairs

    @property
    def digest(self) -> str:
        """Identity of the table."""
        return self.of.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """How many records lead to another scale with the other secret."""
        read = sum(
            count
            for secret, law in enumerate(self.of.laws)
            for value, count in zip(law.atoms.tolist(), _counts(law), strict=True)
            if self._deviation(value, secret, 0) != self._deviation(value, secret, 1)
        )
        total = sum(sum(_counts(law)) for law in self.of.laws)
        return (*self.of.notes, f"{read} of {total} records lead to a scale of their own")

    def check(self) -> None:
        """Load the table and calibrate once."""
        self.of.check()
        self._deviation(float(self.of.laws[0].atoms[0]), 0, 0)

    @cached_property
    def _known(self) -> dict[tuple[float, int, int], float]:
        return {}

    def _deviation(self, value: float, secret: int, other: int) -> float:
        """Return the noise's deviation if a record of this value and secret had another one."""
        key = (value, secret, other) if secret != other else (0.0, 0, 0)
        if key not in self._known:
            self._known[key] = self._calibrated(value, secret, other)
        return self._known[key]

    def _calibrated(self, value: float, secret: int, other: int) -> float:
        laws = list(self.of.laws)
        if secret != other:
            laws[secret] = _with(laws[secret], value, -1)
            laws[other] = _with(laws[other], value, 1)
        calibration = self.calibration
        knowledge = [self._fact(kind, tuple(laws)) for kind in calibration.requires]
        budget = calibration.accepts(**self.budget)
        mechanism = calibration.calibrate(*knowledge, budget=budget)
        variances = getattr(mechanism, "variances", None)
        if variances is None:
            raise NotApplicableError("the mechanism publishes no deviation of its noise")
        return float(np.sqrt(variances()[0]))

    def _fact(self, kind: type[K], laws: tuple[FiniteLaw, ...]) -> K:
        """Return a fact of the table with these laws."""
        fact = self.of.facts_of(laws).get(kind)
        if not isinstance(fact, kind):
            raise NotOfferedError(f"the table offers no {kind.__name__}")
        return fact

    def knowledge(self, kind: type[K]) -> K:
        """Offer nothing: the parameters are published as they are."""
        raise NotOfferedError(f"published parameters are not protected: no {kind.__name__}")

    def law(self, secret: int) -> AnswerLaw:
        """Refuse: the parameters depend on which record the attacker is after."""
        del secret
        raise NotOfferedError("the parameters differ from record to record: attacks tell")

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw a record with each world's secret; publish the scale, and what else it would be."""
        del split
        candidates = np.empty((len(secret), 2, 1))
        for own, law in enumerate(self.of.laws):
            where = np.flatnonzero(secret == own)
            values = law.sample(len(where), rng)
            candidates[where, :, 0] = [
                [self._deviation(v, own, other) for other in range(2)] for v in values.tolist()
            ]
        answers: FloatArray = candidates[np.arange(len(secret)), secret]
        return Transcript(secret=secret, answers=answers, public={"candidates": candidates})


def _counts(law: FiniteLaw) -> list[int]:
    """Return how many records each value of a table's law has."""
    assert law.counts is not None
    return [int(count) for count in law.counts]


def _with(law: FiniteLaw, value: float, change: int) -> FiniteLaw:
    """Return the law with one record of this value more or less."""
    counts = dict(zip(law.atoms.tolist(), _counts(law), strict=True))
    counts[value] = counts.get(value, 0) + change
    kept = {v: c for v, c in counts.items() if c > 0}
    if not kept:
        raise NotApplicableError("a secret with one record has no law without it")
    return FiniteLaw.of_counts(atoms=list(kept), counts=list(kept.values()))
