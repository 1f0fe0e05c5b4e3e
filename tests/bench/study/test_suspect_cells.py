"""Suspect cells as the harness plays them: worlds, attack, threshold, verdict and advice."""

from __future__ import annotations

import re

import pytest

from bench.leaderboard.terminal import print_outcome
from bench.study.cross import Cross
from bench.study.session import Session
from tests.conftest import node

CLAIMED = 2.0
LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
EXACT = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}


def cross(mechanism, seed, worlds, **changes):
    """Answers 0 against 1 at a claim of 2."""
    return Cross(
        scenarios={"points": node("Points")}, mechanisms={"m": mechanism},
        attacks={"lr": LIKELIHOOD}, grid={"epsilon": [CLAIMED]}, seed=seed,
        n_shadow=1, n_holdout=worlds, n_test=worlds, **changes,
    )  # fmt: skip


def played(mechanism, seed, worlds):
    study = cross(mechanism, seed, worlds)
    (cell,) = study.cells()
    return study.run_cell(cell, Session()).facts


@pytest.mark.parametrize(
    ("part", "worlds"),
    [(1 / 3, 100), (0.7, 1000)],  # true epsilon 6 and 2.86 for a claim of 2
)
def test_too_little_noise_reads_suspect_and_violated_at_the_advised_number(part, worlds):
    mechanism, seeds = node("Opaque", part=part), 30
    suspects = given = caught = 0
    for seed in range(seeds):
        facts = played(mechanism, seed, worlds)
        assert facts["exact"].startswith("not computable")
        if facts["verdict"] != "suspect":
            continue
        suspects += 1
        found = re.search(r"([\d,]+) worlds of each secret \(n_test", facts["advice"])
        if found is None:
            continue
        given += 1
        number = int(found.group(1).replace(",", ""))
        assert number <= 1_000_000
        caught += played(mechanism, 1000 + seed, number)["verdict"] == "violated"
    assert suspects > seeds / 2
    assert given > suspects / 2
    assert caught >= 0.95 * given


def test_a_correct_mechanism_without_an_exact_number_is_suspect_in_at_most_31_of_400_cells():
    found = [played(node("Opaque"), seed, 100)["verdict"] for seed in range(400)]
    assert found.count("suspect") <= 31
    assert set(found) <= {"suspect", "not refuted"}


def test_the_same_mechanism_with_its_exact_number_never_is():
    assert {played(EXACT, seed, 100)["verdict"] for seed in range(60)} == {"holds"}


def test_the_terminal_tells_what_would_settle_every_suspect_entry(run, capsys):
    renyi = {"_target_": "mechanisms.privacy.indistinguishability.Renyi", "order": 30.0}
    outcome, store = run(cross(node("Opaque", part=1 / 3), 0, 100, notions={"renyi": renyi}))
    print_outcome(outcome, "", [], store.uri)
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("suspect: ")]
    assert len(told) == 2
    assert told[0].startswith("suspect: m eps=2: at FPR ")
    assert told[1].startswith("suspect: m eps=2, Renyi epsilon at order=30: at FPR ")
    assert all("worlds of each secret (n_test times repetitions) would read" in t for t in told)
