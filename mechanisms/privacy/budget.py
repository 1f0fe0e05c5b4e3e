"""Budgets: the parameters of a notion that a calibration is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechanisms.check import positive, within

SMALLEST, LARGEST = 1e-6, 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """A point on the budget axis of a study (subclasses are frozen values)."""


@dataclass(frozen=True, slots=True)
class NoBudget(Budget):
    """For mechanisms without a dial: one cell, whatever the budgets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Epsilon(Budget):
    """Pure budget: epsilon in [1e-6, 1e6], in nats, or inf, which means no noise."""

    epsilon: float

    def __post_init__(self) -> None:
        computable("epsilon", self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonDelta(Budget):
    """Approximate budget: epsilon in [1e-6, 1e6] or inf, in nats, and delta in (0, 1)."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        computable("epsilon", self.epsilon)
        within("delta", self.delta, 0, 1, ends="()")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiEpsilon(Budget):
    """Renyi budget: order in (0, inf], and epsilon in [1e-6, 1e6] or inf, in nats."""

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        positive("order", self.order)
        computable("epsilon", self.epsilon)


def computable(name: str, value: object) -> float:
    """Return a positive budget within the limits of double precision, or inf.

    Raises
    ------
    ValueError
        If it is not positive, or finite and outside [1e-6, 1e6]: noise for such budgets is lost
        in rounding, or drowns everything.

    Examples
    --------
    >>> computable("epsilon", 1e-9)
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be in [1e-06, 1e+06] or inf (no noise), got epsilon=1e-09.
    """
    number = positive(name, value)
    if number < SMALLEST or LARGEST < number < math.inf:
        raise ValueError(
            f"{name} must be in [{SMALLEST:g}, {LARGEST:g}] or inf (no noise), "
            f"got {name}={value!r}."
        )
    return number
