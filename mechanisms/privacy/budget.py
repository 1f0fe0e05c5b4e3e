"""Budgets: the parameters of a notion that a calibration is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.check import positive, within


@dataclass(frozen=True, slots=True)
class Budget:
    """A point on the budget axis of a study (subclasses are frozen values)."""


@dataclass(frozen=True, slots=True)
class NoBudget(Budget):
    """For mechanisms without a dial: one cell, whatever the budgets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Epsilon(Budget):
    """Pure budget: epsilon in (0, inf], in nats; inf means no noise."""

    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonDelta(Budget):
    """Approximate budget: epsilon in (0, inf], in nats, and delta in (0, 1)."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        within("delta", self.delta, 0, 1, ends="()")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiEpsilon(Budget):
    """Renyi budget: order in (0, inf] and epsilon in (0, inf], in nats."""

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        positive("order", self.order)
        positive("epsilon", self.epsilon)
