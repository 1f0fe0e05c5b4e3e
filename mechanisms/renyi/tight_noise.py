"""The least Laplace or Gaussian noise there is for a Renyi budget, for scalar answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.leakage.divergence import worst_noised_divergence
from mechanisms.leakage.noisy_mixtures import Noise
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import Renyi
from mechanisms.renyi.exact import exact_scale
from mechanisms.renyi.scale_claim import check_noise, over_pairs, scaled_noise


@dataclass(frozen=True, slots=True, kw_only=True)
class TightNoise:
    """Release ``X + Z`` at the smallest scale whose true divergence meets the budget.

    The divergence of the release laws is computed, in both directions of every pair, not bounded
    through a coupling: nothing with this noise law can do with less. Order in (0, inf]; no noise
    where the answer's laws meet the budget as they are.

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
        return scaled_noise(
            pairs,
            noise=noise,
            notion=Renyi(order=order),
            theorem="the divergence itself",
            notes=answers.skipped(),
            repeatable=False,
        )
