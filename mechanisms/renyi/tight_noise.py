"""The least Laplace or Gaussian noise there is for a Renyi budget, for scalar answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mechanisms import check
from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.divergence import worst_noised_divergence
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.leakage.root import smallest_monotone
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.composition import unbounded
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.alpha_wasserstein import wasserstein_gaussian_scale
from mechanisms.renyi.joint_convex import joint_convex_laplace_scale
from mechanisms.renyi.scale_claim import (
    ScaleClaim,
    check_noise,
    over_pairs,
    scaled_noise,
)

UNKNOWN = "the true divergence of several Laplace releases is known at order inf only"
LawPairs = Sequence[tuple[FiniteLaw, FiniteLaw]]
# Noise of a thousandth of the smallest gap between atoms hides nothing more.
_FLOOR = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class TightNoise:
    """Release ``X + Z`` at the smallest scale whose true divergence meets the budget.

    The divergence of the release laws is computed, in both directions of every pair, not bounded
    through a coupling: nothing with this noise law can do with less. Order in (0, inf]; no noise
    where the answer's laws meet the budget as they are.

    Several releases together: the average of Gaussian ones tells all; the largest log ratio of
    Laplace ones (order inf) is exact; of a finite order unknown.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}

    References
    ----------
    Van Erven and Harremoes (2014), data processing inequality: divergences fall with the scale.

    Examples
    --------
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = TightNoise(noise="laplace").calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.1)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [1.36]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: NoiseName

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest root over the pairs."""
        order, noise = budget.order, self.noise
        pairs = over_pairs(
            answers.law_pairs(),
            lambda laws: tight_scale(*laws, order=order, epsilon=budget.epsilon, noise=noise),
            lambda laws, s: worst_noised_divergence(*laws, order=order, noise=noise, scale=s),
        )
        mechanism = scaled_noise(
            pairs,
            epsilon=budget.epsilon,
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
    laws : sequence of pairs of FiniteLaw
    order : float
    """

    single: ScaleClaim
    laws: LawPairs
    order: float

    def at(self, scale: float) -> Guarantee:
        """Return the guarantee of one release with noise of this scale."""
        return self.single.at(scale)

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
    """Return the largest log ratio of several Laplace releases of one answer.

    Falls in the scale: noise of a larger one is a smaller one plus an independent variable.
    """
    noise = LaplaceNoise(scales=np.array([scale]))
    return max(noise.leakage(p, q, n_releases).epsilon(0.0).hi for p, q in laws)


def tight_scale(
    p: FiniteLaw, q: FiniteLaw, *, order: float, epsilon: float, noise: NoiseName
) -> float:
    """Return the smallest scale with ``D_order <= epsilon`` after noise, in both directions.

    Exact to 1e-11, rounded up. Every divergence is nonincreasing in the scale, since Laplace
    (Gaussian) noise is a smaller one plus an independent variable, so that the root is unique.

    Parameters
    ----------
    p, q : FiniteLaw
        Laws of the query under the two secrets, on the line.
    order : float in (0, inf]
    epsilon : float in (0, inf]
    noise : {"laplace", "gaussian"}

    Returns
    -------
    float
        Scale b or standard deviation; 0 where the laws meet the budget without noise; inf where
        no noise does (Gaussian noise at order inf).
    """
    order = check.within("order", order, 0, math.inf, ends="(]")
    epsilon = check.positive("epsilon", epsilon)
    if math.isinf(epsilon):
        return 0.0
    if worst_noised_divergence(p, q, order=order, noise=noise, scale=0) <= epsilon:
        return 0.0
    if noise == "gaussian" and math.isinf(order) and _far_ratio(p, q) > epsilon:
        return math.inf
    plan = comonotone(p, q)
    safe = min(max(order, 1.0), 1e6)
    if noise == "laplace":
        high = joint_convex_laplace_scale(plan, order=max(order, 1.0), epsilon=epsilon)
    else:
        high = wasserstein_gaussian_scale(plan, order=safe, epsilon=epsilon)
    floor = _FLOOR * float(np.diff(np.union1d(p.atoms, q.atoms)).min())
    return smallest_monotone(
        lambda scale: worst_noised_divergence(p, q, order=order, noise=noise, scale=scale),
        budget=epsilon,
        high=max(high, floor),
        floor=floor,
    )


def _far_ratio(p: FiniteLaw, q: FiniteLaw) -> float:
    """Return the largest log ratio of Gaussian tails: that of the outermost atoms' weights."""
    if p.atoms[0] != q.atoms[0] or p.atoms[-1] != q.atoms[-1]:
        return math.inf
    return float(np.abs(np.log(p.weights[[0, -1]] / q.weights[[0, -1]])).max())
