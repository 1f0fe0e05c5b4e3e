"""Any calibration at a matched leakage: its dial is turned until the exact number is the target.

At equal leakage mechanisms are compared by their noise, whatever each of them claims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Literal

from mechanisms.base import Calibration, Knowledge, Mechanism, NotApplicableError
from mechanisms.check import one_of, within
from mechanisms.knowledge import AnswerLaws
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.budget import Budget, NoBudget
from mechanisms.privacy.matching.dial import Dial, budget_at, check_dial, leakages
from mechanisms.privacy.matching.search import largest_safe

TargetName = Literal["accuracy", "epsilon at delta", "epsilon"]
TARGETS = ("accuracy", "epsilon at delta", "epsilon")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Turn a calibration's epsilon until the worst pair's exact leakage is a given value.

    The largest epsilon whose leakage is at most `value` is taken, so that an error of search or
    rounding errs towards less leakage: closed forms meet the value to a relative 1e-6 or better, a
    bracket has its upper end there, and where the leakage jumps the nearest safe value below is
    taken. The claim stays that of the calibration at this epsilon.

    Noise of deficient rank hides nothing of records whose answers lie on a lattice, whatever a
    continuous model says: there its leakage is the noiseless one, so that no value below can be
    met. In the model it is matched where worlds are drawn from the model.

    Parameters
    ----------
    of : Calibration
        With an epsilon in its budget: the dial.
    target : {"accuracy", "epsilon at delta", "epsilon"}
        Best accuracy of any attack on the pair at equal priors, or the smallest epsilon of
        (epsilon, delta)- or pure indistinguishability, in nats.
    value : float
        In (1/2, 1) for the accuracy, in [0, inf) for an epsilon.
    delta : float in (0, 1), optional
        Of the target "epsilon at delta", and of the calibration's budget if that has one.
    order : float in (0, inf], optional
        Of the calibration's budget, if that has one.

    References
    ----------
    That the leakage of additive Laplace, geometric and Gaussian noise falls as its scale grows,
    for every pair of laws: more noise is post-processing (data processing inequality).

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.distribution.expected_value import ExpectedValueGaussian
    >>> from mechanisms.knowledge import GaussianAnswers
    >>> from mechanisms.laws.answer import GaussianLaw
    >>> answers = GaussianAnswers(
    ...     means=[[0.0], [3.0]], covariances=np.zeros((2, 1, 1)), pairs=((0, 1),)
    ... )
    >>> laws = AnswerLaws(
    ...     answers=tuple(GaussianLaw(mean=m, covariance=np.zeros((1, 1))) for m in answers.means),
    ...     pairs=((0, 1),),
    ...     worlds_from_model=True,
    ... )
    >>> matched = Matched(
    ...     of=ExpectedValueGaussian(), target="accuracy", value=0.55, delta=0.001
    ... )
    >>> mechanism = matched.calibrate(laws, answers, budget=NoBudget())
    >>> round(float(mechanism.variances()[0]) ** 0.5, 4)  # Phi(3 / (2 sd)) = .55
    11.9368
    """

    accepts: ClassVar = NoBudget
    of: Calibration
    target: TargetName
    value: float
    delta: float | None = None
    order: float | None = None

    def __post_init__(self) -> None:
        one_of("target", self.target, TARGETS)
        low, ends = (0.5, "()") if self.target == "accuracy" else (0.0, "[)")
        within("value", self.value, low, 1 if low else math.inf, ends=ends)
        read_at = ("delta",) if self.target == "epsilon at delta" else ()
        check_dial(self.of, delta=self.delta, order=self.order, read_at=read_at)

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """The laws to compare, and what the calibration requires."""
        return (AnswerLaws, *self.of.requires)

    @property
    def target_name(self) -> str:
        """What is matched, in words: "epsilon 1 at delta=0.001"."""
        at = f" at delta={self.delta:g}" if self.target == "epsilon at delta" else ""
        return f"{self.target.partition(' ')[0]} {self.value:g}{at}"

    def calibrate(self, laws: AnswerLaws, *knowledge: Any, budget: Any) -> Mechanism:  # noqa: ANN401
        """Match one release."""
        return self.calibrate_together(laws, *knowledge, budget=budget, n_releases=1)

    def calibrate_together(
        self, laws: AnswerLaws, *knowledge: Any, budget: Any, n_releases: int  # noqa: ANN401
    ) -> Mechanism:  # fmt: skip
        """Match several releases of one answer together.

        Raises
        ------
        NotApplicableError
            If the value cannot be reached, with the range that can; if the number is not monotone
            there; if there is none.
        """
        del budget
        dial, low = self._turned(laws, knowledge, n_releases)
        return dial.mechanism(low)

    def position(self, laws: AnswerLaws, *knowledge: Any) -> float:  # noqa: ANN401
        """Return the calibration's epsilon at which one release is matched.

        Raises
        ------
        NotApplicableError
            As `calibrate_together` does.
        """
        return self._turned(laws, knowledge, 1)[1]

    def _turned(
        self, laws: AnswerLaws, knowledge: Sequence[Any], n_releases: int
    ) -> tuple[Dial, float]:
        """Return the dial and the position at which the value is met."""
        dial = Dial(
            of=self.of, budget=self.budget, number=self._read, laws=laws, knowledge=knowledge,
            n_releases=n_releases,
        )  # fmt: skip
        top = dial.noiseless
        if top is not None and self.value > top.hi * (1 + 1e-9):
            raise NotApplicableError(
                f"{self.target_name} is above the noiseless leakage, {top.hi:.6g}: it can be "
                f"matched from {dial.lowest():.6g} to that"
            )
        try:
            low, high = largest_safe(
                dial.read, self.value, what=self.target_name.rpartition(" ")[0], floor=self.floor
            )
        except NotApplicableError as refused:
            raise NotApplicableError(f"{refused}{dial.told()}") from None
        reached = dial.read(low).hi
        if self.value - reached > 1e-6 * (self.value - self.floor) and dial.is_void(high):
            raise NotApplicableError(
                f"{self.target_name} cannot be reached: it can be matched from "
                f"{dial.lowest():.6g} to {reached:.6g}{dial.told()}"
            )
        return dial, low

    def achieved(self, mechanism: Mechanism, laws: AnswerLaws, n_releases: int) -> Bracket:
        """Return the exact number of the worst pair, the one that was put at the value."""
        return self._read(leakages(mechanism, laws, n_releases))

    @property
    def floor(self) -> float:
        """The number where nothing leaks."""
        return 0.5 if self.target == "accuracy" else 0.0

    def _read(self, pairs: Sequence[PairLeakage]) -> Bracket:
        delta = (self.delta or 0.0) if self.target == "epsilon at delta" else 0.0
        accuracy = self.target == "accuracy"
        return reduce(Bracket.join, [p.accuracy() if accuracy else p.epsilon(delta) for p in pairs])

    def budget(self, epsilon: float) -> Budget:
        """Return the calibration's budget at a position of the dial."""
        return budget_at(self.of, epsilon=epsilon, delta=self.delta, order=self.order)
