"""One ledger for every notion: entries, one rectangle, what is not known, what is unbounded."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.core.cell import tidy
from bench.core.entry_rows import LEDGER, one_entry
from bench.leaderboard.ranking import leaderboard
from bench.study.cross import Cross
from bench.study.session import Session
from mechanisms.privacy.conversions import convert
from mechanisms.privacy.indistinguishability import Approximate, Renyi
from tests.conftest import node

LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
LAPLACE = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
GAUSSIAN = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian"}
PLACE = "mechanisms.privacy.indistinguishability"
ASKED = {
    "approximate": {"_target_": f"{PLACE}.Approximate", "delta": 0.01},
    "renyi": {"_target_": f"{PLACE}.Renyi", "order": 2.0},
    "pure": {"_target_": f"{PLACE}.Approximate", "delta": 0.0},
    "probabilistic": {"_target_": f"{PLACE}.Probabilistic", "delta": 0.01},
}


def measured(mechanisms, **changes):
    settings = {
        "scenarios": {"points": node("Points")},
        "mechanisms": mechanisms,
        "attacks": {"lr": LIKELIHOOD},
        "notions": ASKED,
        "grid": {"epsilon": [1.0], "delta": [0.001]},
        "n_shadow": 10,
        "n_holdout": 2000,
        "n_test": 2000,
    }
    session = Session()
    study = Cross(**(settings | changes))
    results = [(cell, study.run_cell(cell, session)) for cell in study.cells(session)]
    return tidy(results), results


@pytest.fixture(scope="module")
def laplace():
    return measured({"laplace": LAPLACE})


def numbers(table, unit):
    rows = table[(table["unit"] == unit) & (table["attack"] == "")]
    return dict(zip(rows["metric"], rows["value"], strict=True))


def test_the_own_entry_comes_first_then_those_asked_for(laplace):
    table, _ = laplace
    rows = table[table["metric"].isin(LEDGER)]
    assert list(dict.fromkeys(rows["unit"])) == [
        "epsilon", "epsilon at delta=0.01", "Renyi epsilon at order=2",
        "probabilistic epsilon at delta=0.01",
    ]  # fmt: skip
    assert set(rows["notion"]) == {
        "distribution privacy", "Renyi distribution privacy",
        "probabilistic distribution privacy",
    }  # fmt: skip
    assert set(rows["verdict"]) == {"holds", "not refuted"}
    metrics = table[~table["metric"].isin(LEDGER)]
    assert set(metrics["unit"]) == set(metrics["verdict"]) == {""}


def test_a_claim_is_converted_and_the_exact_number_is_its_own(laplace):
    table, ((_, result),) = laplace
    own = numbers(table, "epsilon")
    assert own["exact"] == 1.0
    assert own["claimed"] == pytest.approx(1.0, rel=1e-9)
    renyi = numbers(table, "Renyi epsilon at order=2")
    assert renyi["claimed"] == pytest.approx(0.735326, abs=1e-6)
    # Laplace noise of scale 1 on 0 and 1 (Mironov, 2017, Proposition 6).
    assert renyi["exact"] == pytest.approx(math.log(2 / 3 * math.e + math.exp(-2) / 3), rel=1e-7)
    assert renyi["certified"] <= renyi["exact"] <= renyi["claimed"]
    fact = result.facts["Renyi epsilon at order=2: theorem"]
    assert fact.startswith("Kairouz")
    assert "Chen and Ohrimenko (2023), Theorem 4.1" in fact
    assert "translations" in result.facts["assumptions"]


def test_all_entries_are_certified_from_one_rectangle(laplace, monkeypatch):
    """Thresholds are chosen once an attack and pair, by the own notion, whatever is asked for."""
    from bench.study import evidence

    seen = []
    original = evidence.counted

    def spy(*arguments):
        seen.append(arguments[3])
        return original(*arguments)

    monkeypatch.setattr(evidence, "counted", spy)
    table, _ = measured({"laplace": LAPLACE})
    assert seen == [Approximate(delta=0.0)]
    alone, _ = measured({"laplace": LAPLACE}, notions={})
    assert numbers(table, "epsilon") == numbers(alone, "epsilon")


def test_null_cells_certify_nothing_in_any_of_their_entries():
    """Asking for more notions does not multiply the error: 200 cells, all entries together."""
    study = Cross(
        scenarios={"null": node("SameEitherWay")},
        mechanisms={"m": {"_target_": "tests.support.components.Slow", "seconds": 0.0}},
        attacks={"lr": LIKELIHOOD},
        notions=ASKED,
        grid={"epsilon": np.linspace(0.1, 4.0, 200).tolist(), "delta": [0.001]},
        n_shadow=10, n_holdout=60, n_test=60,
    )  # fmt: skip
    session = Session()
    results = [study.run_cell(cell, session) for cell in study.cells(session)]
    wrong = [
        any(row["value"] > 0 for row in result.rows if row["metric"] == "certified")
        for result in results
    ]
    assert np.mean(wrong) <= 0.05


def test_what_is_not_comparable_or_computable_is_said_never_blank():
    table, ((_, result),) = measured({"gaussian": GAUSSIAN}, n_test=200, n_holdout=200)
    assert result.facts["Renyi epsilon at order=2: claim"].startswith("not comparable: an event")
    assert result.facts["epsilon: verdict"] == "not comparable"
    board = leaderboard(table, [], notion="Renyi epsilon at order=2")
    assert board["claimed"].tolist() == ["not comparable"]
    assert board["verdict"].tolist() == ["not comparable"]
    table, ((_, result),) = measured({"geometric": node("Suppression")}, n_test=50, n_holdout=50)
    board = leaderboard(table, [])
    assert board[["claimed", "exact"]].to_numpy().tolist() == [["none", "not computable"]]
    assert result.facts["exact"].startswith("not computable: the mechanism's release law")
    ledger = table[table["metric"].isin(LEDGER)]
    assert ledger["method"].astype(bool).all()


def test_leaderboards_show_the_own_entry_unless_asked(laplace):
    table, _ = laplace
    assert leaderboard(table, [])["claimed"].tolist() == ["1"]
    for notion in ("Renyi epsilon at order=2", "Renyi distribution privacy"):
        assert leaderboard(table, [], notion=notion)["claimed"].tolist() == ["0.7353"]
    with pytest.raises(ValueError, match="unknown notion 'Reny'"):
        leaderboard(table, [], notion="Reny")
    with pytest.raises(ValueError, match="has several units in a cell: epsilon, epsilon at"):
        leaderboard(table, [], notion="distribution privacy")
    assert set(one_entry(table)["unit"]) == {"", "epsilon"}


def test_a_second_release_without_a_theorem_is_unbounded():
    table, ((_, result),) = measured(
        {"m": node("NoisyTopK")},
        scenarios={"points": node("Points", supports=[[[0.0, 1.0]], [[1.0, 0.0]]])},
        grid={"epsilon": [1.0], "n_releases": [2]},
        notions={}, n_test=50, n_holdout=50,
    )  # fmt: skip
    # Group privacy composes; a Pufferfish claim would not.
    assert numbers(table, "epsilon")["claimed"] == pytest.approx(2.0)
    table, ((_, result),) = measured(
        {"xor": node("XorOrParity")},
        scenarios={"bits": node("ThreeBits")},
        grid={"n_releases": [2]},
        attacks={}, notions={}, n_test=50, n_holdout=50,
    )  # fmt: skip
    assert numbers(table, "epsilon")["claimed"] == math.inf
    assert result.facts["claim"] == "Pufferfish privacy: epsilon unbounded"
    board = leaderboard(table, [])
    assert board["claimed"].tolist() == ["unbounded"]
    assert board["verdict"].tolist() == ["no claim"]
    assert board["exact"].tolist() == ["inf"]


def test_sharing_is_told_to_the_calibration():
    def claimed(share):
        table, _ = measured(
            {"laplace": LAPLACE}, attacks={}, notions={}, share=share,
            grid={"epsilon": [1.0], "n_releases": [3]},
        )  # fmt: skip
        return numbers(table, "epsilon")["claimed"]

    assert claimed("each") == pytest.approx(3.0)
    assert claimed("together") == pytest.approx(1.0)
    with pytest.raises(ValueError, match="share must be one of each, together"):
        measured({"laplace": LAPLACE}, share="all")
    _, results = measured({"top": node("NoisyTopK")}, share="together", grid={
        "epsilon": [1.0], "n_releases": [2],
    })  # fmt: skip
    assert "no composition theorem covers 2 releases" in results[0][1].facts["reason"]


def test_conversions_agree_with_the_ledger(laplace):
    table, _ = laplace
    from mechanisms.privacy.guarantee import Guarantee

    own = Guarantee(notion=Approximate(delta=0.0), bound=1.0, theorem="t")
    shown = numbers(table, "Renyi epsilon at order=2")["claimed"]
    assert convert(own, Renyi(order=2.0)).bound == pytest.approx(shown, rel=1e-9)
