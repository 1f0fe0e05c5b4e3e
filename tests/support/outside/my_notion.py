"""A notion, a budget, a mechanism and a scenario that know the package and are not of it.

The notion is about records and receivers: how much a receiver's log score of the record rises,
but for probability delta. There is no pair of secrets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import beta

from attacks.base import Transcript
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.privacy.bracket import Bracket, NotComputable, NotComputableError
from mechanisms.privacy.budget import Budget
from mechanisms.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class ScoreGain(Budget):
    """At most `kappa` nats of score for any of the receivers, whose priors are `priors`."""

    kappa: float
    priors: Any


@dataclass(frozen=True, kw_only=True)
class Receivers(Knowledge):
    """Prior probabilities that the record is 1."""

    priors: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Persuasion:
    """The smallest kappa that a receiver's gain exceeds with probability at most delta."""

    delta: float

    @property
    def name(self):
        return "persuasive privacy"

    @property
    def unit(self):
        return f"nats of score at delta={self.delta:g}"

    def evidence(self, cell):
        try:
            priors = cell.knowledge(Receivers).priors
        except NotOfferedError as reason:
            raise NotComputableError(str(reason)) from reason
        if not hasattr(cell.mechanism, "truth"):
            raise NotComputableError("the mechanism's law is not known to receivers")
        record = cell.answers[:, 0].astype(int)
        seen = cell.releases[:, 0, 0].astype(int)
        return cell.mechanism.truth, priors, record, seen

    def exact(self, evidence):
        truth, priors, *_ = evidence
        worst = 0.0
        for prior in priors:
            for x in (0, 1):
                gains = {gain(prior, truth, x, y): p for y, p in ((x, truth), (1 - x, 1 - truth))}
                above = [
                    g for g in gains if sum(p for h, p in gains.items() if h >= g) > self.delta
                ]
                worst = max(worst, *above)
        return Bracket(worst, worst) if math.isfinite(worst) else NotComputable("infinite gain")

    def certify(self, evidence, error):
        truth, priors, record, seen = evidence
        share = error / (4 * len(priors))  # receivers, records, two possible gains
        best = 0.0
        for prior in priors:
            for x in (0, 1):
                gains = np.array([gain(prior, truth, x, y) for y in (0, 1)])[seen[record == x]]
                for level in np.unique(gains):
                    hits = int((gains >= level).sum())
                    low = beta.ppf(share, hits, gains.size - hits + 1) if hits else 0.0
                    if low > self.delta:
                        best = max(best, float(level))
        return best


def gain(prior, truth, x, y):
    """Return log posterior over prior of the record, for a release that is true so often."""
    own = prior if x else 1 - prior
    likelihood = truth if x == y else 1 - truth
    return math.log(likelihood / (own * likelihood + (1 - own) * (1 - likelihood)))


@dataclass(frozen=True, kw_only=True)
class Persuading:
    """Randomised response that no receiver gains more than kappa from."""

    requires: ClassVar = ()
    accepts: ClassVar = ScoreGain
    delta: float = 0.05
    noise: float = 1.0  # below 1: a mechanism that breaks its claim

    def calibrate(self, *, budget):
        # The gain of a receiver with prior p is log(t / (p t + (1 - p)(1 - t))).
        rarest = min(min(p, 1 - p) for p in budget.priors)
        limit = min(budget.kappa, math.log(1 / rarest) - 1e-9)
        ratio = math.exp(limit) * (1 - rarest) / (1 - math.exp(limit) * rarest)
        return Response(
            truth=ratio ** (1 / self.noise) / (1 + ratio ** (1 / self.noise)),
            claim=Guarantee(
                notion=Persuasion(delta=self.delta), bound=budget.kappa, theorem="own proof"
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Response:
    sees: ClassVar = "answers"
    truth: float
    claim: Guarantee

    @property
    def guarantee(self):
        return self.claim

    def release(self, x, rng):
        return np.where(rng.random(x.shape) < self.truth, x, 1 - x)


@dataclass(frozen=True, kw_only=True)
class Bits:
    """Records of one bit; nothing to tell apart."""

    synthetic: bool = True
    worlds_from_model: bool = True
    digest: str = "bits"
    secrets: ClassVar = ("any record",)
    pairs: ClassVar = ()
    statistics: ClassVar = ("bit",)
    receivers: Any = (0.2, 0.5, 0.7)

    def check(self):
        pass

    def law(self, secret):
        raise NotOfferedError("receivers bring their own priors")

    def knowledge(self, kind):
        if kind is Receivers:
            return Receivers(priors=tuple(self.receivers))
        raise NotOfferedError("the scenario offers receivers")

    def draw(self, secret, split, rng):
        records = rng.integers(2, size=(len(secret), 1)).astype(float)
        return Transcript(secret=secret, answers=records)
