"""Last bits: which answers can have led to a release at all, in floating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from attacks.base import Target, Transcript, UnsupportedMechanismError, Yields
from attacks.likelihood_ratio import DensityAttacker
from attacks.outside.lattice import lattice_of
from attacks.outside.reachable import laplace_log_mass
from attacks.outside.ziggurat import normal_log_mass
from mechanisms.base import Mechanism
from mechanisms.check import Array, FloatArray
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import LaplaceNoise

RARE = 1e-9  # of a law's mass: no answer is ruled out for being far from its mean


@dataclass(frozen=True, slots=True, kw_only=True)
class LastBits:
    """Score each secret by the exact probability of the released floats under it.

    ``fl(x + z)`` takes few of all floats, and which ones depends on x: a release names a few
    answers, whatever the noise's size, or one. Where answers have finitely many values their laws
    are those of the model; else each coordinate's values are the lattice that shadow answers lie
    on, with their mean and spread under each secret, and coordinates are taken as independent.
    Against a release that is snapped to a grid every answer is possible, and the score is the
    likelihood under the noise's law.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy.
    """

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True

    def fit(
        self, shadow: Transcript, target: Target, rng: np.random.Generator
    ) -> DensityAttacker | CoordinateAttacker:
        """Look up the noise's arithmetic, and the laws or the lattice of the answers."""
        del rng
        likelihood = likelihood_of(target.mechanism)
        laws = target.laws
        if laws is not None and all(isinstance(law, FiniteLaw) for law in laws):
            finite = tuple(law for law in laws if isinstance(law, FiniteLaw))
            return DensityAttacker(mechanism=likelihood, laws=finite, finite=finite)
        return CoordinateAttacker(
            likelihood=likelihood, laws=coordinate_laws(shadow, target.n_secrets)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FloatSum:
    """The law of ``fl(answer + noise)``, float for float.

    Parameters
    ----------
    mechanism : AdditiveNoise
        With independent Laplace or Gaussian noise, snapped or in float arithmetic.
    """

    mechanism: AdditiveNoise

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log mass of releases ``(n, 1, m)`` given answers ``(1, a, m)``, shape (n, a)."""
        y, x = (np.asarray(part, dtype=np.float64) for part in (releases, answers))
        logs = [self.of_coordinate(y[..., j], x[..., j], j) for j in range(y.shape[-1])]
        return np.asarray(np.sum(logs, axis=0))

    def of_coordinate(self, releases: FloatArray, answers: FloatArray, j: int) -> FloatArray:
        """Log mass of one coordinate's releases, up to a constant; arrays broadcast."""
        noise = self.mechanism.noise
        snapped = self.mechanism.step is not None
        if isinstance(noise, LaplaceNoise):
            scale = float(noise.scales[j])
            if snapped:
                return -np.abs(releases - answers) / scale
            return laplace_log_mass(releases, answers, scale)
        deviation = float(np.sqrt(noise.covariance[j, j]))
        if snapped:
            return -0.5 * ((releases - answers) / deviation) ** 2
        return normal_log_mass(releases, answers, deviation)


def likelihood_of(mechanism: Mechanism) -> FloatSum:
    """Return the float law of a mechanism's releases, or raise UnsupportedMechanismError."""
    if not isinstance(mechanism, AdditiveNoise):
        raise UnsupportedMechanismError("the mechanism adds no noise that is released as it is")
    noise = mechanism.noise
    if not isinstance(noise, LaplaceNoise | GaussianNoise):
        raise UnsupportedMechanismError(
            f"no draws of {type(noise).__name__} are counted: those of independent Laplace and "
            "Gaussian noise are"
        )
    variances = np.diag(noise.covariance)
    if (noise.covariance - np.diag(variances)).any() or not variances.all():
        raise UnsupportedMechanismError(
            "draws are counted coordinate by coordinate, and this noise ties or spares some"
        )
    return FloatSum(mechanism=mechanism)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoordinateLaw:
    """The values that one coordinate takes, with log weights under each secret.

    Parameters
    ----------
    values : array of shape (a,)
    log_weights : array of shape (n_secrets, a)
    """

    values: FloatArray
    log_weights: FloatArray


def coordinate_laws(shadow: Transcript, n_secrets: int) -> tuple[CoordinateLaw, ...]:
    """Return the lattice of every coordinate of the shadow answers, with a normal law on it.

    Raises
    ------
    UnsupportedMechanismError
        If answers are no vectors, or a coordinate has no lattice.
    """
    if shadow.answers.ndim != 2:
        raise UnsupportedMechanismError(
            f"answers must be vectors, got shape {shadow.answers.shape[1:]}"
        )
    answers = np.asarray(shadow.answers, dtype=np.float64)
    lattice = lattice_of(answers)
    if (lattice.step == 0).any():
        where = np.flatnonzero(lattice.step == 0).tolist()
        raise UnsupportedMechanismError(f"shadow answers of coordinates {where} lie on no lattice")
    laws = []
    for j, column in enumerate(answers.T):
        values = as_written(lattice.values(j), column)
        logs = []
        for secret in range(n_secrets):
            seen = column[shadow.secret == secret]
            spread = max(float(seen.std()), float(lattice.step[j]) / 2)
            log = -0.5 * ((values - seen.mean()) / spread) ** 2
            logs.append(np.logaddexp(log - logsumexp(log), np.log(RARE)))
        laws.append(CoordinateLaw(values=values, log_weights=np.array(logs)))
    return tuple(laws)


def as_written(values: FloatArray, seen: FloatArray) -> FloatArray:
    """Return lattice values as the floats that answers are: whole numbers over a whole number.

    A mean of n whole numbers is their sum divided by n, rounded once; `offset + step j` is not.
    Where that does not give every answer seen, those seen are all there is.
    """
    parts = 1 / float(np.diff(values).min()) if values.size > 1 else 1.0
    written = np.rint(values * np.rint(parts)) / np.rint(parts) if parts >= 0.5 else values
    return written if np.isin(seen, written).all() else np.unique(seen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoordinateAttacker:
    """Adds the coordinates' log masses up, each a mixture over its lattice."""

    likelihood: FloatSum
    laws: tuple[CoordinateLaw, ...]

    def score(self, releases: Array) -> FloatArray:
        """Return log probabilities of ``(n, k, m)`` releases, one column a secret."""
        y = np.asarray(releases, dtype=np.float64)
        scores = np.zeros((len(y), len(self.laws[0].log_weights)))
        for j, law in enumerate(self.laws):
            logs = np.zeros((len(y), law.values.size))
            for i in range(y.shape[1]):
                logs += self.likelihood.of_coordinate(y[:, i, j, None], law.values[None], j)
            found = logsumexp(logs[:, None] + law.log_weights[None], axis=-1)
            # An answer off the lattice's reach tells nothing of this coordinate.
            scores += np.where(np.isfinite(found), found, 0.0)
        return scores
