"""Certified, exact and composed claim at 1 to 100 releases: docs/findings/collapse.md, 11 to 13."""

import math
from dataclasses import fields

import pytest
from hydra import compose, initialize_config_module

from bench.config.build import build
from bench.config.compose import plain
from bench.study.cross import Cross
from bench.study.session import Session
from bench.study.target import known
from mechanisms.base import guarantee_of

RELEASES = [1, 2, 10, 100]
# What each composes by: the penalty of a curve or of quilts once, per-entry epsilons added, Renyi
# epsilons converted and added between databases, Gaussian noise by the root of the number.
COMPOSE = ("markov_quilt_exact", "influence_exponential", "w_alpha_laplace", "w_alpha_gaussian",
           "expected_value_laplace", "expected_value_gaussian", "group_laplace")  # fmt: skip
MORE = ("influence_laplace", "influence_geometric", "influence_randomised_response",
        "group_gaussian",
        "markov_quilt_approximate", "kantorovich_laplace", "kantorovich_laplace_delta",
        "w_infinity_laplace", "shift_laplace", "shift_gaussian", "joint_convex_laplace",
        "best_laplace", "tight_gaussian", "tight_pure_laplace", "wasserstein_distribution_laplace",
        "approximate_wasserstein_laplace", "bounded_wasserstein_laplace")  # fmt: skip
MODEL_BROKEN = "expected_value_laplace"  # it shifts means; the laws of a chain differ in more


@pytest.fixture(scope="module")
def ledger():
    """The three numbers of every cell of the experiment, by mechanism, order and releases."""
    with initialize_config_module("conf", version_base="1.3"):
        config = plain(compose("config", ["+experiment=composition"]))
    study = dict(config["study"])
    study.pop("_target_")
    names = ("scenarios", "mechanisms", "attacks", "metrics", "notions", "grid", "seed", "delta")
    settings = {name: study[name] for name in names}
    settings["scenarios"] = {"chain": config["scenario"]}
    settings["grid"] = settings["grid"] | {"n_releases": RELEASES}
    cross = Cross(**settings, n_shadow=20, n_holdout=500, n_test=1000)
    session, found = Session(), {}
    for cell in cross.cells(session):
        result = cross.run_cell(cell, session)
        assert result.status == "finished", result.facts
        named = {r["metric"]: r for r in result.rows if r["attack"] == "" or r["metric"] == "odds"}
        found[cell.spec.mechanism_label, cell.spec.n_releases] = named | {"facts": result.facts}
    return found


@pytest.fixture(scope="module")
def components():
    """The scenario of the experiment, and the other mechanisms with a composition theorem."""
    with initialize_config_module("conf", version_base="1.3"):
        chosen = ["+experiment=composition", f"mechanism=[{','.join(MORE)}]"]
        config = plain(compose("config", chosen))
    scenario = build(config["scenario"], "scenario")
    return scenario, {name: build(config["mechanisms"][name], name) for name in MORE}


@pytest.mark.parametrize("name", MORE)
def test_exact_is_at_most_the_composed_claim_of_the_other_mechanisms(components, name):
    scenario, calibrations = components
    calibration = calibrations[name]
    budgets = {"epsilon": 1.0, "delta": 0.001, "order": 8.0}
    asked = {f.name for f in fields(calibration.accepts)}
    budget = calibration.accepts(**{k: v for k, v in budgets.items() if k in asked})
    knowledge = [known(scenario, kind) for kind in calibration.requires]
    mechanism = calibration.calibrate(*knowledge, budget=budget)
    law = scenario.database_law if mechanism.sees == "database" else scenario.law
    last = 0.0
    for k in RELEASES:
        claim = guarantee_of(mechanism, k)
        exact = claim.notion.of_pair(mechanism.leakage(law(0), law(1), k))
        assert exact.lo <= exact.hi <= claim.bound * (1 + 1e-6) < math.inf
        assert last < exact.hi
        last = exact.hi


@pytest.mark.parametrize("name", COMPOSE)
def test_certified_is_at_most_exact_and_exact_at_most_the_composed_claim(ledger, name):
    for k in RELEASES:
        claimed, exact, certified = (ledger[name, k][m] for m in ("claimed", "exact", "certified"))
        assert 0 < claimed["value"] < math.inf
        assert certified["lower"] <= exact["upper"] + 1e-9
        assert 0 < exact["lower"] <= exact["upper"] < math.inf
        if name != MODEL_BROKEN or k > 2:
            assert exact["upper"] <= claimed["value"] * (1 + 1e-6)
            assert ledger[name, k]["facts"]["verdict"] == "holds"


def test_posterior_odds_move_by_no_more_than_the_exact_and_the_claimed_epsilon(ledger):
    for name in ("markov_quilt_exact", "influence_exponential", "group_laplace"):
        for k in RELEASES:
            moved, exact, claimed = (
                ledger[name, k][m]["value"] for m in ("odds", "exact", "claimed")
            )
            assert 0 < moved <= exact + 1e-9 <= claimed * (1 + 1e-6) + 1e-9
    assert ledger["decoy", 2]["odds"]["value"] == math.inf


def test_the_attack_shows_most_of_what_few_releases_leak(ledger):
    for name in ("markov_quilt_exact", "influence_exponential", "group_laplace", MODEL_BROKEN):
        shown, exact = (ledger[name, 2][m]["value"] for m in ("certified", "exact"))
        assert shown > 0.25 * exact, name


def test_the_expected_value_mechanism_breaks_where_laws_differ_in_more_than_their_mean(ledger):
    for k in (1, 2):
        assert ledger[MODEL_BROKEN, k]["facts"]["verdict"] == "violated"
        assert ledger[MODEL_BROKEN, k]["exact"]["value"] == pytest.approx(
            {1: 1.0157, 2: 2.0248}[k], abs=5e-5
        )


def test_the_influence_is_paid_once_and_the_sharper_claim_is_tight(ledger):
    once = {k: ledger["markov_quilt_exact", k]["claimed"]["value"] for k in RELEASES}
    group = ledger["group_laplace", 100]["claimed"]["value"]
    assert once[100] == pytest.approx(35.5306, abs=5e-5)
    assert group == pytest.approx(100)
    # The exact leakage reaches the claim: no theorem about this mechanism can say less.
    exact = ledger["markov_quilt_exact", 100]["exact"]["value"]
    assert exact == pytest.approx(once[100], rel=1e-9)
    assert ledger["influence_exponential", 100]["exact"]["value"] < 0.75 * once[100]


def test_what_collapses_claims_nothing_from_two_runs_on_and_noiseless_never(ledger):
    assert ledger["decoy", 1]["claimed"]["value"] == 0
    assert ledger["decoy", 1]["exact"]["value"] == pytest.approx(0, abs=1e-12)
    for k in RELEASES[1:]:
        assert ledger["decoy", k]["exact"]["value"] == math.inf
        assert ledger["decoy", k]["claimed"]["value"] == math.inf
        assert ledger["decoy", k]["certified"]["value"] > 4
    for k in RELEASES:
        assert math.isnan(ledger["noiseless", k]["claimed"]["value"])
        assert ledger["noiseless", k]["exact"]["value"] == math.inf
