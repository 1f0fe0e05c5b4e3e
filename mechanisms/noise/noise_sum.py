"""Two independent noises at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.pair import PairLeakage, PostProcessed
from mechanisms.noise.additive import HasSplitNoise, NoiseLaw
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseSum:
    """Two independent noises: the model's and an extra one."""

    model: NoiseLaw
    extra: LaplaceNoise

    @property
    def covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""
        return self.model.covariance + self.extra.covariance

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m)."""
        return self.model.sample(shape, rng) + self.extra.sample(shape, rng)

    def split_among(self, n_releases: int) -> NoiseSum:
        """Return the sum of both noises, each for so many releases."""
        if not isinstance(self.model, HasSplitNoise):
            raise NotApplicableError("no composition theorem covers several releases of this noise")
        return NoiseSum(
            model=self.model.split_among(n_releases), extra=self.extra.split_among(n_releases)
        )

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Upper bound: either noise alone, the other one being post-processing."""
        # P * N1 * N2 is a function of P * N1: each noise alone already bounds the whole.
        return min(part.shift_epsilon(differences, delta, k) for part in (self.model, self.extra))

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Bound the leakage by that of the model's noise alone (data processing)."""
        # Only the upper end survives: the extra noise may hide everything.
        return PostProcessed(self.model.leakage(first, second, k))

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Refuse: the sum of two noises has no closed form."""
        del releases, law
        raise NotComputableError("the sum of two noises has no density in closed form")
