"""Per-entry mechanisms whose noise is chosen through an influence curve (Bai et al. 2026).

The total per-entry budget is the largest E with ``min over b of a(b) + b E <= epsilon``; it is
shared among the releases, so that the influence a(b) is paid once and not once a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray
from mechanisms.influence.claim import InfluenceClaim
from mechanisms.influence.curve import EntryBudget
from mechanisms.influence.exponential import ExponentialChoice
from mechanisms.influence.knowledge import Candidates, CurveKnowledge, EntryValues
from mechanisms.influence.randomised_response import RandomisedResponse
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.geometric import GeometricNoise, GeometricRelease
from mechanisms.noise.laplace import LaplaceNoise, laplace_scale
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceLaplace:
    """Release ``F + Lap(S_1 / E)`` per coordinate: epsilon-Pufferfish.

    Examples
    --------
    >>> from mechanisms.influence.chain import MarkovChain
    >>> from mechanisms.influence.markov import chain_curve
    >>> chain = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
    >>> known = CurveKnowledge(curve=chain_curve(chain, 60))
    >>> count = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=60, dimension=1)
    >>> mechanism = InfluenceLaplace().calibrate(known, count, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [127.254]
    """

    requires: ClassVar = (CurveKnowledge, Sensitivity)
    accepts: ClassVar = Epsilon

    def calibrate(
        self, known: CurveKnowledge, sensitivity: Sensitivity, *, budget: Epsilon
    ) -> AdditiveNoise:
        """Scale independent Laplace noise to the per-entry budget."""
        entry = entry_budget(known, budget)
        return AdditiveNoise(
            noise=LaplaceNoise(scales=_scales(sensitivity, entry, budget)),
            claim=InfluenceClaim(
                knowledge=known,
                sensitivity=sensitivity,
                conditions=(Condition.REAL_NUMBERS,),
                notes=budget_notes(entry),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceGeometric:
    """Release ``F + Z`` with two-sided geometric Z of scale ``S_1 / E``, F in whole numbers.

    Examples
    --------
    >>> from mechanisms.influence.chain import MarkovChain
    >>> from mechanisms.influence.markov import chain_curve
    >>> chain = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
    >>> known = CurveKnowledge(curve=chain_curve(chain, 60))
    >>> count = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=60, dimension=1)
    >>> mechanism = InfluenceGeometric().calibrate(known, count, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [127.088]
    """

    requires: ClassVar = (CurveKnowledge, Sensitivity)
    accepts: ClassVar = Epsilon

    def calibrate(
        self, known: CurveKnowledge, sensitivity: Sensitivity, *, budget: Epsilon
    ) -> GeometricRelease:
        """Scale independent geometric noise to the per-entry budget."""
        if sensitivity.l1 != round(sensitivity.l1):
            raise NotApplicableError(
                f"geometric noise needs whole-number answers, the sensitivity is {sensitivity.l1:g}"
            )
        entry = entry_budget(known, budget)
        return GeometricRelease(
            noise=GeometricNoise(scales=_scales(sensitivity, entry, budget)),
            claim=InfluenceClaim(
                knowledge=known, sensitivity=sensitivity, notes=budget_notes(entry)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceRandomisedResponse:
    """Report every entry of the database by randomised response of per-entry epsilon E."""

    requires: ClassVar = (CurveKnowledge, EntryValues, Sensitivity)
    accepts: ClassVar = Epsilon

    def calibrate(
        self,
        known: CurveKnowledge,
        values: EntryValues,
        sensitivity: Sensitivity,
        *,
        budget: Epsilon,
    ) -> RandomisedResponse:
        """Give every entry the per-entry budget; the query's sensitivity plays no part."""
        entry = entry_budget(known, budget)
        return RandomisedResponse(
            states=values.states,
            epsilon=entry.total,
            claim=InfluenceClaim(
                knowledge=known, sensitivity=sensitivity, notes=budget_notes(entry)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceExponential:
    """Choose one of the candidates by the exponential mechanism of per-entry epsilon E."""

    requires: ClassVar = (CurveKnowledge, Candidates, Sensitivity)
    accepts: ClassVar = Epsilon

    def calibrate(
        self,
        known: CurveKnowledge,
        candidates: Candidates,
        sensitivity: Sensitivity,
        *,
        budget: Epsilon,
    ) -> ExponentialChoice:
        """Choose with the per-entry budget; the utility's sensitivity is the candidates' own."""
        entry = entry_budget(known, budget)
        return ExponentialChoice(
            candidates=candidates,
            epsilon=entry.total,
            claim=InfluenceClaim(
                knowledge=known, sensitivity=sensitivity, notes=budget_notes(entry)
            ),
        )


def entry_budget(known: CurveKnowledge, budget: Epsilon) -> EntryBudget:
    """Return the per-entry budget; refuse where the entries call for no noise at all."""
    entry = known.curve.budget(budget.epsilon)
    if not np.isfinite(entry.total):
        raise NotApplicableError(
            f"no value of any entry is uncertain at epsilon={budget.epsilon:g}: "
            "release the answer itself"
        )
    return entry


def _scales(sensitivity: Sensitivity, entry: EntryBudget, budget: Epsilon) -> FloatArray:
    scale = laplace_scale(sensitivity.l1, entry.total, asked=budget.epsilon)
    return np.full(sensitivity.dimension, scale)


def budget_notes(entry: EntryBudget) -> tuple[str, ...]:
    """Say at which point of the curve the budget is met."""
    point = f"b = {entry.high_influence}, a(b) = {entry.penalty:.6g} paid once"
    return (point, *filter(None, (entry.note,)))
