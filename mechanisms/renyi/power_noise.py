"""The exponential mechanism of Renyi Pufferfish privacy: noise from a metric of the line.

Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy, Corollary 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaln

from mechanisms import check
from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.check import FloatArray, one_of, positive, within
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.coupling import Coupling, comonotone
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.leakage.root import largest_convex
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions, Condition, Public
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.least_noise_coupling import least_noise_coupling
from mechanisms.renyi.noise_cost import (
    log_mean_exp,
    rounded_down,
)
from mechanisms.renyi.scale_claim import (
    ZeroNoiseRelease,
    check_order,
)

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

    def split_among(self, n_releases: int) -> PowerNoise:
        """Return the noise of which so many releases cost what one of this costs."""
        return PowerNoise(rate=self.rate / n_releases, power=self.power)

    def shift_epsilon(self, differences: FloatArray, delta: float, k: int) -> float:
        """Pure epsilon of k releases under translations; exact, since the peak attains it."""
        del delta
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

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Read the corollary at this noise's rate."""
        if not isinstance(noise, PowerNoise):
            return NoClaim(reason=f"{THEOREM} is about noise made from a metric")
        return self.at(n_releases * noise.rate, noise.power)

    def at(self, rate: float, power: float) -> Guarantee:
        """Return the guarantee of noise of this rate; inf is no noise."""
        found = [
            exponential_epsilon(
                plan.distances() ** power, plan.weights, order=self.order, rate=rate
            )
            for plan in self.plans
        ]
        return Guarantee(
            notion=Renyi(order=self.order),
            bound=max(found),
            theorem=THEOREM,
            assumptions=Assumptions(public=(Public.LAWS,), conditions=(Condition.REAL_NUMBERS,)),
            notes=self.notes,
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

    Examples
    --------
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = WassersteinExponential(power=0.5).calibrate(
    ...     answers, budget=RenyiEpsilon(order=2.0, epsilon=0.5)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [1408.626]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    power: float = 1.0
    plan: Literal["comonotone", "transport"] = "comonotone"

    def __post_init__(self) -> None:
        within("power", self.power, 0, 1, ends="(]")
        one_of("plan", self.plan, ("comonotone", "transport"))

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the smallest rate over the pairs."""
        order, epsilon = check_order(budget, THEOREM), budget.epsilon
        plans = tuple(self._plan(p, q, order, epsilon) for p, q in answers.law_pairs())
        claim = RateClaim(plans=plans, order=order, notes=answers.skipped())
        rate = min(self._rate(plan, order, epsilon) for plan in plans)
        if rate == 0:
            raise NotApplicableError(f"no noise meets epsilon={epsilon:g} by {THEOREM}")
        if math.isinf(rate):
            return ZeroNoiseRelease(claim=claim.at(math.inf, self.power))
        return AdditiveNoise(noise=PowerNoise(rate=rate, power=self.power), claim=claim)

    def _rate(self, plan: Coupling, order: float, epsilon: float) -> float:
        costs = plan.distances() ** self.power
        return exponential_rate(costs, plan.weights, order=order, epsilon=epsilon)

    def _plan(self, p: FiniteLaw, q: FiniteLaw, order: float, epsilon: float) -> Coupling:
        if self.plan == "comonotone" or not 1 < order < math.inf:
            return comonotone(p, q)
        costs = np.abs(np.subtract.outer(p.atoms, q.atoms)) ** self.power

        def scale(plan: Coupling) -> float:
            rate = self._rate(plan, order, epsilon)
            return 1 / rate if rate > 0 else math.inf

        return least_noise_coupling(p, q, log_costs=lambda s: order * costs / s, scale=scale)


def exponential_rate(
    costs: FloatArray, weights: FloatArray, *, order: float, epsilon: float
) -> float:
    """Return the rate eta of noise with density proportional to ``exp(-eta c(z))``, c a metric.

    Ding, Yang, Zhang (2026), Corollary 1: the largest eta with
    ``E[exp(order eta c(x-x'))] <= exp((order-1) epsilon)``, a lower bound on the largest valid
    rate. A rate, not a scale: inf means no noise, 0 that no noise is enough.

    Parameters
    ----------
    costs : array of shape (k,)
        ``c(x - x')`` for each pair of a coupling. The comonotone coupling is optimal for
        ``c = |z|``; for other metrics any coupling is valid and the optimal plan for the cost
        ``exp(order eta c)`` is best.
    weights : array of shape (k,)
    """
    costs = check.finite("costs", costs)
    if costs.shape != np.shape(weights) or (costs < 0).any():
        raise ValueError("costs must be non-negative, one for each weight.")
    return _rate(costs, check.weights("weights", weights), order, epsilon)


def _rate(costs: FloatArray, weights: FloatArray, order: float, epsilon: float) -> float:
    order = check.within("order", order, 1, math.inf)
    epsilon = check.positive("epsilon", epsilon)
    largest = float(costs.max())
    if largest == 0 or math.isinf(epsilon):
        return math.inf
    if math.isinf(order):
        return rounded_down(epsilon / largest)
    if order == 1:
        return 0.0
    costs = costs / largest
    budget = (order - 1) * epsilon
    # log E exp(order u c) <= order u max c gives the lower end, Jensen and the largest term
    # give two upper ends.
    mean, mass = float(weights @ costs), float(weights[costs == 1].sum())
    high = min(budget / (order * mean), (budget - math.log(min(mass, 1.0))) / order)

    def cost(level: float) -> tuple[float, float]:
        value, slope = log_mean_exp(costs, weights, order * level)
        return value, order * slope

    low = budget / order
    return rounded_down(largest_convex(cost, budget=budget, low=low, high=max(low, high)) / largest)


def exponential_epsilon(
    costs: FloatArray, weights: FloatArray, *, order: float, rate: float
) -> float:
    """Return the epsilon of Corollary 1 for noise with density ``exp(-rate c(z))``, c a metric."""
    order = check.within("order", order, 1, math.inf)
    largest = float(costs.max())
    if largest == 0:
        return 0.0
    if math.isinf(rate) or order == 1:
        return math.inf
    if math.isinf(order):
        return rate * largest
    return log_mean_exp(costs, weights, order * rate)[0] / (order - 1)
