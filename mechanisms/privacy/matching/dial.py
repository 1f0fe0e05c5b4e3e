"""A calibration's epsilon as a dial: the exact number of its mechanism at every position."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from mechanisms.base import (
    Calibration,
    HasLeakage,
    HasNoiselessForm,
    Mechanism,
    NotApplicableError,
)
from mechanisms.check import within
from mechanisms.knowledge import AnswerLaws
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.rank import spared
from mechanisms.privacy.bracket import Bracket, NotComputableError
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.matching.search import LADDER


def leakages(mechanism: Mechanism, laws: AnswerLaws, n_releases: int) -> list[PairLeakage]:
    """Return the exact comparison of every pair under the laws of what the mechanism sees."""
    if not isinstance(mechanism, HasLeakage):
        raise NotComputableError("the mechanism's release law has no known form")
    seen = laws.answers if mechanism.sees == "answers" else laws.databases
    if seen is None:
        raise NotComputableError(f"no law is known of the {mechanism.sees} that it sees")
    if not laws.pairs:
        raise NotComputableError("there is no pair of secrets to tell apart")
    return [mechanism.leakage(seen[i], seen[j], n_releases) for i, j in laws.pairs]


def check_dial(
    of: Calibration, *, delta: float | None, order: float | None, read_at: Sequence[str] = ()
) -> None:
    """Refuse a calibration without an epsilon, and budgets that lack a number or have one too many.

    Parameters
    ----------
    of : Calibration
    delta, order : float or None
        As given.
    read_at : sequence of str
        Which of them the matched number needs, whatever the budget has.
    """
    names = [f.name for f in fields(of.accepts)]
    if "epsilon" not in names:
        raise ValueError(
            f"of must be a calibration with an epsilon to turn, got {type(of).__name__}, "
            f"whose budget has {', '.join(names) or 'nothing'}."
        )
    if delta is not None:
        within("delta", delta, 0, 1, ends="()")
    for name, value in (("delta", delta), ("order", order)):
        need = name in names or name in read_at
        if (value is None) == need:
            raise ValueError(
                f"{name} must {'be given' if need else 'be left out: nothing here has one'}, "
                f"got {name}={value!r}."
            )


def budget_at(of: Calibration, **values: float | None) -> Budget:
    """Return the calibration's budget with those of epsilon, delta and order that it has."""
    kind = of.accepts
    return kind(**{f.name: values[f.name] for f in fields(kind)})


@dataclass(kw_only=True)
class Dial:
    """A calibration as a function of its epsilon, on given laws; everything is computed once.

    Parameters
    ----------
    of : Calibration
    budget : callable
        The calibration's budget at an epsilon.
    number : callable
        What is matched, read from the exact comparisons of all pairs.
    laws : AnswerLaws
    knowledge : sequence
        What the calibration requires.
    n_releases : int
        Of one answer, compared together.
    """

    of: Calibration
    budget: Callable[[float], Budget]
    number: Callable[[Sequence[PairLeakage]], Bracket]
    laws: AnswerLaws
    knowledge: Sequence[Any]
    n_releases: int
    _mechanisms: dict[float, Mechanism] = field(default_factory=dict)
    _numbers: dict[float, Bracket] = field(default_factory=dict)
    _void: dict[float, str] = field(default_factory=dict)

    def mechanism(self, epsilon: float) -> Mechanism:
        """Return the calibration at an epsilon; NotApplicableError where there is none."""
        if epsilon not in self._mechanisms:
            found = self.of.calibrate(*self.knowledge, budget=self.budget(epsilon))
            self._mechanisms[epsilon] = found
        return self._mechanisms[epsilon]

    def read(self, epsilon: float) -> Bracket:
        """Return the number at an epsilon; on records, where noise is void, the noiseless one."""
        if epsilon not in self._numbers:
            mechanism = self.mechanism(epsilon)
            void = not self.laws.worlds_from_model and spared(mechanism, self.laws.answers or ())
            if void and self.noiseless is not None:
                self._void[epsilon] = void
                self._numbers[epsilon] = self.noiseless
            else:
                self._numbers[epsilon] = self._number(mechanism)
        return self._numbers[epsilon]

    def _number(self, mechanism: Mechanism) -> Bracket:
        try:
            return self.number(leakages(mechanism, self.laws, self.n_releases))
        except NotComputableError as error:
            raise NotApplicableError(f"there is no exact number to match: {error}") from None

    @cached_property
    def noiseless(self) -> Bracket | None:
        """The number without any noise; None where it is not known."""
        try:
            if isinstance(self.of, HasNoiselessForm):
                return self._number(self.of.without_noise(*self.knowledge))
            if self.mechanism(1.0).sees == "answers":
                return self._number(ExactRelease())
        except NotApplicableError:
            pass
        return None

    def lowest(self) -> float:
        """Return the least number read so far, on the way to the floor if nothing was."""
        for epsilon in LADDER:
            with contextlib.suppress(NotApplicableError):
                self.read(epsilon)
        return min((number.hi for number in self._numbers.values()), default=math.nan)

    def is_void(self, epsilon: float) -> bool:
        """Whether the noise at an epsilon was found to hide nothing of records."""
        return epsilon in self._void

    def told(self) -> str:
        """Return what was found about void noise, as the end of a sentence."""
        if not self._void:
            return ""
        return (
            f"; {next(iter(self._void.values()))} hides nothing of records, whose answers lie on a "
            "lattice: it is matched in the model only, with worlds drawn from the model"
        )
