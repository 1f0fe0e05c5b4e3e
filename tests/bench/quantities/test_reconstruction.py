"""Curves of reconstruction from counts, and of a count published every day."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from bench.datasets.sequences.chains import GivenChain
from bench.datasets.source import DataError
from bench.leaderboard.terminal import pivot
from bench.quantities.binary_column import BinaryColumn
from bench.quantities.chain_entries import ChainEntries
from bench.quantities.daily_count import DaysUntilKnown, KnownByDay
from bench.quantities.noisy_counts import private_counts
from bench.quantities.shares import share_of_entries
from bench.quantities.subset_bits import SubsetBits
from bench.study.curve import Curve
from mechanisms.base import NotApplicableError

PEOPLE = BinaryColumn(
    path=str(Path(__file__).parents[2] / "support" / "people.csv"), column="job", value="yes"
)
ADULT = BinaryColumn()
CHAIN = GivenChain(transition=[[0.9, 0.1], [0.2, 0.8]])


def drawn(quantity):
    return quantity.curve(np.asarray(quantity.x, dtype=float))


def bits(**changes):
    given = {"data": ADULT, "at": [0.05], "n_bits": 16, "n_queries": 64, "n_games": 4}
    return SubsetBits(**(given | changes))


def entries(**changes):
    given = {"source": CHAIN, "length": 8, "counted": "1", "epsilon": 1.0, "n_releases": [1, 60]}
    return ChainEntries(**(given | changes))


def test_little_noise_gives_the_bits_back_and_much_noise_no_more_than_the_prior():
    (found,) = drawn(bits())
    assert found.value == 1
    assert found.lower < 1
    loud, alone = (
        drawn(bits(at=[0.01], axis="epsilon", guess=g, n_learnt=8, n_games=12))[0]
        for g in ("counts", "prior")
    )
    assert loud.lower <= alone.value
    assert alone.lower <= 1 - ADULT.share <= alone.upper


def test_all_counts_together_cost_the_epsilon_that_is_set():
    mechanism = private_counts("laplace", 2.0, 64)
    assert mechanism.guarantee.bound == pytest.approx(2.0)


def test_a_share_of_entries_has_the_wider_interval():
    same = share_of_entries(np.ones(5), 20)
    assert (same.value, same.upper) == (1, 1)
    assert same.lower == pytest.approx(0.025 ** (1 / 100))  # Clopper-Pearson, 100 of 100
    varied = share_of_entries(np.array([0.1, 0.9, 0.1, 0.9]), 1000)
    assert varied.upper - varied.lower > 0.9  # games, not entries, are independent


def test_more_releases_reveal_more_of_a_chain_and_tell_that_it_is_synthetic():
    once, often = drawn(entries())
    alone, _ = drawn(entries(guess="prior"))
    assert alone.upper < often.lower
    assert once.value <= often.value
    assert entries().synthetic


def test_days_lie_between_those_of_any_attacker_and_grow_with_the_noise():
    attack, least = (
        drawn(DaysUntilKnown(data=ADULT, epsilons=[0.5, 1.0], persons=200, form=form))
        for form in ("attack", "earliest")
    )
    for found, bound in zip(attack, least, strict=True):
        assert bound.value <= found.lower <= found.value <= found.upper
    assert attack[0].lower > attack[1].upper


def test_whom_the_share_alone_is_known_to_stays_at_the_share():
    known, posterior, share = (
        drawn(KnownByDay(data=PEOPLE, days=[1, 400], of=of, persons=200, publications=4))
        for of in ("known", "posterior", "share")
    )
    assert share[1].value == PEOPLE.share
    assert posterior[1].value == pytest.approx(PEOPLE.share, abs=0.01)
    assert known[0].value < 0.1
    assert known[1].value > 0.99
    assert (known[0].n, posterior[0].n, share[0].n) == (200, 4, 0)


def test_days_beyond_the_cap_are_said_not_to_be_reached():
    with pytest.raises(NotApplicableError, match="not known after 3 days; raise cap"):
        drawn(DaysUntilKnown(data=PEOPLE, epsilons=[0.1], persons=20, cap=3))


def test_the_table_tells_intervals_and_n(run):
    quantity = {
        "_target_": "bench.quantities.chain_entries.ChainEntries", "length": 4, "counted": "1",
        "epsilon": 1.0, "n_releases": [2], "n_trials": 10,
        "source": {"_target_": "bench.datasets.sequences.chains.GivenChain",
                   "transition": [[0.9, 0.1], [0.2, 0.8]]},
    }  # fmt: skip
    outcome, _ = run(Curve(quantities={"q": quantity}, x=[1.0]))
    (line,) = outcome.table.to_dict("records")
    assert (line["n"], line["data"], line["x"]) == (10, "synthetic", 2.0)
    assert line["lower"] <= line["value"] <= line["upper"]
    (text,) = pivot(outcome.table)["q"]
    assert text == f"{line['value']:.4g} [{line['lower']:.4g}, {line['upper']:.4g}], n 10"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: bits(at=[0.0]), r"noise must be in \(0, inf\)"),
        (lambda: bits(at=1.0), "noise must be a list of numbers"),
        (lambda: bits(n_bits=10**6), "n_bits must be at most the 45222 rows"),
        (lambda: entries(n_releases=[0]), "n_releases must be a whole number of at least 1"),
        (lambda: entries(counted="2"), "unknown counted state '2'"),
        (lambda: DaysUntilKnown(data=PEOPLE, epsilons=[-1.0]), "epsilons must be in"),
        (lambda: KnownByDay(data=PEOPLE, days=[0]), "days must be a whole number of at least 1"),
        (lambda: KnownByDay(data=PEOPLE, days=[1], of="x"), "of must be 'known', 'posterior' or"),
        (lambda: dataclasses.replace(PEOPLE, value="maybe").bits, "maybe"),
        (
            lambda: dataclasses.replace(PEOPLE, column="jobb").bits,
            "unknown column 'jobb'; did you mean job",
        ),
        (lambda: dataclasses.replace(PEOPLE, path="nowhere.csv").bits, "no file nowhere.csv"),
    ],
)
def test_bad_input_is_one_clear_line(build, message):
    with pytest.raises((ValueError, DataError), match=message) as found:
        build()
    assert "\n" not in str(found.value)


def test_a_column_with_one_value_holds_no_secret(tmp_path):
    file = tmp_path / "same.csv"
    file.write_text("a\nx\nx\n")
    with pytest.raises(DataError, match="in every row: nobody's entry is a secret"):
        _ = BinaryColumn(path=str(file), column="a", value="x").bits
