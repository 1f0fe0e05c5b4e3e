"""The least Laplace or Gaussian noise there is for a Renyi budget, for scalar answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.answer import FiniteLaw
from mechanisms.laws.discrete import DiscreteLaw
from mechanisms.leakage.divergence import worst_noised_divergence
from mechanisms.leakage.noisy_mixtures import Noise
from mechanisms.leakage.root import smallest_monotone
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.additive import Noise as NoiseLaw
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.composition import unbounded
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.exact import exact_scale
from mechanisms.renyi.scale_claim import ScaleClaim, check_noise, over_pairs, scaled_noise

UNKNOWN = "the true divergence of several Laplace releases is known at order inf only"
LawPairs = Sequence[tuple[DiscreteLaw, DiscreteLaw]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TightNoise:
    """Release ``X + Z`` at the smallest scale whose true divergence meets the budget.

    The divergence of the release laws is computed, in both directions of every pair, not bounded
    through a coupling: nothing with this noise law can do with less. Order in (0, inf]; no noise
    where the answer's laws meet the budget as they are.

    Several releases together: the average of Gaussian ones tells all; the largest log ratio of
    Laplace ones (order inf) is tabulated where answers are whole numbers; otherwise unknown.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}

    References
    ----------
    Van Erven and Harremoes (2014), data processing inequality: divergences fall with the scale.
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: Noise

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        order, noise = budget.order, self.noise
        pairs = over_pairs(
            answers.law_pairs(),
            lambda laws: exact_scale(*laws, order=order, epsilon=budget.epsilon, noise=noise),
            lambda laws, s: worst_noised_divergence(*laws, order=order, noise=noise, scale=s),
        )
        mechanism = scaled_noise(
            pairs,
            noise=noise,
            notion=Renyi(order=order),
            theorem="the divergence itself",
            notes=answers.skipped(),
        )
        if not isinstance(mechanism, AdditiveNoise) or noise == "gaussian":
            return mechanism
        assert isinstance(mechanism.claim, ScaleClaim)
        claim = TightLaplaceClaim(single=mechanism.claim, laws=answers.law_pairs(), order=order)
        return replace(mechanism, claim=claim)

    def calibrate_together(
        self, answers: ScalarAnswers, *, budget: RenyiEpsilon, n_releases: int
    ) -> Mechanism:
        """Solve for the releases together: the smallest scale whose joint divergence is enough."""
        single = self.calibrate(answers, budget=budget)
        if not isinstance(single, AdditiveNoise):
            return single
        if self.noise == "gaussian":
            return single.split_among(n_releases)
        if budget.order < math.inf:
            raise NotApplicableError(UNKNOWN)
        laws = answers.law_pairs()
        once = float(np.sqrt(single.variances()[0] / 2))
        try:
            scale = smallest_monotone(
                lambda b: repeated_pure_epsilon(laws, b, n_releases),
                budget=budget.epsilon,
                high=once * n_releases,
                floor=once,
            )
        except NotComputableError as reason:
            raise NotApplicableError(str(reason)) from reason
        return replace(single, noise=LaplaceNoise(scales=np.array([scale])))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TightLaplaceClaim:
    """The true divergence at the noise's scale; of several releases at order inf alone.

    Parameters
    ----------
    single : ScaleClaim
        Of one release.
    laws : sequence of pairs of DiscreteLaw
    order : float
    """

    single: ScaleClaim
    laws: LawPairs
    order: float

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Compute the divergence of so many releases, or leave it unbounded."""
        found = self.single.guarantee(noise, 1)
        if n_releases == 1 or isinstance(found, NoClaim):
            return found
        if self.order < math.inf:
            return unbounded(found, UNKNOWN)
        assert isinstance(noise, LaplaceNoise)
        try:
            epsilon = repeated_pure_epsilon(self.laws, float(noise.scales[0]), n_releases)
        except NotComputableError as reason:
            return unbounded(found, str(reason))
        return replace(found, bound=epsilon)


def repeated_pure_epsilon(laws: LawPairs, scale: float, n_releases: int) -> float:
    """Return the largest log ratio of several Laplace releases of one whole-number answer.

    Falls in the scale: noise of a larger one is a smaller one plus an independent variable.
    """
    noise = LaplaceNoise(scales=np.array([scale]))
    return max(noise.leakage(_points(p), _points(q), n_releases).epsilon(0.0).hi for p, q in laws)


def _points(law: DiscreteLaw) -> FiniteLaw:
    return FiniteLaw(support=law.atoms[:, None], weights=law.weights)
