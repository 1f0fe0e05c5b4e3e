"""Any additive calibration at a given error: mechanisms of equal utility, whatever they claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.optimize import brentq

from mechanisms.base import Calibration, Knowledge, Mechanism, NotApplicableError
from mechanisms.check import positive
from mechanisms.noise.additive import additive
from mechanisms.noise.mean_error import mean_l2_error
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.matching.dial import budget_at, check_dial

LOW, HIGH = 1e-6, 1e6  # budgets that calibrations take


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualError:
    """Turn a calibration's epsilon until the expected L2 error of a release is a given value.

    Parameters
    ----------
    of : Calibration
        Of additive noise, with an epsilon in its budget: the dial.
    error : float in (0, inf)
        E ||Z||_2, in units of the query. Coordinates with different units are added up as they are.
    delta, order : float, optional
        Of the calibration's budget, if that has them.

    References
    ----------
    The error of every calibration here falls as epsilon grows; one that does not reach `error`
    between the budgets 1e-6 and 1e6 is refused with the range.

    Examples
    --------
    >>> from mechanisms.group_privacy import GroupLaplace
    >>> from mechanisms.knowledge import Sensitivity
    >>> sensitivity = Sensitivity(l1=1.0, l2=1.0, unit="record", size=10, dimension=1)
    >>> equal = EqualError(of=GroupLaplace(group=1), error=4.0)
    >>> round(float(equal.calibrate(sensitivity, budget=NoBudget()).noise.scales[0]), 9)
    4.0
    """

    accepts: ClassVar = NoBudget
    of: Calibration
    error: float
    delta: float | None = None
    order: float | None = None

    def __post_init__(self) -> None:
        positive("error", self.error, infinite=False)
        check_dial(self.of, delta=self.delta, order=self.order)

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the calibration requires."""
        return self.of.requires

    @property
    def target_name(self) -> str:
        """What is matched, in words."""
        return f"mean L2 error {self.error:g}"

    def _at(self, epsilon: float, knowledge: tuple[Any, ...]) -> Mechanism:
        budget = budget_at(self.of, epsilon=epsilon, delta=self.delta, order=self.order)
        return self.of.calibrate(*knowledge, budget=budget)

    def calibrate(self, *knowledge: Any, budget: Any) -> Mechanism:  # noqa: ANN401
        """Return the calibration's mechanism with that error.

        Raises
        ------
        NotApplicableError
            If no budget has that error, or the noise is not additive.
        """
        del budget
        return self._at(self.position(*knowledge), knowledge)

    def position(self, *knowledge: Any) -> float:  # noqa: ANN401
        """Return the calibration's epsilon at which the error is met.

        Raises
        ------
        NotApplicableError
            As `calibrate` does.
        """

        def excess(log_epsilon: float) -> float:
            found = mean_l2_error(additive(self._at(math.exp(log_epsilon), knowledge)).noise)
            return math.log(found / self.error) if found > 0 else -math.inf

        low, high = math.log(LOW), math.log(HIGH)
        first = excess(low)
        if first < 0:
            raise NotApplicableError(
                f"error {self.error:g} is above the largest one, "
                f"{self.error * math.exp(first):.6g} at epsilon={LOW:g}"
            )
        while high > low and not _reaches(excess, high):
            high -= math.log(10)
        if high <= low or excess(high) > 0:
            raise NotApplicableError(f"error {self.error:g} is not reached by any budget")
        return math.exp(float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14)))

    def achieved(self, mechanism: Mechanism, laws: object, n_releases: int) -> Bracket:
        """Return the error of one release."""
        del laws, n_releases
        value = mean_l2_error(additive(mechanism).noise)
        return Bracket(value, value)


def _reaches(excess: Callable[[float], float], at: float) -> bool:
    """Whether the calibration adds noise at this budget at all."""
    try:
        return math.isfinite(excess(at))
    except NotApplicableError:
        return False
