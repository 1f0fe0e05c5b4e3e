"""Renyi Pufferfish privacy of a scalar answer that is Gaussian under every secret.

The variances may differ; this is the model's own law, not a sample of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanisms.base import Mechanism, NotApplicableError
from mechanisms.knowledge import GaussianAnswers
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.gaussian_prior_scale import (
    tight_gaussian_prior,
    wasserstein_gaussian_prior,
    wasserstein_gaussian_prior_epsilon,
    worst_gaussian_divergence,
)
from mechanisms.renyi.scale_claim import over_pairs, scaled_noise


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPrior:
    """Release ``X + N(0, s^2)`` for ``X ~ N(mean, variance)`` under every secret.

    Parameters
    ----------
    bound : {"wasserstein", "exact"}
        Theorem 2 in closed form on the comonotone coupling, whose displacement is Gaussian; or
        the smallest noise whose true divergence meets the budget in both directions.

    References
    ----------
    Ding, Yang, Zhang (2026), Theorem 2; Gil, Alajaji, Linder (2013) for the divergence.
    """

    requires: ClassVar = (GaussianAnswers,)
    accepts: ClassVar = RenyiEpsilon
    bound: Literal["wasserstein", "exact"] = "wasserstein"

    def __post_init__(self) -> None:
        if self.bound not in ("wasserstein", "exact"):
            raise ValueError(f"bound must be 'wasserstein' or 'exact', got bound={self.bound!r}.")

    def calibrate(self, answers: GaussianAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        if answers.means.shape[1] != 1:
            raise NotApplicableError(
                f"this calibration is for scalar answers, got {answers.means.shape[1]} coordinates"
            )
        order, epsilon, exact = budget.order, budget.epsilon, self.bound == "exact"
        if not 1 < order < float("inf"):
            raise NotApplicableError(f"the order must be in (1, inf), got order={order:g}")
        solve = tight_gaussian_prior if exact else wasserstein_gaussian_prior
        read = worst_gaussian_divergence if exact else wasserstein_gaussian_prior_epsilon
        moments = [
            tuple(
                (float(values[i]), float(values[j]))
                for values in (answers.means[:, 0], answers.covariances[:, 0, 0])
            )
            for i, j in answers.pairs
        ]
        pairs = over_pairs(
            moments,
            lambda at: solve(at[0], at[1], order=order, epsilon=epsilon),
            lambda at, s: read(at[0], at[1], order=order, scale=s),
        )
        return scaled_noise(
            pairs,
            noise="gaussian",
            notion=Renyi(order=order),
            theorem="the divergence itself" if exact else "Ding, Yang, Zhang (2026), Theorem 2",
            conditions=(Condition.GAUSSIAN_ANSWERS,),
        )
