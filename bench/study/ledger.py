"""The ledger: claimed, exact and certified leakage of a cell, and whether they contradict.

``certified <= exact <= claimed`` up to numerical error. Certification is post-hoc safe: the
threshold is chosen on hold-out worlds and counted on fresh ones, one Clopper-Pearson rectangle
for (FPR, TPR); its error is split over the rectangle's two sides, the attacks and the pairs.
Verdicts use an error of 1e-6 a cell, so that a sweep of up to 50,000 cells has a family-wise
error below 5 % whichever cells it holds; the 95 % bounds are for display.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bench.core.intervals import clopper_pearson
from bench.metrics.base import Names, Scored
from bench.metrics.roc import pair_scores
from mechanisms.check import FloatArray, IntArray
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.guarantee import Guarantee, Measure, NoClaim

DISPLAY_ERROR = 0.05
VERDICT_ERROR = 1e-6
TOLERANCE = 1e-6
ROUNDING = 1e-9
CANDIDATES = 200

HOLDS = "holds"
VIOLATED = "violated"
MISFIT = "model misfit"
NO_CLAIM = "no claim"
OPEN = "not refuted"
UNCHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A lower bound on leakage from one attack on one pair.

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


def certify(
    label: IntArray,
    odds: FloatArray,
    held: tuple[IntArray, FloatArray],
    measure: Measure,
    ways: int,
) -> Certificate:
    """Certify leakage from fresh worlds, with a threshold chosen on hold-out worlds.

    Parameters
    ----------
    label, odds : arrays of shape (n,)
        Fresh worlds: which secret of the pair, and the attack's log-odds.
    held : (label, odds) of hold-out worlds
    measure : Measure
    ways : int
        Number of certificates that share the error (attacks times pairs).
    """
    threshold, flip = choose_threshold(*held, label, measure, ways)
    positive = (odds >= threshold) != flip
    ones, zeros = int(label.sum()), int(label.size - label.sum())
    counts = int(positive[label == 1].sum()), int(positive[label == 0].sum())

    def bound(error: float) -> float:
        level = 1 - error / ways
        tpr, _ = clopper_pearson(counts[0], ones, level)
        _, fpr = clopper_pearson(counts[1], zeros, level)
        return measure.certify(fpr=float(fpr), tpr=float(tpr))

    return Certificate(
        display=bound(DISPLAY_ERROR), verdict=bound(VERDICT_ERROR), n=int(label.size)
    )


def choose_threshold(
    label: IntArray, odds: FloatArray, fresh: IntArray, measure: Measure, ways: int
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
        plain = measure.certify(fpr=float(fpr_high[i]), tpr=float(tpr_low[i]))
        negated = measure.certify(fpr=float(1 - fpr_low[i]), tpr=float(1 - tpr_high[i]))
        for value, flip in ((plain, False), (negated, True)):
            if value > best:
                best, choice = value, (float(threshold), flip)
    return choice


def certify_attack(
    games: list[Scored], names: Names, measure: Measure, n_attacks: int
) -> Certificate:
    """Return the best certificate of one attack over all pairs, repetitions pooled.

    Pooled counts belong to the attacker who picks a repetition at random; their law is a sum of
    binomials, less spread than the binomial that Clopper-Pearson assumes (Hoeffding, 1956).
    """
    ways = n_attacks * len(names.pairs)
    found = []
    for pair in names.pairs:
        fresh = [pair_scores(g.secret, g.score, pair) for g in games]
        held = [pair_scores(g.holdout_secret, g.holdout_score, pair) for g in games]
        label, odds = (np.concatenate(part) for part in zip(*fresh, strict=True))
        held_label, held_odds = (np.concatenate(part) for part in zip(*held, strict=True))
        found.append(certify(label, odds, (held_label, held_odds), measure, ways))
    return max(found, key=lambda c: (c.verdict, c.display))


def largest_certifiable(n: int, measure: Measure, ways: int) -> float:
    """Return the bound that a perfect attack would certify with n fresh worlds of each secret."""
    level = 1 - DISPLAY_ERROR / ways
    low, _ = clopper_pearson(n, n, level)
    _, high = clopper_pearson(0, n, level)
    return measure.certify(fpr=float(high), tpr=float(low))


def verdict(
    claim: Guarantee | NoClaim,
    exact: Bracket | None,
    certificates: Mapping[str, Certificate],
    *,
    modelled: bool,
    own: Bracket | None = None,
    settles: bool = True,
) -> str:
    """Return whether the three numbers of a cell contradict each other.

    *holds* is proved by the exact number, or by a bracket's upper end but for the error that the
    bracket states; *not refuted* is what attacks alone can say, or a bracket that straddles the
    claim; *not checked* is neither.

    Parameters
    ----------
    claim : Guarantee or NoClaim
    exact : Bracket or None
        Under the scenario's model; None where it is not computable.
    certificates : mapping of attack to Certificate
    modelled : bool
        Whether the worlds were drawn from the model that `exact` is computed under.
    own : Bracket or None
        Under each secret's own law, where the model forces the sides to agree.
    settles : bool
        False where `exact` rests on what the worlds do not have (see `unsettled`): it may refute
        the claim, and prove nothing.
    """
    certified = max((c.verdict for c in certificates.values()), default=0.0)
    ceiling = math.inf if exact is None else exact.hi
    claimed = claim.epsilon if isinstance(claim, Guarantee) else math.inf
    if exact is not None and exceeds(exact.lo, claimed):
        return VIOLATED
    if exceeds(certified, min(claimed, ceiling)):
        return VIOLATED if modelled or exact is None else MISFIT
    if own is not None and exceeds(own.lo, claimed):
        return MISFIT
    if not isinstance(claim, Guarantee):
        return NO_CLAIM
    if exact is None and not certificates:
        return UNCHECKED
    proved = settles and exact is not None and not exceeds(exact.hi, claimed)
    settled = own is None or not exceeds(own.hi, claimed)
    return HOLDS if proved and settled else OPEN


def exceeds(value: float, bound: float) -> bool:
    """Whether value > bound beyond numerical error (relative 1e-6, absolute 1e-9)."""
    return value > bound * (1 + TOLERANCE) + ROUNDING if bound < math.inf else False
