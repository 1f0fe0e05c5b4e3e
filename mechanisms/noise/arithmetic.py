"""The arithmetic of additive noise, chosen: snapped to a grid, or as floats add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mechanisms.base import Calibration, Knowledge
from mechanisms.check import one_of
from mechanisms.noise.additive import AdditiveNoise, additive
from mechanisms.noise.grid import ARITHMETICS, Arithmetic
from mechanisms.privacy.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class WithArithmetic:
    """Calibrate additive noise, and take its sum as asked for.

    Parameters
    ----------
    calibration : Calibration
        Of additive noise.
    arithmetic : {"snapped", "float"}
        "float" is the published form: for showing what its last bits tell.
    """

    calibration: Calibration
    arithmetic: Arithmetic = "float"

    def __post_init__(self) -> None:
        one_of("arithmetic", self.arithmetic, ARITHMETICS)

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the wrapped calibration requires."""
        return self.calibration.requires

    @property
    def accepts(self) -> type[Budget]:
        """What the wrapped calibration accepts."""
        return self.calibration.accepts

    def calibrate(self, *knowledge: Any, budget: Any) -> AdditiveNoise:  # noqa: ANN401
        """Return the wrapped mechanism in this arithmetic."""
        inner = additive(self.calibration.calibrate(*knowledge, budget=budget))
        return replace(inner, arithmetic=self.arithmetic)
