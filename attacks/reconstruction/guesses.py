"""Reconstruction as attacks of the cross: from releases to guesses of the database or answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Guess, Target, Transcript, Truth, UnsupportedMechanismError, Yields
from attacks.reconstruction.collapse import (
    CommonElement,
    Reconstructor,
    UnchangedComponent,
    XorReconstruction,
)
from attacks.reconstruction.posterior import answer_posterior, averaged
from mechanisms.base import HasLogDensity
from mechanisms.check import Array, FloatArray
from mechanisms.collapse.case_pair import CasePair
from mechanisms.collapse.decoy import DecoyDatabase
from mechanisms.collapse.parity import ParityRelease
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.privacy.bracket import NotComputableError

AGAINST: tuple[tuple[type, Reconstructor], ...] = (
    (DecoyDatabase, UnchangedComponent()),
    (ParityRelease, XorReconstruction()),
    (CasePair, CommonElement()),
)
NEW_DATA = "the data are new at every release: what differs is not the same database"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRuns:
    """Rebuild the database from runs that differ, against the mechanisms that collapse.

    It makes no errors: until the runs reveal the database, every entry is left open.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), "Composition for Pufferfish Privacy", Section 4.
    """

    yields: ClassVar[Yields] = "guess"
    trained: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> CertainGuesser:
        """Choose the attack on the mechanism; nothing is learnt."""
        del shadow, rng
        if target.new_data:
            raise UnsupportedMechanismError(NEW_DATA)
        for kind, attack in AGAINST:
            if isinstance(target.mechanism, kind):
                return CertainGuesser(attack=attack)
        raise UnsupportedMechanismError("the mechanism is none that collapses")


@dataclass(frozen=True, slots=True, kw_only=True)
class CertainGuesser:
    """A reconstruction without errors."""

    attack: Reconstructor

    def guess(self, releases: Array) -> Guess:
        """Return databases that are known for certain, -1 where they are not."""
        found = self.attack.reconstruct(releases)
        return Guess(values=found.databases, revealed_at=found.revealed_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactPosterior:
    """Guess what the mechanism saw by its exact posterior, entry by entry.

    The prior is the mixture of the scenario's laws, all secrets alike, as worlds are drawn. By
    Bayes' rule no guess has more entries right on average under the model.
    """

    yields: ClassVar[Yields] = "guess"
    trained: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> PosteriorGuesser:
        """Mix the laws; nothing is learnt."""
        del shadow, rng
        if target.new_data:
            raise UnsupportedMechanismError(NEW_DATA)
        if not isinstance(target.mechanism, HasLogDensity):
            raise UnsupportedMechanismError("the mechanism offers no release density")
        return PosteriorGuesser(
            mechanism=target.mechanism,
            law=mixed_law(target),
            of="database" if target.mechanism.sees == "database" else "answers",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PosteriorGuesser:
    """The exact posterior over finitely many databases or answers."""

    mechanism: HasLogDensity
    law: FiniteLaw
    of: Truth

    def guess(self, releases: Array) -> Guess:
        """Return the likeliest value of each entry."""
        try:
            posterior = answer_posterior(self.mechanism, releases, self.law)
        except NotComputableError as error:
            raise UnsupportedMechanismError(str(error)) from error
        atoms = self.law.as_vectors.atoms
        return Guess(values=likeliest_entries(posterior, atoms), of=self.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaging:
    """Guess the possible answer that is nearest to the mean of the releases.

    The attacker who knows nothing of the noise but that it is centred, and nothing of the prior
    but which answers are possible; where the scenario has no finite laws, but that answers are
    whole numbers.
    """

    yields: ClassVar[Yields] = "guess"
    trained: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> AverageGuesser:
        """Note which answers are possible; nothing is learnt."""
        del rng
        if target.mechanism.sees != "answers":
            raise UnsupportedMechanismError("the mechanism works on records: no answer is averaged")
        if target.laws is not None and all(isinstance(law, FiniteLaw) for law in target.laws):
            return AverageGuesser(support=mixed_law(target).as_vectors.atoms)
        answers = np.asarray(shadow.answers, dtype=np.float64)
        if not (answers == np.round(answers)).all():
            raise UnsupportedMechanismError("answers are neither finitely many nor whole numbers")
        return AverageGuesser(support=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AverageGuesser:
    """The mean, rounded to what is possible: rows of `support`, or whole numbers (None)."""

    support: FloatArray | None

    def guess(self, releases: Array) -> Guess:
        """Return one answer a row."""
        flat = releases.reshape(*releases.shape[:2], -1)
        if self.support is None:
            return Guess(values=np.round(flat.mean(axis=1)), of="answers")
        if flat.shape[2] != self.support.shape[1]:
            raise UnsupportedMechanismError("releases have another shape than answers")
        return Guess(values=self.support[averaged(flat, self.support)], of="answers")


def likeliest_entries(posterior: FloatArray, atoms: FloatArray) -> FloatArray:
    """Return the likeliest value of each entry, (n, e), of rows ``(a, e)`` with posterior (n, a).

    Of values that are equally likely, the smallest.
    """
    found = np.empty((len(posterior), atoms.shape[1]))
    for entry, column in enumerate(atoms.T):
        values = np.unique(column)
        mass = np.stack([posterior[:, column == value].sum(axis=1) for value in values], axis=1)
        found[:, entry] = values[mass.argmax(axis=1)]
    return found


def mixed_law(target: Target) -> FiniteLaw:
    """Return the law of what the mechanism sees, all secrets alike.

    Raises
    ------
    UnsupportedMechanismError
        If the scenario's laws are not finite, or of too many sequences to list.
    """
    finite = [_finite(law) for law in target.laws or ()]
    if not finite:
        raise UnsupportedMechanismError("the scenario offers no answer law")
    return FiniteLaw(
        atoms=np.concatenate([law.atoms for law in finite]),
        weights=np.concatenate([law.weights for law in finite]) / len(finite),
    )


def _finite(law: AnswerLaw) -> FiniteLaw:
    try:
        law = law.listed() if isinstance(law, SequenceLaw) else law
    except NotComputableError as error:
        raise UnsupportedMechanismError(str(error)) from error
    if not isinstance(law, FiniteLaw):
        raise UnsupportedMechanismError("the scenario's laws are not finite")
    return law
