"""Exact releases on UCI Adult: what is guaranteed, and what attackers make of them all the same."""

import math

import pytest

from bench.study.cross import Cross
from bench.study.session import Session
from tests.findings.test_distribution_privacy import ADULT, LOGISTIC, META, SCALER

MEANS = ADULT | {
    "_target_": "bench.scenarios.mean_release.MeanRelease", "surprises": [8.0], "spreads": [8.0],
}  # fmt: skip
RECORDS = {
    "_target_": "bench.datasets.table.contingency.RecordCounts",
    "data": {"_target_": "bench.datasets.table.adult.Adult"},
}
CELLS = {
    "_target_": "bench.scenarios.cell_property.CellProperty", "gap": 0.1,
    "source": RECORDS | {"columns": ["marital-status", "sex"]},
    "having": {"_target_": "bench.scenarios.statistics.Count", "column": "income",
                 "value": ">50K"},
}  # fmt: skip
TABLE = {
    "_target_": "bench.scenarios.cell_counts.CellCounts",
    "source": RECORDS | {"columns": ["occupation", "education"]},
}
CALIBRATIONS = "mechanisms.deterministic.calibrations"
NOISELESS = {"_target_": f"{CALIBRATIONS}.NoiselessStatistics"}
SUPPRESSED = {"_target_": f"{CALIBRATIONS}.SuppressCells"}
GREEDY = SUPPRESSED | {
    "secondary": {"_target_": "mechanisms.deterministic.greedy_suppression.GreedySuppression"}
}
ADAPTIVE = META | {
    "adaptive": True,
    "estimator": {"_target_": "sklearn.pipeline.make_pipeline", "_args_": [SCALER, LOGISTIC]},
}
INTERVAL = {"_target_": "attacks.interval.attack.IntervalAttack"}
GRID = {"r1": [8.0], "r2": [8.0], "threshold": [5], "alpha": [0.2], "epsilon": [8.0],
        "delta": [0.001]}  # fmt: skip


def run(scenario, mechanism, attacks=None, **changes):
    settings = {
        "scenarios": {"s": scenario}, "mechanisms": {"m": mechanism}, "attacks": attacks or {},
        "metrics": {"accuracy": {"_target_": "bench.metrics.attack.Accuracy"}}, "grid": GRID,
        "repetitions": 2, "n_shadow": 1000, "n_holdout": 20, "n_test": 500,
    }  # fmt: skip
    study, session = Cross(**(settings | changes)), Session()
    (cell,) = study.cells(session)
    return study.run_cell(cell, session)


def row(result, metric, unit=None):
    return next(
        r for r in result.rows if r["metric"] == metric and (unit is None or r["unit"] == unit)
    )


def test_the_noiseless_mean_has_a_guarantee_and_three_of_four_properties_are_inferred():
    result = run(MEANS, NOISELESS, {"adaptive": ADAPTIVE})
    assert row(result, "acc")["value"] == pytest.approx(0.75, abs=0.03)
    kappa = 8 + math.log(8)
    assert row(result, "claimed")["value"] == pytest.approx(kappa)
    assert row(result, "exact")["value"] == pytest.approx(kappa, rel=1e-6)
    assert row(result, "certified")["value"] == pytest.approx(kappa, rel=1e-6)
    assert row(result, "exact")["value"] <= row(result, "claimed")["value"] + 1e-9
    assert result.facts["verdict"] == "holds"
    assert "Proposition 7" in result.facts["theorem"]
    assert "r1=8, r2=8" in result.facts["assumptions"]


def test_suppression_barely_hinders_property_inference():
    result = run(CELLS, SUPPRESSED, {"adaptive": ADAPTIVE})
    assert row(result, "acc")["lower"] > 0.65
    assert result.facts["verdict"] == "holds"
    assert row(result, "claimed")["value"] == pytest.approx(-math.log(0.2))


@pytest.mark.parametrize(
    ("margins", "mechanism", "revealed"),
    [("none", SUPPRESSED, 0.0), ("each", SUPPRESSED, 14 / 47), ("each", GREEDY, 0.0)],
)
def test_totals_reveal_small_cells_unless_complements_hide_them(margins, mechanism, revealed):
    result = run(
        TABLE | {"margins": margins}, mechanism, {"interval": INTERVAL},
        metrics={"revealed": {"_target_": "bench.metrics.cells.ShareRevealed"}},
        repetitions=1, n_shadow=1, n_holdout=1, n_test=2,
    )  # fmt: skip
    assert row(result, "revealed")["value"] == pytest.approx(revealed)
    assert result.facts["verdict"] == ("holds" if margins == "none" else "no claim")
    if margins == "each":
        assert "all seven suppressed cells are recovered" in result.facts["claim"]


def test_noise_raises_what_receivers_gain_and_lowers_what_is_inferred():
    """Expected value noise at epsilon 8: fewer properties are inferred, and kappa is larger."""
    persuasive = {"_target_": "mechanisms.privacy.persuasive.notion.Persuasive", "delta": 0.001}
    unit = "kappa in nats, all receivers, delta=0.001"
    noise = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian"}
    exact, noisy = (
        run(MEANS, mechanism, {"adaptive": ADAPTIVE}, notions={"p": persuasive})
        for mechanism in (NOISELESS, noise)
    )
    told = row(exact, "exact", unit)["value"]
    assert row(noisy, "exact", unit)["value"] > told + 0.5
    assert told < row(noisy, "certified", unit)["value"] <= row(noisy, "exact", unit)["value"]
    assert row(noisy, "acc")["upper"] < row(exact, "acc")["lower"]
