"""Laplace noise: independent per coordinate, or along one direction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats.qmc import Sobol

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, finite, positive
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.collinear import along_a_line, both_finite
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.quadratic_form import quadratic_form
from mechanisms.leakage.integer_grid import laplace_lattice, repeated
from mechanisms.leakage.laplace_shift import (
    LaplaceShift,
    VectorLaplaceShift,
    log_density_gaussian_plus_laplace,
)
from mechanisms.leakage.noisy_scalar import NoisedPoints
from mechanisms.leakage.pair import GaussianShift, PairLeakage
from mechanisms.leakage.partly_noised import PartlyNoised
from mechanisms.leakage.repeated_line import laplace_line
from mechanisms.noise.additive import shared_gaussian, spread_along
from mechanisms.noise.grid import rounded_sum, standard_laplace, steps_for
from mechanisms.privacy.bracket import NotComputableError

MIXTURE_POINTS = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaplaceNoise:
    """Add ``Z_k ~ Lap(scales[k])`` independently to every coordinate.

    Parameters
    ----------
    scales : array of shape (m,), entries in (0, inf)
        In units of the query; variance ``2 scale^2``.
    """

    scales: FloatArray

    def __post_init__(self) -> None:
        scales = finite("scales", self.scales)
        positive("the smallest scale", float(scales.min()))
        object.__setattr__(self, "scales", scales)

    @property
    def covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""
        return np.diag(2 * self.scales**2)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m)."""
        return rng.laplace(scale=self.scales, size=shape)

    @property
    def step(self) -> FloatArray:
        """Step of each coordinate's grid, shape (m,)."""
        return steps_for(self.scales)

    def release_on_grid(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return ``(n_trials, m)`` answers plus noise, rounded to multiples of the steps."""
        return rounded_sum(x, standard_laplace(x.shape, rng), self.scales, self.step)

    def split_among(self, n_releases: int) -> LaplaceNoise:
        """Return the noise of which so many releases cost what one of this costs."""
        return LaplaceNoise(scales=self.scales * n_releases)

    def log_density(self, z: FloatArray) -> FloatArray:
        """Log density of noise ``(..., m)``, shape (...)."""
        return (-np.abs(z) / self.scales - np.log(2 * self.scales)).sum(axis=-1)

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Pure epsilon of k releases under translations by ``(p, m)`` differences; exact."""
        del delta  # pure: holds at every delta
        return k * float((np.abs(differences) / self.scales).sum(axis=-1).max())

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Compare Gaussian answers of equal covariance, or finite ones along one coordinate.

        Several releases of whole-number vectors are one release of that answer k times over.
        """
        finite_laws = both_finite(first, second)
        if k > 1:
            if finite_laws is None:
                raise NotComputableError("repeated Laplace noise has no one-dimensional statistic")
            if self.scales.size == 1:
                p, q = (law.on_line for law in finite_laws)
                return laplace_line(p, q, float(self.scales[0]), k)
            one, other = (repeated(law, k) for law in finite_laws)
            return laplace_lattice(one, other, np.tile(self.scales, k))
        if finite_laws is not None and max(law.weights.size for law in finite_laws) > 1:
            return self._finite_leakage(*finite_laws)
        difference, covariance = shared_gaussian(first, second)
        if self.scales.size == 1:
            return LaplaceShift(
                distance=abs(float(difference[0])),
                spread=math.sqrt(float(covariance[0, 0])),
                scale=float(self.scales[0]),
            )
        return VectorLaplaceShift(difference=difference, covariance=covariance, scales=self.scales)

    def _finite_leakage(self, first: FiniteLaw, second: FiniteLaw) -> PairLeakage:
        """Reduce to the one coordinate that answers differ in, or tabulate whole vectors."""
        atoms = np.concatenate([first.atoms, second.atoms])
        if np.count_nonzero((atoms != atoms[0]).any(axis=0)) > 1 and atoms.ndim == 2:
            return laplace_lattice(first, second, self.scales)
        direction, (p, q) = along_a_line(first, second)
        scale = float(self.scales[direction.argmax()])
        return NoisedPoints(first=p, second=q, noise="laplace", scale=scale)

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of one release a trial, ``(n, 1, m)``, when the answer is Gaussian.

        Exact for uncorrelated answers. Otherwise the noise is taken as a Gaussian scale mixture,
        ``Lap(b) = N(0, 2 b^2 E)``, E exponential, averaged over 1024 fixed quasi-random points,
        each in closed form: an estimate, within a few per cent except far out in the tails.
        """
        if not isinstance(law, GaussianLaw) or releases.shape[1] != 1:
            raise NotComputableError("Laplace noise integrates over one Gaussian answer only")
        residual = releases[:, 0] - law.mean
        spreads = np.sqrt(np.diag(law.covariance))
        if not np.any(
            np.abs(law.covariance - np.diag(spreads**2)) > 1e-12 * np.outer(spreads, spreads)
        ):
            columns = [
                log_density_gaussian_plus_laplace(residual[:, k], float(spreads[k]), float(scale))
                for k, scale in enumerate(self.scales)
            ]
            return np.sum(columns, axis=0)
        points = Sobol(self.scales.size, rng=np.random.default_rng(0)).random(MIXTURE_POINTS)
        variances = -2 * self.scales**2 * np.log1p(-points)
        factors = np.linalg.cholesky(law.covariance + variances[:, :, None] * np.eye(len(spreads)))
        whiteners = np.linalg.inv(factors)
        log_dets = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        total = np.full(len(residual), -math.inf)
        for part in np.split(np.arange(MIXTURE_POINTS), 16):
            white = whiteners[part] @ residual.T
            logs = -0.5 * (white**2).sum(axis=1) - log_dets[part, None]
            total = np.logaddexp(total, logsumexp(logs, axis=0))
        return total - math.log(MIXTURE_POINTS) - self.scales.size / 2 * math.log(2 * math.pi)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DirectionalLaplaceNoise:
    """Add ``Y v`` with ``Y ~ Lap(scale)``: noise along the unit vector `direction` only.

    Parameters
    ----------
    scale : float in (0, inf)
    direction : array of shape (m,)
        Unit L2 norm.
    """

    scale: float
    direction: FloatArray

    def __post_init__(self) -> None:
        positive("scale", self.scale, infinite=False)
        object.__setattr__(self, "direction", unit_vector(self.direction))

    @property
    def covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""
        return 2 * self.scale**2 * np.outer(self.direction, self.direction)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m)."""
        return rng.laplace(scale=self.scale, size=(*shape[:-1], 1)) * self.direction

    def split_among(self, n_releases: int) -> DirectionalLaplaceNoise:
        """Return the noise of which so many releases cost what one of this costs."""
        return DirectionalLaplaceNoise(scale=self.scale * n_releases, direction=self.direction)

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Pure epsilon of k releases; infinite for a difference off the direction."""
        del delta
        along = differences @ self.direction
        across = differences - np.outer(along, self.direction)
        size = np.linalg.norm(differences, axis=-1).max()
        if np.linalg.norm(across, axis=-1).max() > 1e-8 * size:
            return math.inf
        return k * float(np.abs(along).max()) / self.scale

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Reduce a pair of answers to a scalar one, beside a Gaussian one that nothing noises."""
        if k > 1:
            raise NotComputableError("repeated Laplace noise has no one-dimensional statistic")
        finite_laws = both_finite(first, second)
        if finite_laws is not None and max(law.weights.size for law in finite_laws) > 1:
            line, (p, q) = along_a_line(*finite_laws)
            if not abs(float(line @ self.direction)) > 1 - 1e-12:
                raise NotComputableError("the answers differ off the noised direction")
            return NoisedPoints(first=p, second=q, noise="laplace", scale=self.scale)
        difference, covariance = shared_gaussian(first, second)
        distance = abs(float(difference @ self.direction))
        spread = spread_along(covariance, self.direction)
        if np.linalg.norm(difference) <= (1 + 1e-9) * distance:
            return LaplaceShift(distance=distance, spread=spread, scale=self.scale)
        return self._partly_noised(difference, covariance, spread)

    def _partly_noised(
        self, difference: FloatArray, covariance: FloatArray, spread: float
    ) -> PairLeakage:
        """Split answers that differ off the direction into a noised part and one that is not.

        In whitened space the component along the direction carries the noise; what is orthogonal
        to it there is independent of that component, and released as it is.
        """
        whole = quadratic_form(difference, covariance)
        if math.isinf(whole) or not 0 < spread < math.inf:
            return GaussianShift(math.inf)  # told apart by a direction that nothing hides
        precision = np.linalg.pinv(covariance, hermitian=True)
        along = abs(float(self.direction @ precision @ difference)) * spread**2
        across = math.sqrt(max(0.0, whole - (along / spread) ** 2))
        return PartlyNoised(across=across, distance=along, spread=spread, scale=self.scale)

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of one release a trial, ``(n, 1, m)``, when the answer is Gaussian.

        In the whitened space the component along the direction is N(0, spread^2) + Y, the rest
        is untouched.
        """
        if not isinstance(law, GaussianLaw) or releases.shape[1] != 1:
            raise NotComputableError("Laplace noise integrates over one Gaussian answer only")
        spread = spread_along(law.covariance, self.direction)
        if not np.linalg.cond(law.covariance) < 1 / np.finfo(np.float64).eps:
            raise NotComputableError("noise along a direction needs answers of full rank")
        residual = releases[:, 0] - law.mean
        if spread == 0:
            raise NotComputableError("the answers do not vary along the noised direction")
        precision = np.linalg.pinv(law.covariance, hermitian=True)
        along = spread**2 * (residual @ precision @ self.direction)
        noiseless = -0.5 * (along / spread) ** 2 - math.log(spread * math.sqrt(2 * math.pi))
        noised = log_density_gaussian_plus_laplace(along, spread, self.scale)
        return law.log_density(residual + law.mean) - noiseless + noised


def laplace_scale(distance: float, epsilon: float, *, asked: float | None = None) -> float:
    """Return the scale distance / epsilon; refuse a budget or distance that calls for no noise.

    `asked` is the budget that a refusal names, where `epsilon` is made from it.
    """
    scale = distance / epsilon
    if not scale > 0:
        raise NotApplicableError(
            f"no Laplace noise is called for at distance {distance:g} and "
            f"epsilon={epsilon if asked is None else asked:g}: "
            "release the answer itself"
        )
    return scale


def unit_vector(direction: FloatArray) -> FloatArray:
    """Return `direction` as a float array; refuse one that is not of unit L2 norm."""
    vector = finite("direction", direction)
    norm = float(np.linalg.norm(vector))
    if not abs(norm - 1) <= 1e-9:
        raise ValueError(f"direction must have unit L2 norm, got norm {norm:g}.")
    return vector
