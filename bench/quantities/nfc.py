"""What a run of a finite mechanism costs when it is repeated, and its limit by a linear program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bench.quantities.points import whole_points
from mechanisms.check import FloatArray, one_of, weights
from mechanisms.collapse.nfc import nfc_cost, repeated_epsilon
from mechanisms.privacy.bracket import Bracket

FORMS = ("exact", "limit", "bound")


@dataclass(frozen=True, kw_only=True)
class CostOfRun:
    """Pufferfish epsilon of x runs, divided by x: nats a run.

    Parameters
    ----------
    channel : nested sequence, d rows of c numbers
        Probabilities of the outputs given each database; rows sum to 1.
    secret : sequence of d numbers
        Which of the two secrets, 0 or 1, each database has.
    prior : sequence of d numbers
        Probabilities of the databases, sum 1.
    form : {"exact", "limit", "bound"}
        Exact, with tables of output counts listed; the value of the linear program of the
        constraints that are necessary for linear composition, which it tends to; or that value
        plus a constant paid once, an upper bound for every x.
    n_releases : sequence of int
        Values of x.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), "Composition for Pufferfish Privacy", Theorem 1.
    """

    metric: ClassVar[str] = "epsilon_a_run"
    digest: ClassVar[str] = ""
    channel: Sequence[Sequence[float]]
    secret: Sequence[int]
    prior: Sequence[float]
    n_releases: Sequence[int]
    form: Literal["exact", "limit", "bound"] = "exact"

    def __post_init__(self) -> None:
        one_of("form", self.form, FORMS)
        whole_points("n_releases", self.n_releases)
        if not weights("prior", self.prior).size == len(self.secret) == len(self.channel):
            raise ValueError(
                "prior and secret must have one entry a row of the channel "
                f"({len(self.channel)}), got {len(self.prior)} and {len(self.secret)}."
            )

    @property
    def x(self) -> Sequence[int]:
        """Numbers of runs."""
        return self.n_releases

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return nats a run at every number of runs; nothing is sampled."""
        channel = np.asarray(self.channel, dtype=np.float64)
        secret, prior = np.asarray(self.secret), weights("prior", self.prior)
        if self.form == "exact":
            values = [repeated_epsilon(channel, secret, prior, int(n)) / n for n in x]
        else:
            cost = nfc_cost(channel, secret)
            paid_once = cost.constant(prior) if self.form == "bound" else 0.0
            values = [cost.value + paid_once / n for n in x]
        return [Bracket(float(v), float(v)) for v in values]
