"""The alpha-Wasserstein metric of a scenario's secret pairs, and the bound that privacy puts on it.

Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy, equation (14).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from bench.config.build import ConfigError, unknown
from bench.scenarios.base import Scenario
from mechanisms.check import FloatArray, positive, within
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.coupling import comonotone
from mechanisms.privacy.bracket import Bracket
from mechanisms.renyi.alpha_wasserstein import wasserstein_laplace_epsilon


@dataclass(frozen=True, kw_only=True)
class WassersteinMetric:
    """``E[exp(order |z| / scale)]^(1/order)`` of the comonotone coupling, x being the order.

    The largest over the pairs. Where it is at most ``exp((order - 1) epsilon / order)``, Laplace
    noise of this scale gives Renyi Pufferfish privacy of that order and epsilon.

    Parameters
    ----------
    scenarios : mapping of label to Scenario
    dataset : str
        Which of `scenarios`.
    scale : float in (0, inf)
        In units of the query.
    """

    metric: ClassVar[str] = "w_alpha"
    scenarios: Mapping[str, Scenario]
    dataset: str
    scale: float

    def __post_init__(self) -> None:
        positive("scale", self.scale, infinite=False)
        if self.dataset not in self.scenarios:
            raise ConfigError(unknown("dataset", self.dataset, self.scenarios))
        self.scenarios[self.dataset].check()

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.scenarios[self.dataset].digest

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return the metric at every order in (1, inf)."""
        answers = self.scenarios[self.dataset].knowledge(ScalarAnswers)
        plans = [comonotone(p, q) for p, q in answers.law_pairs()]
        values = []
        for at in x:
            order = within("order", float(at), 1, math.inf, ends="()")
            epsilons = [
                wasserstein_laplace_epsilon(plan, order=order, scale=self.scale) for plan in plans
            ]
            values.append(math.exp((order - 1) * max(epsilons) / order))
        return [Bracket(v, v) for v in values]


@dataclass(frozen=True, kw_only=True)
class WassersteinBudget:
    """``exp((order - 1) epsilon / order)``: what the metric may be, x being the order."""

    metric: ClassVar[str] = "w_alpha"
    digest: ClassVar[str] = ""
    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon, infinite=False)

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return the bound at every order."""
        values = [math.exp((float(at) - 1) * self.epsilon / float(at)) for at in x]
        return [Bracket(v, v) for v in values]
