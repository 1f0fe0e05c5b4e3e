"""A margin on calibrations that leave none: for laws that were counted in other records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mechanisms.base import Calibration, Knowledge
from mechanisms.check import within
from mechanisms.noise.additive import AdditiveNoise, Claim, NoiseLaw, additive
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Calibrate to less than the budget, and claim the budget.

    The least noise that meets a budget under known laws has no slack for laws that are a little
    off: on records that the laws do not hold, half of such claims fail. A margin covers every law
    whose number is up to ``1 / (1 - margin)`` times that of the known ones; how large it must be
    is an estimate (the number on held-out records, `exact_recorded`), not a theorem.

    Parameters
    ----------
    calibration : Calibration
        Of additive noise.
    margin : float in (0, 1)
        Share of epsilon that is left free.

    Examples
    --------
    >>> from mechanisms.knowledge import ScalarAnswers
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> from mechanisms.privacy.budget import Epsilon
    >>> from mechanisms.renyi.tight_pure_laplace import TightPureLaplace
    >>> laws = tuple(FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = Margin(calibration=TightPureLaplace(), margin=0.2).calibrate(
    ...     answers, budget=Epsilon(epsilon=1.0)
    ... )
    >>> round(mechanism.guarantee.bound, 6), mechanism.variances().round(4).tolist()
    (1.0, [3.125])
    """

    calibration: Calibration
    margin: float

    def __post_init__(self) -> None:
        within("margin", self.margin, 0, 1, ends="()")

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the wrapped calibration requires."""
        return self.calibration.requires

    @property
    def accepts(self) -> type[Budget]:
        """What the wrapped calibration accepts."""
        return self.calibration.accepts

    def calibrate(self, *knowledge: Any, budget: Any) -> AdditiveNoise:  # noqa: ANN401
        """Return the mechanism of the smaller budget, with the claim of the whole."""
        smaller = replace(budget, epsilon=budget.epsilon * (1 - self.margin))
        inner = additive(self.calibration.calibrate(*knowledge, budget=smaller))
        return replace(inner, claim=MarginClaim(inner=inner.claim, margin=self.margin))


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginClaim:
    """The claim under the known laws, raised by the margin (see `Margin`)."""

    inner: Claim
    margin: float

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Raise what the noise guarantees under the known laws."""
        found = self.inner.guarantee(noise, n_releases)
        if isinstance(found, NoClaim):
            return found
        covered = f"a margin of {self.margin:g} of epsilon: laws that leak up to "
        covered += f"{1 / (1 - self.margin):.3g} times as much as the known ones are covered"
        return replace(found, bound=found.bound / (1 - self.margin), notes=(*found.notes, covered))
