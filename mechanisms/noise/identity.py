"""The noiseless release: the baseline without defence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import Knowledge, Sees
from mechanisms.check import Array, FloatArray
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.gaussian import gaussian_leakage
from mechanisms.noise.point_mass import agreement, aligned_pair
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.guarantee import Guarantee, NoClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRelease:
    """Release the answer itself, every time."""

    sees: ClassVar[Sees] = "answers"
    deterministic: ClassVar[bool] = True

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """Claim nothing."""
        return NoClaim(reason="the release is exact")

    def release(self, x: Array, rng: np.random.Generator) -> Array:
        """Return the answers unchanged."""
        del rng
        return x

    @property
    def noise_covariance(self) -> FloatArray:
        """No noise, shape (1, 1): the same in every direction of any space."""
        return np.zeros((1, 1))

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Return 0 where release and answer agree in every entry, else -inf."""
        return agreement(releases, answers)

    def marginal_log_density(self, releases: Array, law: AnswerLaw) -> FloatArray:
        """Log density of the answer itself; repeating an exact release adds nothing."""
        if not isinstance(law, GaussianLaw):
            raise NotComputableError("use the answers' probabilities")
        return law.log_density(np.asarray(releases[:, 0], dtype=np.float64))

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the answer laws themselves."""
        del n_releases
        if isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw):
            return aligned_pair(first, second)
        return gaussian_leakage(first, second, np.zeros((1, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noiseless:
    """Calibrates to nothing: the exact answer, one cell whatever the budget."""

    requires: ClassVar[tuple[type[Knowledge], ...]] = ()
    accepts: ClassVar = NoBudget

    def calibrate(self, *, budget: NoBudget) -> ExactRelease:
        """Return the exact release."""
        del budget
        return ExactRelease()
