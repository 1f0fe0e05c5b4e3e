"""Noise in a subspace, repaired: noise in every direction, or the noised projection alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mechanisms.base import Calibration, Knowledge, NotApplicableError, Sees
from mechanisms.check import Array, FloatArray, one_of, within
from mechanisms.distribution.relaxed import NearbyModel
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.additive import AdditiveNoise, Claim, NoiseLaw, additive
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.noise.rank import noised_directions
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.guarantee import Guarantee, NoClaim

REPAIRS = ("floor", "projection", "none")
Repair = Literal["floor", "projection", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """Calibrate noise that may spare directions, and repair what lattice answers make of that.

    Parameters
    ----------
    calibration : Calibration
        Of additive noise from Gaussian answers.
    repair : {"floor", "projection", "none"}
        *floor*: Laplace noise in every coordinate as well, for half a lattice step a coordinate,
        within the budget (`NearbyModel`; Chen and Ohrimenko, 2023, Theorem 4.7). *projection*:
        release the noised directions alone and the model's mean elsewhere, which is
        post-processing of the published release, and shows nothing without noise. *none*: the
        published form.
    share : float in (0, .5)
        Share of epsilon that *floor* spends, twice.
    distance : float in (0, inf), or None
        Of *floor*: how far real answers are from the model; None takes half a step a coordinate.
    """

    calibration: Calibration
    repair: Repair = "floor"
    share: float = 0.2
    distance: float | None = None

    def __post_init__(self) -> None:
        one_of("repair", self.repair, REPAIRS)
        within("share", self.share, 0, 0.5, ends="()")

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the wrapped calibration requires."""
        return self.calibration.requires

    @property
    def accepts(self) -> type[Budget]:
        """What the wrapped calibration accepts."""
        return self.calibration.accepts

    def calibrate(self, *knowledge: Any, budget: Any) -> AdditiveNoise | NoisedProjection:  # noqa: ANN401
        """Return the repaired mechanism."""
        if self.repair == "floor":
            nearby = NearbyModel(
                calibration=self.calibration, distance=self.distance, share=self.share
            )
            return nearby.calibrate(*knowledge, budget=budget)
        inner = additive(self.calibration.calibrate(*knowledge, budget=budget))
        if self.repair == "none":
            return inner
        centres = (k.means.mean(axis=0) for k in knowledge if isinstance(k, GaussianAnswers))
        return NoisedProjection.of(inner, next(centres, np.zeros(len(inner.noise_covariance))))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameClaim:
    """The claim of the whole release, for its projection (post-processing)."""

    whole: AdditiveNoise

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Return what the whole release guarantees."""
        del noise  # the projection of the whole's
        claim: Claim = self.whole.claim
        return claim.guarantee(self.whole.noise, n_releases)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisedProjection:
    """Release ``c + B (B' (answer - c) + Z)``: nothing that carries no noise is shown.

    Parameters
    ----------
    whole : AdditiveNoise
        The published release.
    centre : array of shape (m,)
        c: the model's mean, public.
    basis : array of shape (m, r)
        B: orthonormal columns that span the noised directions.
    inside : AdditiveNoise
        The noise Z in r coordinates, of full rank, with the claim of the whole.
    """

    sees: ClassVar[Sees] = "answers"
    whole: AdditiveNoise
    centre: FloatArray
    basis: FloatArray
    inside: AdditiveNoise

    @classmethod
    def of(cls, whole: AdditiveNoise, centre: FloatArray) -> NoisedProjection:
        """Project a release on its noised directions; refuse a release without noise."""
        covariance = whole.noise_covariance
        _, vectors, rank = noised_directions(covariance)
        if rank == 0:
            raise NotApplicableError("there is no noise, hence no noised projection")
        noise: NoiseLaw
        if isinstance(whole.noise, DirectionalLaplaceNoise):
            basis = whole.noise.direction[:, None]
            noise = LaplaceNoise(scales=np.array([whole.noise.scale]))
        elif isinstance(whole.noise, GaussianNoise):
            basis = vectors[:, len(covariance) - rank :]
            inside = basis.T @ covariance @ basis
            noise = GaussianNoise(
                covariance=(inside + inside.T) / 2, calibration=whole.noise.calibration
            )
        else:
            raise NotApplicableError(
                f"the projection of {type(whole.noise).__name__} has no known law"
            )
        return cls(
            whole=whole,
            centre=centre,
            basis=basis,
            inside=AdditiveNoise(noise=noise, claim=SameClaim(whole=whole)),
        )

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What one release guarantees."""
        return self.inside.guarantee

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several releases of one answer guarantee together."""
        return self.inside.repeated_guarantee(n_releases)

    def split_among(self, n_releases: int) -> NoisedProjection:
        """Return the mechanism of which so many releases claim what one of this claims."""
        return NoisedProjection.of(self.whole.split_among(n_releases), self.centre)

    def release(self, x: Array, rng: np.random.Generator) -> FloatArray:
        """Release answers ``(n_trials, m)``."""
        inside = (np.asarray(x, dtype=np.float64) - self.centre) @ self.basis
        return self.centre + self.inside.release(inside, rng) @ self.basis.T

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the projected releases under two answer laws."""
        return self.inside.leakage(self._inside(first), self._inside(second), n_releases)

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of ``(n, k, m)`` releases, in the r noised coordinates."""
        inside = (releases - self.centre) @ self.basis
        return self.inside.marginal_log_density(inside, self._inside(law))

    def _inside(self, law: AnswerLaw) -> AnswerLaw:
        if isinstance(law, GaussianLaw):
            covariance = self.basis.T @ law.covariance @ self.basis
            return GaussianLaw(
                mean=(law.mean - self.centre) @ self.basis,
                covariance=(covariance + covariance.T) / 2,
            )
        if isinstance(law, FiniteLaw):
            atoms = (law.as_vectors.atoms - self.centre) @ self.basis
            return FiniteLaw(atoms=atoms, weights=law.weights)
        raise NotComputableError("the projection of this law is not known")
