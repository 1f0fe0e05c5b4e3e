"""The Wasserstein mechanisms of distribution privacy: no assumption on the shape of the laws.

Chen and Ohrimenko (2023), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from mechanisms.check import positive
from mechanisms.distribution.expected_value import distributions
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.laplace import LaplaceNoise, laplace_scale
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosenessClaim:
    """Every pair's answers can be coupled within an L1 distance, but for mass delta.

    Parameters
    ----------
    distance : float in [0, inf)
        W, in units of the query.
    theorem : str
    notion : Approximate
        Its delta is the mass that the coupling may move farther.
    conditions : tuple of Condition
    """

    distance: float
    theorem: str
    notion: Approximate
    conditions: tuple[Condition, ...] = ()

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Move an answer by W along the axis with least noise, the worst move in L1."""
        if not isinstance(noise, LaplaceNoise):
            return NoClaim(reason="closeness in L1 is turned into epsilon by Laplace noise only")
        move = np.zeros((1, noise.scales.size))
        move[0, noise.scales.argmin()] = self.distance
        return Guarantee(
            notion=self.notion,
            bound=noise.shift_epsilon(move, self.notion.delta, n_releases),
            theorem=self.theorem,
            assumptions=distributions(*self.conditions, Condition.REAL_NUMBERS),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WassersteinLaplace:
    """Release ``F + Lap(W / epsilon)`` per coordinate, W the largest W_infinity: (epsilon, 0).

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 3.1.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([[0, 0], [0, 1]], [[0, 0], [2, 1]]))
    >>> answers = FiniteAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = WassersteinLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [8.0, 8.0]
    """

    requires: ClassVar = (FiniteAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers: FiniteAnswers, *, budget: Epsilon) -> AdditiveNoise:
        """Scale independent Laplace noise to the largest infinity-Wasserstein distance in L1."""
        return _laplace(
            answers.distance(0.0), answers.dimension, budget.epsilon, 0.0, "Theorem 3.1"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateWassersteinLaplace:
    """Release ``F + Lap(W / epsilon)`` with every pair (W, delta)-close: (epsilon, delta).

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 3.2.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([[0, 0], [0, 1]], [[0, 0], [2, 1]]))
    >>> answers = FiniteAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = ApproximateWassersteinLaplace().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [8.0, 8.0]
    """

    requires: ClassVar = (FiniteAnswers,)
    accepts: ClassVar = EpsilonDelta

    def calibrate(self, answers: FiniteAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Scale independent Laplace noise to the distance over which all but delta moves."""
        distance = answers.distance(budget.delta)
        return _laplace(distance, answers.dimension, budget.epsilon, budget.delta, "Theorem 3.2")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedWassersteinLaplace:
    """Release ``F + Lap((Delta_{E,1} + 2 r) / epsilon)``: (epsilon, delta).

    Parameters
    ----------
    radius : float in (0, inf) or None
        r, with ``|F - E F|_1 <= r`` at probability 1 - delta/2 or more under every secret. None
        takes it from the Gaussian model by a union bound over coordinates, an upper bound:
        ``r = sum_k sigma_k z`` with z the 1 - delta/(4 m) quantile; covariances may differ.

    References
    ----------
    Chen and Ohrimenko (2023), Proposition 3.3 with Theorem 3.2.

    Examples
    --------
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = BoundedWassersteinLaplace().calibrate(
    ...     answers, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [937.362, 937.362]
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = EpsilonDelta
    radius: float | None = None

    def __post_init__(self) -> None:
        if self.radius is not None:
            positive("radius", self.radius, infinite=False)

    def calibrate(self, answers: GaussianAnswers, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Scale independent Laplace noise to the mean difference and two radii."""
        m = answers.means.shape[1]
        radius = self.radius
        condition = Condition.WITHIN_RADIUS
        if radius is None:
            spreads = np.sqrt(np.diagonal(answers.covariances, axis1=1, axis2=2))
            involved = sorted({index for pair in answers.pairs for index in pair})
            quantile = -float(ndtri(budget.delta / (4 * m)))
            radius = float(spreads[involved].sum(axis=1).max()) * quantile
            condition = Condition.GAUSSIAN_ANSWERS
        distance = answers.distance(1) + 2 * radius
        return _laplace(distance, m, budget.epsilon, budget.delta, "Proposition 3.3", condition)


def _laplace(
    distance: float,
    dimension: int,
    epsilon: float,
    delta: float,
    theorem: str,
    *conditions: Condition,
) -> AdditiveNoise:
    """Add iid Laplace noise of scale distance / epsilon, with the claim of that coupling."""
    return AdditiveNoise(
        noise=LaplaceNoise(scales=np.full(dimension, laplace_scale(distance, epsilon))),
        claim=ClosenessClaim(
            distance=distance,
            theorem=f"Chen and Ohrimenko (2023), {theorem}",
            notion=Approximate(delta=delta),
            conditions=conditions,
        ),
    )
