"""How much noise a calibration calls for, against a parameter of its budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from bench.config.build import ConfigError, unknown
from bench.scenarios.base import Scenario
from mechanisms.base import Calibration, NotApplicableError
from mechanisms.check import FloatArray, one_of, positive
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.bracket import Bracket

METRICS = {"scale": "scale", "variance": "noise_var", "ratio": "noise_ratio"}


@dataclass(frozen=True, kw_only=True)
class CalibratedNoise:
    """Noise of a calibrated mechanism with one scale, on one of several data sets.

    Parameters
    ----------
    scenarios : mapping of label to Scenario
    dataset : str
        Which of `scenarios`.
    mechanism : Calibration
    axis : {"order", "epsilon"}
        What x is.
    order, epsilon, delta : float
        The rest of the budget; a calibration takes what its budget has.
    of : {"scale", "variance", "ratio"}
        Laplace scale or Gaussian standard deviation, in units of the query; noise variance, all
        statistics together (the trace); or the scale over that of `reference` (inf where the
        reference calls for no noise).
    reference : Calibration or None
    at : mapping of axis to values
        Values of x for each axis, where they differ; otherwise the study's.
    """

    scenarios: Mapping[str, Scenario]
    dataset: str
    mechanism: Calibration
    axis: Literal["order", "epsilon"] = "order"
    order: float = 2.0
    epsilon: float = 0.5
    delta: float = 0.001
    of: Literal["scale", "variance", "ratio"] = "scale"
    reference: Calibration | None = None
    at: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.dataset not in self.scenarios:
            raise ConfigError(unknown("dataset", self.dataset, self.scenarios))
        one_of("axis", self.axis, ("order", "epsilon"))
        one_of("of", self.of, tuple(METRICS))
        if (self.of == "ratio") != (self.reference is not None):
            raise ValueError("of='ratio' and a reference go together.")
        for name in ("order", "epsilon", "delta"):
            positive(name, getattr(self, name))
        self._scenario.check()

    @property
    def metric(self) -> str:
        """Name of the quantity in the table."""
        return METRICS[self.of]

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self._scenario.digest

    @property
    def x(self) -> Sequence[float] | None:
        """Values of the parameter, where this quantity has its own."""
        return self.at.get(self.axis)

    @property
    def _scenario(self) -> Scenario:
        return self.scenarios[self.dataset]

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return the noise at every value of the parameter; computed, rounded towards more."""
        values = [self._value(float(at)) for at in x]
        return [Bracket(v, v) for v in values]

    def _value(self, at: float) -> float:
        scale, variance = self._noise(self.mechanism, at)
        if self.of == "variance":
            return variance
        if self.reference is None:
            return scale
        least, _ = self._noise(self.reference, at)
        return scale / least if least > 0 else (math.inf if scale > 0 else 1.0)

    def _noise(self, calibration: Calibration, at: float) -> tuple[float, float]:
        """Return scale and variance of the noise; 0 for a release without noise."""
        point = {"order": self.order, "epsilon": self.epsilon, "delta": self.delta, self.axis: at}
        names = {f.name for f in fields(calibration.accepts)}
        budget = calibration.accepts(**{k: v for k, v in point.items() if k in names})
        knowledge = [self._scenario.knowledge(kind) for kind in calibration.requires]
        try:
            mechanism = calibration.calibrate(*knowledge, budget=budget)
        except NotApplicableError as reason:
            raise NotApplicableError(f"at {self.axis}={at:g}: {reason}") from reason
        if isinstance(mechanism, ExactRelease):
            return 0.0, 0.0
        noise = mechanism.noise if isinstance(mechanism, AdditiveNoise) else None
        if isinstance(noise, LaplaceNoise):
            return float(noise.scales.max()), float(np.trace(noise.covariance))
        if isinstance(noise, GaussianNoise):
            largest = float(np.linalg.eigvalsh(noise.covariance)[-1])
            return math.sqrt(largest), float(np.trace(noise.covariance))
        raise NotApplicableError("the mechanism's noise has no one scale")
