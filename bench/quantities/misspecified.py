"""What a Pufferfish claim is worth where the influence curve was that of another chain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from bench.datasets.sequences.chains import ChainSource
from bench.datasets.source import DataAbsentError
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, positive, whole
from mechanisms.influence.markov import chain_curve
from mechanisms.privacy.bracket import Bracket


@dataclass(frozen=True, kw_only=True)
class MisspecifiedChain:
    """The epsilon that holds under the true chain, for a budget spent by an assumed one.

    The per-entry budget is that of the assumed curve a1 at epsilon, met at some b*; under the true
    curve a2 it claims ``inf over b of a2(b) + b (epsilon - a1(b*)) / b*``, at most
    ``epsilon + a2(b*) - a1(b*)``.

    Parameters
    ----------
    assumed, actual : ChainSource
    length : int
        Steps of the sequence.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Section 6.3.3.
    """

    metric: ClassVar[str] = "epsilon_under_truth"
    assumed: ChainSource
    actual: ChainSource
    length: int

    def __post_init__(self) -> None:
        whole("length", self.length)

    @property
    def digest(self) -> str:
        """Identity of both chains; the word "absent" where a chain's file is."""
        try:
            return f"{self.assumed.digest} {self.actual.digest}"
        except DataAbsentError:
            return "absent"

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return the true epsilon at each budget; not applicable where a recording is absent."""
        try:
            curves = [chain_curve(s.chain, self.length) for s in (self.assumed, self.actual)]
        except DataAbsentError as error:
            raise NotApplicableError(str(error)) from error
        assumed, true = curves
        found = []
        for epsilon in x.tolist():
            total = assumed.budget(positive("epsilon", epsilon)).total
            value = true.pufferfish_epsilon(total) if math.isfinite(total) else math.inf
            found.append(Bracket(value, value))
        return found
