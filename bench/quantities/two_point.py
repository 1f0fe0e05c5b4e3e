"""What a receiver who holds the truth possible gains, as its prior of the truth falls to 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bench.quantities.points import positive_points
from mechanisms.check import FloatArray, one_of, weights, within
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.loss_quantile import exact_kappa
from mechanisms.privacy.persuasive.two_point_priors import (
    log_ratios,
    probabilistic_dp,
    two_point_loss,
)


@dataclass(frozen=True, kw_only=True)
class TwoPointKappa:
    """Kappa at delta of receivers with prior q of the truth and 1 - q of a neighbour, in nats.

    Parameters
    ----------
    channel : two rows of t numbers
        Probabilities of the outputs given each of two neighbours; rows sum to 1.
    delta : float in [0, 1)
    q : sequence of float in (0, 1]
        Values of the parameter.
    form : {"receiver", "limit"}
        The worse of the two truths at q; or the epsilon of probabilistic differential privacy,
        which it rises to and never attains.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, Proposition 6.
    """

    metric: ClassVar[str] = "kappa"
    digest: ClassVar[str] = ""
    channel: Sequence[Sequence[float]]
    delta: float
    q: Sequence[float]
    form: Literal["receiver", "limit"] = "receiver"

    def __post_init__(self) -> None:
        one_of("form", self.form, ("receiver", "limit"))
        within("delta", self.delta, 0, 1, ends="[)")
        positive_points("q", self.q)
        if max(self.q) > 1:
            raise ValueError(f"q must be in (0, 1], got q={max(self.q)!r}.")
        if len(self.channel) != 2:
            raise ValueError(f"channel must have two rows, got {len(self.channel)}.")
        for row in self.channel:
            weights("probabilities of one database", row)

    @property
    def x(self) -> Sequence[float]:
        """The values of q."""
        return self.q

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return kappa at every q."""
        rows = np.asarray(self.channel, dtype=np.float64)
        if self.form == "limit":
            kernel = FiniteKernel(points=np.array([[0.0], [1.0]]), probabilities=rows)
            limit = probabilistic_dp(kernel, [(0, 1)], self.delta)
            return [Bracket(limit, limit)] * len(x)
        found = []
        for q in x:
            kappa = max(
                exact_kappa(
                    two_point_loss(log_ratios(row, other), np.array(q)), row, delta=self.delta
                )
                for row, other in ((rows[0], rows[1]), (rows[1], rows[0]))
            )
            found.append(Bracket(kappa, kappa))
        return found
