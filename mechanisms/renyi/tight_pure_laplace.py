"""The least Laplace noise that meets a pure Pufferfish budget under known laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import Mechanism
from mechanisms.knowledge import ScalarAnswers
from mechanisms.privacy.budget import Epsilon, RenyiEpsilon
from mechanisms.renyi.tight_noise import TightNoise


@dataclass(frozen=True, slots=True, kw_only=True)
class TightPureLaplace:
    """Release ``F + Lap(b)`` with the smallest b whose exact loss is at most epsilon.

    The exact calibration at order inf: no method that knows only these laws and adds Laplace
    noise can add less.

    Examples
    --------
    >>> from mechanisms.laws.finite import FiniteLaw
    >>> laws = tuple(FiniteLaw.of_sample(x) for x in ([0, 0, 1], [0, 1, 1]))
    >>> answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    >>> mechanism = TightPureLaplace().calibrate(answers, budget=Epsilon(epsilon=0.5))
    >>> mechanism.variances().round(3).tolist()
    [0.567]
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = Epsilon

    def calibrate(self, answers: ScalarAnswers, *, budget: Epsilon) -> Mechanism:
        """Find the scale at which the largest log ratio of the releases is epsilon."""
        return TightNoise(noise="laplace").calibrate(answers, budget=_largest(budget))

    def calibrate_together(
        self, answers: ScalarAnswers, *, budget: Epsilon, n_releases: int
    ) -> Mechanism:
        """Find the scale at which the largest log ratio of all releases together is epsilon."""
        return TightNoise(noise="laplace").calibrate_together(
            answers, budget=_largest(budget), n_releases=n_releases
        )


def _largest(budget: Epsilon) -> RenyiEpsilon:
    return RenyiEpsilon(order=math.inf, epsilon=budget.epsilon)
