"""What to do about a suspect cell: how many worlds would settle it."""

from __future__ import annotations

import math

from scipy.stats import binom

from bench.study.ledger import DISPLAY_ERROR, VERDICT_ERROR, Counts, exceeds
from mechanisms.privacy.notion import PairEvidence, PairNotion

ENDS = 0.5  # a two-sided level of 50 % has one-sided ends of 75 %
MISSED = 0.01
MOST = 1_000_000


def advice(notion: PairNotion, claimed: float, evidence: PairEvidence) -> str:
    """Say at how many worlds a suspect cell would read *violated*, in one line.

    The rates that the attack showed exceed the claim by selection, so they are never taken for
    the truth: the true rates are supposed to be the ends of their one-sided 75 % intervals that
    are nearest to the claim. Where those do not exceed it, nothing is advised.

    Parameters
    ----------
    notion : PairNotion
    claimed : float
        The claim, in the notion's unit.
    evidence : PairEvidence
        With at least one counted test.
    """
    tests = [test for found in evidence.tests.values() for test in found]
    share = DISPLAY_ERROR / evidence.ways
    best = max(tests, key=lambda test: notion.of_rates(*test.rectangle(share)))
    fpr, tpr = best.rectangle(ENDS)
    ends = f"FPR {fpr:.3g} and TPR {tpr:.3g}, the ends of its one-sided 75 % intervals"
    if not exceeds(notion.of_rates(fpr, tpr), claimed):
        return f"the best attack's {ends}, do not exceed the claim: no number of worlds is advised"
    needed = worlds_needed(notion, claimed, fpr, tpr, evidence.ways)
    if needed is None:
        return f"at {ends}, more than {MOST:,} worlds of each secret would be needed to settle it"
    return (
        f"at {ends}, {needed:,} worlds of each secret (n_test times repetitions) would read "
        "violated with 99 % probability"
    )


def worlds_needed(
    notion: PairNotion, claimed: float, fpr: float, tpr: float, ways: int
) -> int | None:
    """Return worlds of each secret at which a test of these true rates refutes the claim.

    The bound at error 1e-6 exceeds the claim with probability at least 99 %: each count stays on
    its side of a quantile but for .5 %, and the bound at both quantiles does. Rounded up to two
    digits; None above a million.
    """
    high = 1
    while not _refutes(notion, claimed, fpr, tpr, ways, high):
        high *= 2
        if high > 2 * MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if _refutes(notion, claimed, fpr, tpr, ways, middle):
            high = middle
        else:
            low = middle
    found = _two_digits(high)
    # Counts are whole, so that a few more worlds may refute less: the next number does.
    while not _refutes(notion, claimed, fpr, tpr, ways, found):
        found = _two_digits(found + 1)
    return found if found <= MOST else None


def _refutes(notion: PairNotion, claimed: float, fpr: float, tpr: float, ways: int, n: int) -> bool:
    counts = Counts(
        hits=int(binom.ppf(MISSED / 2, n, tpr)),
        ones=n,
        alarms=int(binom.isf(MISSED / 2, n, fpr)),
        zeros=n,
    )
    return exceeds(notion.of_rates(*counts.rectangle(VERDICT_ERROR / ways)), claimed)


def _two_digits(n: int) -> int:
    step = 10 ** max(0, math.floor(math.log10(n)) - 1)
    return math.ceil(n / step) * step
