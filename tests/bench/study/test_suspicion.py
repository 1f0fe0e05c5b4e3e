"""Suspect: between the two bounds, with the number of worlds that would settle it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import binom

from bench.study.ledger import DISPLAY_ERROR, VERDICT_ERROR, Certificate, Counts, verdict
from bench.study.suspicion import advice, worlds_needed
from mechanisms.privacy.bracket import Bracket, NotComputable
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import PURE, Approximate, Renyi
from mechanisms.privacy.notion import PairEvidence

UNKNOWN = NotComputable("nobody knows")
CLAIMED, WORLDS, SCALE = 2.0, 1000, 1 / 6  # a third of the noise that the claim needs
THRESHOLD = 1.25


def claim(bound=CLAIMED, notion=PURE):
    return Guarantee(notion=notion, bound=bound, theorem="t")


def play(rng, n, scale=SCALE, distance=1.0):
    """Count the test "above the threshold" on n worlds of 0 and n worlds of 1 after Laplace."""
    zeros = rng.laplace(scale=scale, size=n)
    ones = distance + rng.laplace(scale=scale, size=n)
    counts = Counts(
        hits=int((ones > THRESHOLD).sum()), ones=n, alarms=int((zeros > THRESHOLD).sum()), zeros=n
    )
    return PairEvidence(tests={"a": (counts,)}, ways=1)


def read(evidence, notion=PURE, bound=CLAIMED, exact=UNKNOWN):
    certificate = Certificate(
        display=notion.certify(evidence, DISPLAY_ERROR),
        verdict=notion.certify(evidence, VERDICT_ERROR),
        n=0,
    )
    return verdict(claim(bound, notion), exact, {"a": certificate}, worlds_from_model=True)


def advised(evidence, notion=PURE, bound=CLAIMED):
    found = re.search(r"([\d,]+) worlds of each secret \(n_test", advice(notion, bound, evidence))
    return int(found.group(1).replace(",", "")) if found else None


def test_a_third_of_the_noise_reads_suspect_and_violated_at_the_advised_number():
    """Laplace of scale 1/6 on 0 against 1 with a claim of 2 (true epsilon 6), 1,000 worlds."""
    seeds, suspects, given, caught = 60, 0, 0, 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        evidence = play(rng, WORLDS)
        if read(evidence) != "suspect":
            continue
        suspects += 1
        number = advised(evidence)
        if number is not None:
            given += 1
            assert number <= 1_000_000
            caught += read(play(rng, number)) == "violated"
    assert suspects > seeds / 2
    assert given > suspects / 2
    assert caught >= 0.95 * given


def test_without_worlds_enough_the_old_reading_was_not_refuted():
    evidence = play(np.random.default_rng(0), WORLDS)
    display = PURE.certify(evidence, DISPLAY_ERROR)
    assert display > CLAIMED
    assert PURE.certify(evidence, VERDICT_ERROR) < CLAIMED


def test_a_correct_mechanism_reads_suspect_in_at_most_31_of_400_null_cells():
    """Laplace of exactly the claimed epsilon, no exact number; 31 has probability below 1 %."""
    assert binom.sf(31, 400, 0.05) < 0.01
    suspects = 0
    for seed in range(400):
        rng = np.random.default_rng([1, seed])
        evidence = play(rng, 500, scale=1 / CLAIMED)
        suspects += read(evidence) == "suspect"
    assert suspects <= 31


def test_what_the_exact_number_proves_is_never_suspect():
    for seed in range(40):
        evidence = play(np.random.default_rng([2, seed]), 200, scale=1 / CLAIMED)
        assert read(evidence, exact=Bracket(CLAIMED, CLAIMED)) in ("holds", "violated")
    lucky = PairEvidence(tests={"a": (Counts(hits=80, ones=200, alarms=2, zeros=200),)}, ways=1)
    assert read(lucky) == "suspect"
    assert read(lucky, exact=Bracket(2.0, 2.0)) == "holds"
    # A bracket that straddles the claim settles nothing.
    assert read(lucky, exact=Bracket(0.0, 3.0)) == "suspect"


@pytest.mark.parametrize("notion", [PURE, Approximate(delta=0.001), Renyi(order=2.0)])
@pytest.mark.parametrize("ways", [1, 6])
def test_the_advised_number_refutes_with_99_percent(notion, ways):
    """Against direct simulation of the counts at the supposed rates."""
    fpr, tpr = 0.01, 0.2
    bound = 0.8 * notion.of_rates(fpr, tpr)
    needed = worlds_needed(notion, bound, fpr, tpr, ways)
    rng = np.random.default_rng(0)
    trials = 400
    caught = 0
    for hits, alarms in zip(
        rng.binomial(needed, tpr, trials), rng.binomial(needed, fpr, trials), strict=True
    ):
        counts = Counts(hits=int(hits), ones=needed, alarms=int(alarms), zeros=needed)
        caught += notion.of_rates(*counts.rectangle(VERDICT_ERROR / ways)) > bound
    assert caught >= binom.ppf(1e-4, trials, 0.99)
    # Not far too many either: with half of them it often fails.
    half = Counts(
        hits=int(binom.ppf(0.3, needed // 2, tpr)), ones=needed // 2,
        alarms=int(binom.ppf(0.7, needed // 2, fpr)), zeros=needed // 2,
    )  # fmt: skip
    assert notion.of_rates(*half.rectangle(VERDICT_ERROR / ways)) < bound * 1.05


def test_the_rates_seen_are_never_taken_for_the_truth():
    """6 of 20 against 0 of 20 shows infinite leakage; its 75 % ends do not exceed the claim."""
    few = PairEvidence(tests={"a": (Counts(hits=6, ones=20, alarms=0, zeros=20),)}, ways=1)
    told = advice(PURE, 2.0, few)
    assert "do not exceed the claim: no number of worlds is advised" in told
    assert advised(few) is None


def test_more_than_a_million_worlds_are_told():
    close = PairEvidence(
        tests={"a": (Counts(hits=50_400, ones=100_000, alarms=50_000, zeros=100_000),)}, ways=1
    )
    assert "more than 1,000,000 worlds" in advice(Approximate(delta=0.001), 1e-4, close)


def test_the_error_is_shared_by_all_tests():
    counts = Counts(hits=60, ones=200, alarms=2, zeros=200)
    alone = PairEvidence(tests={"a": (counts,)}, ways=1)
    among = PairEvidence(tests={"a": (counts,)}, ways=10)
    assert PURE.certify(among, DISPLAY_ERROR) < PURE.certify(alone, DISPLAY_ERROR)
    assert PURE.certify(among, 0.5) == PURE.certify(alone, 0.05)
