"""The exponential mechanism of Renyi Pufferfish privacy: noise from a metric of the line.

Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy, Corollary 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaln

from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.check import FloatArray, positive, within
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.discrete import Coupling, DiscreteLaw, comonotone
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.additive import AdditiveNoise, Noise
from mechanisms.noise.laplace import FLOAT_NOTE, LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.guarantee import (
    RENYI_PUFFERFISH,
    ApproximateMeasure,
    Guarantee,
    NoClaim,
    RenyiMeasure,
)
from mechanisms.renyi import achieved, calibrate
from mechanisms.renyi.alternate import least_noise_coupling
from mechanisms.renyi.scale_claim import PrivateRelease, checked_order

THEOREM = "Ding, Yang, Zhang (2026), Corollary 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerNoise:
    """Scalar noise with density proportional to ``exp(-rate |z|^power)``, power in (0, 1].

    ``|z|^power`` is a metric on the line; power 1 is Laplace noise of scale 1/rate.

    Parameters
    ----------
    rate : float in (0, inf)
        In units of the query to the power -power.
    power : float in (0, 1]
    """

    rate: float
    power: float

    def __post_init__(self) -> None:
        positive("rate", self.rate, infinite=False)
        within("power", self.power, 0, 1, ends="(]")

    @property
    def covariance(self) -> FloatArray:
        """The noise variance, shape (1, 1): ``Gamma(3/p)/Gamma(1/p) rate^(-2/p)``."""
        p = self.power
        return np.array([[math.exp(gammaln(3 / p) - gammaln(1 / p) - 2 / p * math.log(self.rate))]])

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw noise of shape (..., 1): ``rate |Z|^p`` is Gamma(1/p)."""
        size = (rng.gamma(1 / self.power, size=shape) / self.rate) ** (1 / self.power)
        return size * rng.choice([-1.0, 1.0], size=shape)

    def log_density(self, z: FloatArray) -> FloatArray:
        """Log density of noise ``(..., 1)``, shape (...)."""
        p = self.power
        log_norm = math.log(2) + gammaln(1 + 1 / p) - math.log(self.rate) / p
        return -self.rate * np.abs(z[..., 0]) ** p - log_norm

    def shift_epsilon(self, differences: FloatArray, measure: ApproximateMeasure, k: int) -> float:
        """Pure epsilon of k releases under translations; exact, since the peak attains it."""
        del measure
        return k * self.rate * float(np.abs(differences).max()) ** self.power

    def leakage(self, first: AnswerLaw, second: AnswerLaw, k: int) -> PairLeakage:
        """Compare the release laws, where the noise is Laplace."""
        if self.power == 1:
            return LaplaceNoise(scales=np.array([1 / self.rate])).leakage(first, second, k)
        raise NotComputableError("noise with a cusp between Laplace and Cauchy has no closed form")

    def marginal_log_density(self, releases: FloatArray, law: AnswerLaw) -> FloatArray:
        """Raise: sum over the answer's values instead."""
        del releases, law
        raise NotComputableError("this noise integrates over finitely many answers only")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateClaim:
    """Corollary 1 read at the noise's own rate, for the worst pair.

    k releases have log ratios of at most k times one's, so the rate counts k times.
    """

    plans: tuple[Coupling, ...]
    order: float
    notes: tuple[str, ...] = ()

    def guarantee(self, noise: Noise, n_releases: int) -> Guarantee | NoClaim:
        """Read the corollary at this noise's rate."""
        if not isinstance(noise, PowerNoise):
            return NoClaim(reason=f"{THEOREM} is about noise made from a metric")
        return self.at(n_releases * noise.rate, noise.power)

    def at(self, rate: float, power: float) -> Guarantee:
        """Return the guarantee of noise of this rate; inf is no noise."""
        found = [
            achieved.wasserstein_exponential(
                plan.distances() ** power, plan.weights, order=self.order, rate=rate
            )
            for plan in self.plans
        ]
        return Guarantee(
            notion=RENYI_PUFFERFISH,
            measure=RenyiMeasure(self.order),
            epsilon=max(found),
            theorem=THEOREM,
            notes=(*self.notes, FLOAT_NOTE),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WassersteinExponential:
    """Release ``X + Z``, density of Z ``exp(-eta c(z))``, ``E[exp(a eta c)] = exp((a-1) epsilon)``.

    c is the metric ``|z|^power``; capped metrics such as ``min(|z|, 1)`` give no density on the
    whole line. a is the order, in (1, inf].

    Parameters
    ----------
    power : float in (0, 1]
    plan : {"comonotone", "transport"}
        The comonotone coupling is optimal for power 1 and merely valid below; transport problems
        (POT) give the optimal one.

    References
    ----------
    Ding, Yang, Zhang (2026), Corollary 1.
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    power: float = 1.0
    plan: Literal["comonotone", "transport"] = "comonotone"

    def __post_init__(self) -> None:
        within("power", self.power, 0, 1, ends="(]")
        if self.plan not in ("comonotone", "transport"):
            raise ValueError(f"plan must be 'comonotone' or 'transport', got plan={self.plan!r}.")

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the smallest rate over the pairs."""
        order, epsilon = checked_order(budget, THEOREM), budget.epsilon
        plans = tuple(self._plan(p, q, order, epsilon) for p, q in answers.law_pairs())
        claim = RateClaim(plans=plans, order=order, notes=answers.skipped())
        rate = min(self._rate(plan, order, epsilon) for plan in plans)
        if rate == 0:
            raise NotApplicableError(f"no noise meets this budget by {THEOREM}")
        if math.isinf(rate):
            return PrivateRelease(claim=claim.at(math.inf, self.power))
        return AdditiveNoise(noise=PowerNoise(rate=rate, power=self.power), claim=claim)

    def _rate(self, plan: Coupling, order: float, epsilon: float) -> float:
        costs = plan.distances() ** self.power
        return calibrate.wasserstein_exponential(costs, plan.weights, order=order, epsilon=epsilon)

    def _plan(self, p: DiscreteLaw, q: DiscreteLaw, order: float, epsilon: float) -> Coupling:
        if self.plan == "comonotone" or not 1 < order < math.inf:
            return comonotone(p, q)
        costs = np.abs(np.subtract.outer(p.atoms, q.atoms)) ** self.power

        def scale(plan: Coupling) -> float:
            rate = self._rate(plan, order, epsilon)
            return 1 / rate if rate > 0 else math.inf

        return least_noise_coupling(p, q, log_costs=lambda s: order * costs / s, scale=scale)
