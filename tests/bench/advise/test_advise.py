"""Advice: what is chosen, what is ruled out and why, and what luck cannot do."""

import math
import shlex
from dataclasses import dataclass, field, replace

import pytest
from scipy.stats import binomtest, norm

from bench.advise.study import FRESH, SEARCH, Advise
from bench.config.build import ConfigError
from bench.core.cell import FAILED, FINISHED, Cell, CellResult, row
from tests.conftest import node

ISOTROPIC = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian",
             "calibration": "analytic"}  # fmt: skip
LAPLACE = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
NOISELESS = {"_target_": "mechanisms.noise.identity.Noiseless"}
LYING = node("LyingLaplace")
RATIO = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
METRICS = {
    "accuracy": {"_target_": "bench.metrics.attack.Accuracy"},
    "l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"},
}


def study(**changes):
    settings = {
        "scenarios": {"points": node("Points")},
        "mechanisms": {"gauss": ISOTROPIC, "laplace": LAPLACE},
        "attacks": {"ratio": RATIO},
        "metrics": METRICS,
        "grid": {"epsilon": [0.5, 1.0, 2.0]},
        "n_shadow": 10,
        "n_holdout": 200,
        "n_test": 500,
        "fresh": 2,
    }
    return Advise(**settings | changes)


def advice(run, **changes):
    asked = study(**changes)
    outcome, _ = run(asked)
    return asked.advice(outcome.listed)[0], asked.words(outcome.listed, []), outcome


def test_the_least_error_at_an_accuracy_is_that_of_the_closed_forms(run):
    """Two points a distance of 1 apart: Phi(1 / 2s) = .6, and 1 - exp(-1 / 2b) / 2 = .6."""
    found, words, outcome = advice(run, target={"accuracy": 0.6})
    deviation, scale = 1 / (2 * norm.ppf(0.6)), 1 / (2 * math.log(1.25))
    errors = {"gauss": deviation * math.sqrt(2 / math.pi), "laplace": scale}
    assert errors["gauss"] < errors["laplace"]
    assert found.chosen.mechanism == "gauss"
    assert found.chosen.exact == pytest.approx(0.6, abs=1e-9)
    assert found.chosen.error["lower"] < errors["gauss"] < found.chosen.error["upper"]
    stages = [cell.labels["stage"] for cell, _ in outcome.listed]
    assert stages == [SEARCH, SEARCH, FRESH]
    fresh = outcome.listed[-1][0].spec
    assert fresh.sizes.test == 2 * 500
    assert fresh.seed != outcome.listed[0][0].spec.seed
    assert "Use gauss at epsilon=" in words
    assert "not covered by the guarantee" in words
    assert "Next in order, in the search: laplace" in words


def test_a_largest_error_gives_the_least_leakage(run):
    found, _, _ = advice(run, target={"error": 2.0})
    exact = {
        "gauss": norm.cdf(1 / (2 * 2 / math.sqrt(2 / math.pi))),
        "laplace": 1 - math.exp(-0.25) / 2,
    }
    assert exact["gauss"] < exact["laplace"]
    assert found.chosen.mechanism == "gauss"
    assert found.chosen.exact == pytest.approx(exact["gauss"], abs=1e-6)


def test_a_pure_epsilon_leaves_laplace_alone(run):
    found, words, _ = advice(run, target={"epsilon": 0.5, "delta": 0.0})
    assert found.chosen.mechanism == "laplace"
    assert found.chosen.budget == {"epsilon": pytest.approx(0.5, rel=1e-9)}
    assert "gauss: its budget needs a delta above 0" in words


def test_on_records_the_attacks_upper_end_counts_too(run):
    records = {"points": node("Points", worlds_from_model=False)}
    found, words, _ = advice(run, target={"accuracy": 0.6}, scenarios=records, n_test=4000)
    assert found.chosen.mechanism == "gauss"
    assert found.chosen.exact < 0.599
    assert found.chosen.attack["upper"] <= 0.6
    assert "under the model of records" in words


def test_what_promises_nothing_or_too_much_is_ruled_out(run):
    mechanisms = {
        "exact": {"_target_": "mechanisms.noise.identity.Noiseless"}, "lying": node("LyingLaplace"),
        "unreachable": {"_target_": "mechanisms.influence.calibrate.InfluenceLaplace"},
    }  # fmt: skip
    found, words, _ = advice(run, target={"accuracy": 0.6}, mechanisms=mechanisms)
    assert found.chosen is None
    assert "Nothing meets it: no mechanism is recommended." in words
    assert "exact: it promises nothing about this secret" in words
    assert "lying: its claim does not hold here (verdict: violated)" in words
    assert "unreachable: the scenario offers" in words
    assert "experiment=publish" not in words


def test_what_is_asked_for_more_than_the_answer_tells_is_refused(run):
    same = node("SameEitherWay")
    found, words, _ = advice(run, target={"accuracy": 0.6}, scenarios={"points": same})
    assert found.chosen is None
    assert "Nothing meets it" in words


@pytest.mark.parametrize("grid", [{}, {"epsilon": [1.0], "supports": [1]}, {"delta": [0.1]}])
def test_the_grid_is_the_budgets_to_try(grid):
    with pytest.raises(ConfigError, match="grid"):
        study(grid=grid)


@dataclass(frozen=True)
class Spec:
    mechanism: dict = field(default_factory=dict)
    components: tuple = ()


def measured(name, stage, acc, n, error, *, status=FINISHED, claim=1.0):
    """Return a cell on records without an exact number, attacked once."""
    hits = binomtest(round(acc * n), n).proportion_ci(0.95)
    rows = [
        row("claimed", value=claim, lower=claim, upper=claim) | {"unit": "epsilon at delta=0.001"},
        row("acc", value=acc, lower=hits.low, upper=hits.high, n=n, attack="ratio"),
        row("l2", value=error, lower=0.99 * error, upper=1.01 * error, n=n),
    ]
    labels = {"scenario": "points", "mechanism": name, "epsilon": 1.0, "budget_by": "ladder",
              "stage": stage}  # fmt: skip
    facts = {"worlds": "drawn from records", "verdict": "not refuted"}
    cell = Cell(name=f"{name} {stage}", labels=labels, spec=Spec(), digest="")
    return cell, CellResult(status=status, rows=rows, facts=facts)


def read(*results):
    return study(target={"accuracy": 0.6}).advice(results)[0]


def test_the_luckiest_cell_is_measured_again_and_left():
    search = [
        measured("lucky", SEARCH, 0.55, 1000, 1.0),
        measured("sound", SEARCH, 0.55, 1000, 2.0),
    ]
    first = read(*search)
    assert (first.next.mechanism, first.chosen) == ("lucky", None)
    second = read(*search, measured("lucky", FRESH, 0.61, 10_000, 1.0))
    assert (second.next.mechanism, second.chosen) == ("sound", None)
    third = read(
        *search,
        measured("lucky", FRESH, 0.61, 10_000, 1.0),
        measured("sound", FRESH, 0.55, 10_000, 2.0),
    )
    assert third.chosen.mechanism == "sound"
    assert "Better in the search, but not on fresh worlds: lucky" in third.text()


def test_each_try_has_half_the_error_of_the_one_before():
    """At 10,000 worlds .5902 has its upper end at .5998 (95 %) and at .6012 (97.5 %)."""
    found = measured("a", FRESH, 0.5902, 10_000, 1.0)
    assert read(measured("a", SEARCH, 0.55, 1000, 1.0), found).chosen is not None
    search = [measured("b", SEARCH, 0.55, 1000, 0.5), measured("a", SEARCH, 0.55, 1000, 1.0)]
    after = read(*search, measured("b", FRESH, 0.65, 10_000, 0.5), found)
    assert after.chosen is None
    assert "Nothing meets it" in after.text()


def test_a_cell_that_fails_on_fresh_worlds_ends_no_sweep_in_a_circle():
    search = [measured("a", SEARCH, 0.55, 1000, 1.0), measured("b", SEARCH, 0.55, 1000, 2.0)]
    found = read(*search, measured("a", FRESH, 0.55, 1000, 1.0, status=FAILED))
    assert found.next.mechanism == "b"


def test_of_equal_errors_the_stronger_claim_comes_first():
    found = read(measured("loud", SEARCH, 0.55, 1000, 1.0, claim=9.0),
                 measured("quiet", SEARCH, 0.55, 1000, 1.005, claim=1.0),
                 measured("far", SEARCH, 0.55, 1000, 1.5, claim=0.1))  # fmt: skip
    assert [c.mechanism for c in found.shortlist] == ["quiet", "loud", "far"]


def test_the_command_that_publishes_has_the_budget_to_the_last_digit(run):
    asked = study(target={"accuracy": 0.6})
    outcome, _ = run(asked)
    typed = ["scenario=points", "scenario.path=a b.csv", "n_test=500", "seed=3"]
    words = asked.words(outcome.listed, typed).splitlines()[-1]
    parts = shlex.split(words)
    assert parts[:4] == ["python", "-m", "bench", "+experiment=publish"]
    assert "scenario.path=a b.csv" in parts
    assert "seed=3" in parts
    assert "n_test=500" not in parts
    assert "mechanisms.gauss.calibration=analytic" in parts
    told = next(part for part in parts if part.startswith("grid.epsilon="))
    assert float(told.partition("=")[2]) == asked.advice(outcome.listed)[0].chosen.budget["epsilon"]


def test_attacks_alone_come_after_exact_numbers():
    """A mechanism whose leakage is not known has been attacked by what was run, no more."""
    cell, result = measured("known", SEARCH, 0.55, 1000, 2.0)
    result = replace(
        result, rows=[*result.rows, row("ceiling", value=0.59, lower=0.59, upper=0.59)]
    )
    found = read(measured("unknown", SEARCH, 0.55, 1000, 1.0), (cell, result))
    assert [c.mechanism for c in found.shortlist] == ["known", "unknown"]
