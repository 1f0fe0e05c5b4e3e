"""Releases rounded to a number of decimals: post-processing of additive noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mechanisms.base import Calibration, Knowledge, Sees, guarantee_of
from mechanisms.check import Array, FloatArray, whole
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.pair import PairLeakage, PostProcessed
from mechanisms.noise.additive import AdditiveNoise, additive
from mechanisms.noise.identity import ExactRelease
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded:
    """Calibrate additive noise, and round what it releases.

    Parameters
    ----------
    calibration : Calibration
        Of additive noise.
    decimals : int, at least 0
        Of every coordinate, in units of the query.
    """

    calibration: Calibration
    decimals: int

    def __post_init__(self) -> None:
        whole("decimals", self.decimals, low=0)

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the wrapped calibration requires."""
        return self.calibration.requires

    @property
    def accepts(self) -> type[Budget]:
        """What the wrapped calibration accepts."""
        return self.calibration.accepts

    def calibrate(self, *knowledge: Any, budget: Any) -> RoundedRelease:  # noqa: ANN401
        """Return the wrapped mechanism, rounded."""
        inner = additive(self.calibration.calibrate(*knowledge, budget=budget))
        return RoundedRelease(inner=inner, decimals=self.decimals)

    def without_noise(self, *knowledge: Any) -> RoundedRelease:  # noqa: ANN401
        """Return the answer itself, rounded."""
        del knowledge
        return RoundedRelease(inner=ExactRelease(), decimals=self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoundedRelease:
    """Round what `inner` releases: its claim stays, its leakage is an upper bound."""

    sees: ClassVar[Sees] = "answers"
    inner: AdditiveNoise | ExactRelease
    decimals: int

    @property
    def deterministic(self) -> bool:
        """Whether nothing but rounding is done."""
        return self.inner.deterministic

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What one release guarantees."""
        return self.inner.guarantee

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several releases of one answer guarantee together."""
        return guarantee_of(self.inner, n_releases)

    def split_among(self, n_releases: int) -> RoundedRelease:
        """Share the budget of the unrounded releases."""
        if isinstance(self.inner, ExactRelease):
            return self
        return replace(self, inner=self.inner.split_among(n_releases))

    def release(self, x: Array, rng: np.random.Generator) -> FloatArray:
        """Release answers ``(n_trials, m)`` rounded to the nearest, halves to even."""
        released = np.asarray(self.inner.release(x, rng), dtype=np.float64)
        return np.asarray(released.round(self.decimals), dtype=np.float64)

    @property
    def noise_covariance(self) -> FloatArray:
        """The noise covariance before rounding, shape (m, m)."""
        return self.inner.noise_covariance

    @property
    def rounding(self) -> float:
        """Step of the grid of releases."""
        return float(10.0**-self.decimals)

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Bound the leakage by that of the unrounded releases (data processing)."""
        return PostProcessed(self.inner.leakage(first, second, n_releases))
