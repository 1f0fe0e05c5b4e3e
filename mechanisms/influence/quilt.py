"""The Markov Quilt Mechanism on chains, as a calibration (Song, Wang, Chaudhuri 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanisms.check import one_of
from mechanisms.influence.claim import Method, QuiltClaim, mixing
from mechanisms.influence.knowledge import ChainKnowledge
from mechanisms.influence.markov_quilt import approximate_scale, exact_scale
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.laplace import LaplaceNoise, laplace_scale
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon

Histogram = Literal["joint", "per_category"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkovQuiltLaplace:
    """Release ``F + S_1 sigma Lap(1)`` per coordinate: epsilon-Pufferfish.

    Parameters
    ----------
    method : {"exact", "approximate"}
        sigma from the max-influences of Theta (MQMExact), or from its spectral gap and smallest
        stationary mass alone (MQMApprox).
    histogram : {"joint", "per_category"}
        Noise for the whole answer at once, or for each of its m coordinates as a query of its own
        (sensitivity 1, a share 1/m of the budget). The second pays m where `S_1` suffices; its
        claim is computed from its noise, hence smaller than the budget for ``m > S_1``.

    References
    ----------
    Song, Wang, Chaudhuri (2017), Theorem 4.4 and Algorithms 3 and 4.

    Examples
    --------
    >>> from mechanisms.influence.chain import MarkovChain
    >>> chain = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
    >>> known = ChainKnowledge(chains=(chain,), lengths=(60,))
    >>> count = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=60, dimension=1)
    >>> mechanism = MarkovQuiltLaplace().calibrate(known, count, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [127.254]
    """

    requires: ClassVar = (ChainKnowledge, Sensitivity)
    accepts: ClassVar = Epsilon
    method: Method = "exact"
    histogram: Histogram = "joint"

    def __post_init__(self) -> None:
        one_of("histogram", self.histogram, ("joint", "per_category"))
        one_of("method", self.method, ("exact", "approximate"))

    def calibrate(
        self, known: ChainKnowledge, sensitivity: Sensitivity, *, budget: Epsilon
    ) -> AdditiveNoise:
        """Scale independent Laplace noise to the worst node's best quilt."""
        sigma = self._multiplier(known, budget.epsilon)
        trivial = max(known.lengths) / budget.epsilon
        note = "the trivial quilt: group privacy of all entries" if sigma >= trivial else ""
        # A per-entry budget of 1 / sigma.
        paid = sensitivity.l1 if self.histogram == "joint" else float(sensitivity.dimension)
        scale = laplace_scale(paid * sigma, 1.0, asked=budget.epsilon)
        return AdditiveNoise(
            noise=LaplaceNoise(scales=np.full(sensitivity.dimension, scale)),
            claim=QuiltClaim(
                knowledge=known,
                sensitivity=sensitivity,
                method=self.method,
                conditions=(Condition.REAL_NUMBERS,),
                notes=tuple(filter(None, (note,))),
            ),
        )

    def _multiplier(self, known: ChainKnowledge, epsilon: float) -> float:
        if self.method == "exact":
            return exact_scale(
                known.chains,
                known.lengths,
                epsilon,
                uncertainty_penalty=known.uncertainty_penalty,
                database=known.database,
            )
        mass, gap = mixing(known)
        return approximate_scale(
            mass,
            gap,
            known.lengths,
            epsilon,
            uncertainty_penalty=known.uncertainty_penalty,
            database=known.database,
        )
