"""Additive noise: what a noise law answers, and the mechanism that adds it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from mechanisms.base import NotApplicableError, Sees
from mechanisms.check import Array, FloatArray, one_of
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.quadratic_form import quadratic_form
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.grid import ARITHMETICS, SLACK, Arithmetic, HasGrid
from mechanisms.noise.point_mass import agreement, aligned_pair
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.privacy.notion import Notion
from mechanisms.privacy.slack import at_smaller_delta, smaller_delta, widened


class NoiseLaw(Protocol):
    """A law of additive noise in R^m."""

    @property
    def covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., m)."""

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Epsilon of k releases under translations by ``(p, m)`` differences; exact."""

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Compare the laws of k releases under two answer laws."""

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of ``(n, k, m)`` releases when the answer has law `law`."""


@runtime_checkable
class HasNoiseDensity(Protocol):
    """A noise law with a density in R^m."""

    def log_density(self, z: FloatArray) -> FloatArray:
        """Log density of noise ``(..., m)``, shape (...)."""


@runtime_checkable
class HasSplitNoise(Protocol):
    """A noise law that knows how much of it several releases need to cost what one costs."""

    def split_among(self, n_releases: int) -> NoiseLaw:
        """Return the noise of which so many releases cost what one of this costs."""


class Claim(Protocol):
    """How a noise law translates into a guarantee: a theorem with its inputs."""

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Return what `n_releases` independent releases of one answer guarantee together."""


@runtime_checkable
class HasClaimIn(Protocol):
    """A claim that knows other notions than its own, from the noise itself."""

    def guarantee_in(
        self, noise: NoiseLaw, notion: Notion, n_releases: int
    ) -> Guarantee | NotComparable | None:
        """Return the claim in that notion; None where the number of the own one is all there is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdditiveNoise:
    """Release ``answer + Z`` with ``Z`` of law `noise`; the claim is computed from that noise.

    Parameters
    ----------
    noise : NoiseLaw
    claim : Claim
    arithmetic : {"snapped", "float"}
        How the sum is taken: rounded to a grid together (`mechanisms.noise.grid`), the default
        for noise that has a grid, or as floats add up, whose last bits may name the answer.
    """

    sees: ClassVar[Sees] = "answers"
    noise: NoiseLaw
    claim: Claim
    arithmetic: Arithmetic = "snapped"

    def __post_init__(self) -> None:
        one_of("arithmetic", self.arithmetic, ARITHMETICS)

    @property
    def step(self) -> FloatArray | None:
        """Step of the grid of releases, shape (m,); None where they are floats as they come."""
        if self.arithmetic == "float" or not isinstance(self.noise, HasGrid):
            return None
        return self.noise.step

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """What one release guarantees."""
        return self.repeated_guarantee(1)

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return what several releases of one answer guarantee together, the grid's slack in it."""
        slack = self.slack(n_releases)
        found = at_smaller_delta(self.claim, slack).guarantee(self.noise, n_releases)
        if isinstance(found, NoClaim) or slack == 0:
            return found
        own = getattr(self.claim, "notion", found.notion)
        return widened(replace(found, notion=own), slack)

    def guarantee_in(self, notion: Notion, n_releases: int) -> Guarantee | NotComparable | None:
        """Return the claim in another notion where the claim can read it off the noise."""
        if not isinstance(self.claim, HasClaimIn):
            return None
        slack = self.slack(n_releases)
        found = self.claim.guarantee_in(self.noise, smaller_delta(notion, slack), n_releases)
        if not isinstance(found, Guarantee) or slack == 0:
            return found
        return widened(replace(found, notion=notion), slack)

    def slack(self, n_releases: int) -> float:
        """Log of the largest factor by which a release's probability is off its law's."""
        step = self.step
        return 0.0 if step is None else SLACK * step.size * n_releases

    def split_among(self, n_releases: int) -> AdditiveNoise:
        """Return the mechanism of which so many releases claim what one of this claims."""
        if not isinstance(self.noise, HasSplitNoise):
            raise NotApplicableError("no composition theorem covers several releases of this noise")
        return replace(self, noise=self.noise.split_among(n_releases))

    def release(self, x: Array, rng: np.random.Generator) -> FloatArray:
        """Add fresh noise to answers ``(n_trials, m)``."""
        answers = np.asarray(x, dtype=np.float64)
        if self.step is not None and isinstance(self.noise, HasGrid):
            return self.noise.release_on_grid(answers, rng)
        return answers + self.noise.sample(x.shape, rng)

    def variances(self) -> FloatArray:
        """Return the noise variance of each coordinate, shape (m,)."""
        return np.diag(self.noise.covariance).copy()

    @property
    def noise_covariance(self) -> FloatArray:
        """The noise covariance, shape (m, m)."""
        return self.noise.covariance

    @property
    def is_noiseless(self) -> bool:
        """Whether no noise is added at all: the calibration found the answers private enough."""
        return not self.noise.covariance.any()

    @property
    def deterministic(self) -> bool:
        """Whether no noise is added."""
        return self.is_noiseless

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the release laws under two answer laws."""
        if self.is_noiseless and isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw):
            return aligned_pair(first, second)
        return self.noise.leakage(first, second, n_releases)

    def log_density(self, releases: FloatArray, answers: FloatArray) -> FloatArray:
        """Log density of releases given answers, broadcast against each other."""
        if self.is_noiseless:
            return agreement(releases, answers)
        if not isinstance(self.noise, HasNoiseDensity):
            raise NotComputableError("noise along a direction has no density in the whole space")
        return self.noise.log_density(releases - answers)

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Log density of ``(n, k, m)`` releases when the answer has law `law`."""
        return self.noise.marginal_log_density(releases, law)


def additive(mechanism: object) -> AdditiveNoise:
    """Return `mechanism` if it adds noise, for calibrations that wrap another one."""
    if not isinstance(mechanism, AdditiveNoise):
        raise NotApplicableError(
            f"only additive noise can be relaxed or rounded, got {type(mechanism).__name__}"
        )
    return mechanism


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TranslationClaim:
    """The two sides of every pair are translations of each other by a known difference.

    Parameters
    ----------
    differences : array of shape (p, m)
        One translation a pair, in units of the query.
    notion : Approximate
    theorem : str
    assumptions : Assumptions
    """

    differences: FloatArray
    notion: Approximate
    theorem: str
    assumptions: Assumptions

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee:
        """Couple each answer with its translation: releases of it differ in the noise alone."""
        return Guarantee(
            notion=self.notion,
            bound=noise.shift_epsilon(self.differences, self.notion.delta, n_releases),
            theorem=self.theorem,
            assumptions=self.assumptions,
        )


def shared_gaussian(first: AnswerLaw, second: AnswerLaw) -> tuple[FloatArray, FloatArray]:
    """Return the mean difference and the common covariance of two Gaussian answers.

    Raises
    ------
    NotComputableError
        If an answer is not Gaussian, or their covariances differ (relative tolerance 1e-9).
    """
    first, second = point_as_gaussian(first), point_as_gaussian(second)
    if not (isinstance(first, GaussianLaw) and isinstance(second, GaussianLaw)):
        raise NotComputableError("exact leakage of this noise needs Gaussian answers")
    if not equal_covariances(first, second):
        raise NotComputableError("the two sides' covariances differ")
    return first.mean - second.mean, first.covariance


def point_as_gaussian(law: AnswerLaw) -> AnswerLaw:
    """Return a vector point mass as the Gaussian without spread that it is; others unchanged."""
    if isinstance(law, FiniteLaw) and is_point(law):
        mean = np.asarray(law.atoms[0], dtype=np.float64)
        return GaussianLaw(mean=mean, covariance=np.zeros((mean.size, mean.size)))
    return law


def is_point(law: FiniteLaw) -> bool:
    """Whether a law is one vector."""
    return law.weights.size == 1 and law.atoms.ndim == 2


def equal_covariances(first: GaussianLaw, second: GaussianLaw) -> bool:
    """Whether the covariances agree, entry by entry, to 1e-9 of the standard deviations."""
    spread = np.sqrt(np.diag(first.covariance))
    gap = np.abs(first.covariance - second.covariance)
    return bool((gap <= 1e-9 * np.outer(spread, spread)).all())


def spread_along(covariance: FloatArray, direction: FloatArray) -> float:
    """Return the standard deviation along `direction` given the rest: (v' S^-1 v)^(-1/2).

    0 where the covariance is singular with `direction` outside its range: the best attacker
    then sees that component without any spread.
    """
    form = quadratic_form(direction, covariance)
    return 1 / math.sqrt(form) if form > 0 else math.inf
