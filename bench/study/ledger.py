"""The ledger: claimed, exact and certified leakage of a cell, and whether they contradict.

``certified <= exact <= claimed`` up to numerical error. Certification is post-hoc safe: the
threshold is chosen on hold-out worlds and counted on fresh ones, one Clopper-Pearson rectangle
for (FPR, TPR); its error is split over the rectangle's two sides, the attacks and the pairs.
Every notion of a cell reads the same rectangle: thresholds of its own would multiply the error.
Verdicts use an error of 1e-6 a cell, so that a sweep of up to 50,000 cells has a family-wise
error below 5 % whichever cells it holds; the 95 % bounds are for display.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bench.core.intervals import clopper_pearson
from mechanisms.check import FloatArray, IntArray
from mechanisms.privacy.bracket import Bracket, NotComputable
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.notion import PairNotion

DISPLAY_ERROR = 0.05
VERDICT_ERROR = 1e-6
TOLERANCE = 1e-6
ROUNDING = 1e-9
CANDIDATES = 200

HOLDS = "holds"
HOLDS_MODEL = "holds (model)"
VIOLATED = "violated"
MISFIT = "model misfit"
NO_CLAIM = "no claim"
OPEN = "not refuted"
SUSPECT = "suspect"
UNCHECKED = "not checked"
INCOMPARABLE = "not comparable"

Claim = Guarantee | NoClaim | NotComparable


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A lower bound on leakage from one attack, over all pairs.

    Parameters
    ----------
    display : float
        At 95 % for the whole cell.
    verdict : float
        At error 1e-6 for the whole cell.
    n : int
        Fresh worlds counted.
    """

    display: float
    verdict: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """A test counted on fresh worlds: how often it fired, on either side.

    Parameters
    ----------
    hits, ones : int
        Worlds of the second secret that the test named, of so many.
    alarms, zeros : int
        Worlds of the first secret that it named, of so many.
    """

    hits: int
    ones: int
    alarms: int
    zeros: int

    def rectangle(self, error: float) -> tuple[float, float]:
        """Return (fpr, tpr), half of the error on either side (Clopper and Pearson, 1934)."""
        tpr, _ = clopper_pearson(self.hits, self.ones, 1 - error)
        _, fpr = clopper_pearson(self.alarms, self.zeros, 1 - error)
        return float(fpr), float(tpr)


def counted(
    label: IntArray,
    odds: FloatArray,
    held: tuple[IntArray, FloatArray],
    notion: PairNotion,
    ways: int,
) -> Counts:
    """Count a test on fresh worlds, with a threshold chosen on hold-out worlds.

    Parameters
    ----------
    label, odds : arrays of shape (n,)
        Fresh worlds: which secret of the pair, and the attack's log-odds.
    held : (label, odds) of hold-out worlds
    notion : PairNotion
        The threshold is the one that would certify most of it.
    ways : int
        Number of tests that share the error (attacks times pairs).
    """
    threshold, flip = choose_threshold(*held, label, notion, ways)
    positive = (odds >= threshold) != flip
    return Counts(
        hits=int(positive[label == 1].sum()),
        ones=int(label.sum()),
        alarms=int(positive[label == 0].sum()),
        zeros=int(label.size - label.sum()),
    )


def choose_threshold(
    label: IntArray, odds: FloatArray, fresh: IntArray, notion: PairNotion, ways: int
) -> tuple[float, bool]:
    """Return the threshold (and whether to negate the test) that would certify most.

    Candidates are quantiles of the hold-out scores; each is judged by the bound that its hold-out
    rates would give with as many worlds as there are fresh ones.
    """
    candidates = np.unique(odds)
    if candidates.size > CANDIDATES:
        ends = np.linspace(0, candidates.size - 1, CANDIDATES).round().astype(int)
        candidates = candidates[ends]
    ranked = [np.sort(odds[label == value]) for value in (0, 1)]
    fpr, tpr = (1 - np.searchsorted(r, candidates, side="left") / r.size for r in ranked)
    ones, zeros = int(fresh.sum()), int(fresh.size - fresh.sum())
    level = 1 - DISPLAY_ERROR / ways
    tpr_low, tpr_high = clopper_pearson(tpr * ones, np.full(tpr.size, ones), level)
    fpr_low, fpr_high = clopper_pearson(fpr * zeros, np.full(fpr.size, zeros), level)
    best, choice = -1.0, (float(candidates[0]), False)
    for i, threshold in enumerate(candidates):
        plain = notion.of_rates(fpr=float(fpr_high[i]), tpr=float(tpr_low[i]))
        negated = notion.of_rates(fpr=float(1 - fpr_low[i]), tpr=float(1 - tpr_high[i]))
        for value, flip in ((plain, False), (negated, True)):
            if value > best:
                best, choice = value, (float(threshold), flip)
    return choice


def largest_certifiable(n: int, notion: PairNotion, ways: int) -> float:
    """Return the bound that a perfect attack would certify with n fresh worlds of each secret."""
    perfect = Counts(hits=n, ones=n, alarms=0, zeros=n)
    return notion.of_rates(*perfect.rectangle(DISPLAY_ERROR / ways))


def verdict(
    claim: Claim,
    exact: Bracket | NotComputable,
    certificates: Mapping[str, Certificate],
    *,
    worlds_from_model: bool,
    own: Bracket | None = None,
    recorded: tuple[float, float] | None = None,
    model_alone: str = "",
) -> str:
    """Return whether the numbers of a cell contradict each other.

    *violated* is the arithmetic's word: the exact number, or an attack on the model's own worlds,
    exceeds the claim. *model misfit* is the records': the number on them, the one under each
    secret's own law, or an attack on worlds from records exceeds what the model allows.
    *holds* is proved by the exact number, or by a bracket's upper end but for the error that the
    bracket states, and by the number on records where it is known; *holds (model)* is proved by
    the model alone. Where nothing settles it (no number, or a bracket that straddles the claim),
    attacks alone say *not refuted*, or *suspect* where the 95 % bound exceeds the claim and the
    one at error 1e-6 does not; *not checked* is neither.

    Parameters
    ----------
    claim : Guarantee, NoClaim or NotComparable
        An unbounded guarantee promises nothing.
    exact : Bracket or NotComputable
        Under the scenario's model.
    certificates : mapping of attack to Certificate
    worlds_from_model : bool
        Whether the worlds were drawn from the model that `exact` is computed under.
    own : Bracket or None
        Under each secret's own law, where the model forces the sides to agree.
    recorded : (lower, upper), or None
        Ends of the exact number on records, where it is known.
    model_alone : str
        Why the model's exact number settles nothing on records; empty where it does.
    """
    known = exact if isinstance(exact, Bracket) else None
    certified = max((c.verdict for c in certificates.values()), default=0.0)
    ceiling = math.inf if known is None else known.hi
    claimed = claim.bound if isinstance(claim, Guarantee) else math.inf
    if known is not None and exceeds(known.lo, claimed):
        return VIOLATED
    if exceeds(certified, min(claimed, ceiling)):
        return VIOLATED if worlds_from_model or known is None else MISFIT
    lows = (own.lo if own else 0.0, recorded[0] if recorded else 0.0)
    if any(exceeds(low, claimed) for low in lows):
        return MISFIT
    if isinstance(claim, NotComparable):
        return INCOMPARABLE
    if claimed == math.inf:
        return NO_CLAIM
    if known is None and not certificates:
        return UNCHECKED
    on_records = recorded is None or not exceeds(recorded[1], claimed)
    proved = known is not None and not exceeds(known.hi, claimed)
    settled = own is None or not exceeds(own.hi, claimed)
    if proved and settled and on_records and not model_alone:
        return HOLDS
    shown = max((c.display for c in certificates.values()), default=0.0)
    if exceeds(shown, claimed):
        return SUSPECT
    return HOLDS_MODEL if proved else OPEN


def exceeds(value: float, bound: float) -> bool:
    """Whether value > bound beyond numerical error (relative 1e-6, absolute 1e-9)."""
    return value > bound * (1 + TOLERANCE) + ROUNDING if bound < math.inf else False
