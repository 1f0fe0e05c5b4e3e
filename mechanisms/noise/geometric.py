"""Two-sided geometric noise on the whole numbers: the discrete Laplace law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.check import Array, FloatArray, finite, positive
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import geometric_lattice, repeated, whole_numbers
from mechanisms.leakage.pair import PairLeakage
from mechanisms.leakage.repeated_line import geometric_line
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.privacy.bracket import NotComputableError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeometricNoise:
    """Add ``Z_k`` with ``P[Z_k = z] = tanh(1 / (2 scale_k)) exp(-|z| / scale_k)``, z whole.

    Answers must be whole numbers. Unlike Laplace noise it has no floating-point idealisation:
    releases are whole numbers, and their probabilities are as stated.

    Parameters
    ----------
    scales : array of shape (m,), entries in (0, inf)
        In units of the query; moving an answer by d costs ``|d| / scale``.

    References
    ----------
    Ghosh, Roughgarden, Sundararajan (2009), Definition 2.1.
    """

    scales: FloatArray

    def __post_init__(self) -> None:
        scales = finite("scales", self.scales)
        positive("the smallest scale", float(scales.min()))
        object.__setattr__(self, "scales", scales)

    @property
    def covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""
        return np.diag(1 / (2 * np.sinh(0.5 / self.scales) ** 2))

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m): the difference of two geometric variables."""
        success = -np.expm1(-1 / self.scales)
        first, second = (rng.geometric(success, size=shape) for _ in range(2))
        return (first - second).astype(np.float64)

    def split_among(self, n_releases: int) -> GeometricNoise:
        """Return the noise of which so many releases cost what one of this costs."""
        return GeometricNoise(scales=self.scales * n_releases)

    def log_density(self, z: FloatArray) -> FloatArray:
        """Log probability of noise ``(..., m)``, shape (...); -inf off the whole numbers."""
        logs = np.log(np.tanh(0.5 / self.scales)) - np.abs(z) / self.scales
        return np.where(z == np.rint(z), logs, -np.inf).sum(axis=-1)

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Pure epsilon of k releases; infinite for a difference that is not whole."""
        del delta  # pure: holds at every delta
        if (differences != np.rint(differences)).any():
            return math.inf
        return k * float((np.abs(differences) / self.scales).sum(axis=-1).max())

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Compare the release laws of two answers with finitely many whole values.

        Several releases of an answer are one release of that answer k times over.
        """
        if not (isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw)):
            raise NotComputableError("exact leakage of this noise needs finitely many answers")
        if k > 1 and self.scales.size == 1:
            return geometric_line(first, second, float(self.scales[0]), k)
        one, other = (repeated(law, k) for law in (first, second))
        return geometric_lattice(one, other, np.tile(self.scales, k))

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Refuse: a sum over a finite law's values serves."""
        del releases, law
        raise NotComputableError("geometric noise has finite answers; sum over them")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeometricRelease(AdditiveNoise):
    """Release whole-number answers with whole-number noise; refuse any other answer."""

    def release(self, x: Array, rng: np.random.Generator) -> FloatArray:
        """Add fresh noise to whole-number answers ``(n_trials, m)``."""
        return AdditiveNoise.release(self, whole_numbers(x), rng)
