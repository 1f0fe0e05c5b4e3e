"""The numbers of docs/findings/chains.md."""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
import pytest
import yaml

from bench.datasets.sequences.chains import GivenChain
from bench.quantities.misspecified import MisspecifiedChain
from bench.scenarios.chain_count import ChainCount
from bench.study.cross import Cross
from bench.study.session import Session
from mechanisms.distribution.expected_value import ExpectedValueLaplace
from mechanisms.group_privacy import GroupLaplace
from mechanisms.influence.binary_chain import long_chain_influence
from mechanisms.influence.calibrate import (
    InfluenceGeometric,
    InfluenceLaplace,
    InfluenceRandomisedResponse,
)
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.gaussian import observed_influence, process_covariance
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon
from mechanisms.renyi.tight_pure_laplace import TightPureLaplace
from mechanisms.renyi.w_infinity import WInfinityLaplace
from tests.support.truncated_influence import truncated_influence

BINARY = ((0.6, 0.4), (0.2, 0.8))
CHAIN = MarkovChain(transition=np.array(BINARY))
QUILT, ROUGH = MarkovQuiltLaplace(), MarkovQuiltLaplace(method="approximate")


@cache
def scenario(**settings):
    return ChainCount(source=GivenChain(transition=BINARY), counted="1", length=100, **settings)


def calibrated(calibration, epsilon, **settings):
    chain = scenario(**settings)
    facts = [chain.knowledge(kind) for kind in calibration.requires]
    return calibration.calibrate(*facts, budget=Epsilon(epsilon=float(epsilon)))


def scale(calibration, epsilon, **settings):
    return float(calibrated(calibration, epsilon, **settings).noise.scales[0])


def loss(calibration, epsilon):
    mechanism, chain = calibrated(calibration, epsilon), scenario()
    law = chain.database_law if mechanism.sees == "database" else chain.law
    return mechanism.leakage(law(0), law(1), 1).epsilon(0.0).hi


def test_families_differ_in_noise():
    expected = {
        TightPureLaplace(): 2.4192, WInfinityLaplace(): 3.0, QUILT: 7.9767,
        InfluenceLaplace(): 7.9767, ROUGH: 17.2586, GroupLaplace(): 100.0,
    }  # fmt: skip
    for calibration, value in expected.items():
        assert scale(calibration, 1) == pytest.approx(value, abs=1e-3)
    assert loss(GroupLaplace(group=1), 1) == pytest.approx(2.2974, abs=1e-3)


def test_quilts_are_loose_at_small_epsilon_and_tight_at_large():
    for epsilon, value in ((0.5, 0.117), (1, 0.2977), (2, 0.8831), (4, 3.6144), (8, 7.9933)):
        assert loss(QUILT, epsilon) == pytest.approx(value, abs=1e-3)
        assert loss(InfluenceLaplace(), epsilon) == pytest.approx(value, abs=1e-3)
    assert scale(QUILT, 8) == pytest.approx(0.1723, abs=1e-4)
    assert scale(TightPureLaplace(), 8) == pytest.approx(0.1721, abs=1e-4)


def test_quilts_add_less_noise_than_w_infinity_at_large_epsilon():
    for epsilon, quilt, wasserstein in ((4, 0.5547, 0.75), (8, 0.1723, 0.375)):
        assert scale(QUILT, epsilon) == pytest.approx(quilt, abs=1e-3)
        assert scale(WInfinityLaplace(), epsilon) == pytest.approx(wasserstein, abs=1e-3)
    assert scale(QUILT, 2) > scale(WInfinityLaplace(), 2)


def test_the_expected_value_claim_breaks_and_names_its_assumption():
    for epsilon, value in ((0.5, 0.5136), (1, 1.0368), (2, 2.0098), (4, 3.4884)):
        assert loss(ExpectedValueLaplace(), epsilon) == pytest.approx(value, abs=1e-3)
    assumed = calibrated(ExpectedValueLaplace(), 1).guarantee.assumptions
    assert Condition.TRANSLATIONS in assumed.conditions


@pytest.mark.parametrize(
    ("uncertainty_on", "constant", "at_one"),
    [("joint", 0.8109, 66.852), ("conditional", 0.4055, 15.808)],
)
def test_uncertainty_is_a_constant(uncertainty_on, constant, at_one):
    settings = {"uncertainty": 0.2, "uncertainty_on": uncertainty_on}
    curve, nominal = scenario(**settings).curve, scenario().curve
    for b in (1, 10, 50, 99):
        assert curve.at(b) - nominal.at(b) == pytest.approx(constant, abs=1e-4)
    assert curve.at(100) == 0.0
    for calibration in (QUILT, InfluenceLaplace()):
        assert scale(calibration, 1, **settings) == pytest.approx(at_one, abs=1e-3)
        below = calibrated(calibration, 0.4, **settings)
        assert below.noise.scales[0] == pytest.approx(250.0)
        assert any("group privacy of all" in note for note in below.guarantee.notes)


def test_the_closed_form_overshoots():
    alternating = MarkovChain(transition=np.array([[0.2, 0.8], [0.7, 0.3]]))
    curve = chain_curve(alternating, 60)
    for b, exact, closed in ((2, 1.7383, 1.7918), (4, 0.7726, 0.8109)):
        assert curve.at(b) == pytest.approx(exact, abs=1e-4)
        assert long_chain_influence(0.2, 0.3, b) == pytest.approx(closed, abs=1e-4)
    short = chain_curve(CHAIN, 7)
    for b, exact, closed in ((6, 0.1866, 0.2625), (7, 0.0, 0.1517)):
        assert short.at(b) == pytest.approx(exact, abs=1e-4)
        assert long_chain_influence(0.6, 0.8, b) == pytest.approx(closed, abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "once", "thrice"), [(0.5, 0.0498, 0.0388), (1, 0.1254, 0.0907), (3, 0.8028, 0.3761)]
)
def test_paying_the_influence_once_buys_more(epsilon, once, thrice):
    curve = chain_curve(CHAIN, 60)
    assert curve.budget(epsilon).total == pytest.approx(once, abs=1e-4)
    assert 3 * curve.budget(epsilon / 3).total == pytest.approx(thrice, abs=1e-4)
    shared = calibrated(InfluenceLaplace(), epsilon).split_among(3)
    assert shared.repeated_guarantee(3).bound == pytest.approx(epsilon)


def test_three_releases_have_one_pure_loss():
    for epsilon in (0.5, 1, 4):
        expected = loss(InfluenceLaplace(), epsilon)
        assert loss(InfluenceGeometric(), epsilon) == pytest.approx(expected, rel=1e-6)
        assert loss(InfluenceRandomisedResponse(), epsilon) == pytest.approx(expected, rel=1e-6)
    chain = scenario()
    reports = calibrated(InfluenceRandomisedResponse(), 4)
    seen = reports.leakage(chain.database_law(0), chain.database_law(1), 1).accuracy()
    noisy = calibrated(InfluenceLaplace(), 4).leakage(chain.law(0), chain.law(1), 1).accuracy()
    assert seen.lo == pytest.approx(0.858, abs=1e-3)
    assert noisy.hi == pytest.approx(0.5647, abs=1e-3)


def test_the_closed_form_is_no_bound_for_the_truncated_prior():
    sigma = process_covariance(3, 5.0)
    box = {"bound": 5.0, "width": 0.1}
    assert truncated_influence(sigma, 1, [0, 1], **box) == pytest.approx(197.2, abs=0.1)
    assert observed_influence(sigma, 1, [0, 1], **box) == pytest.approx(122.6, abs=0.1)


def load(folder, name):
    return yaml.safe_load((resources.files("conf") / folder / f"{name}.yaml").read_text())


@pytest.mark.parametrize(
    ("true", "expected"),
    [
        ((0.5, 0.55), [0.160, 0.336, 0.576, 2.013, 6.013]),
        ((0.65, 0.85), [0.650, 1.279, 2.590, 4.735, 8.735]),
        ((0.8, 0.8), [0.734, 1.399, 2.604, 4.575, 8.575]),
        ((0.9, 0.9), [1.376, 2.453, 4.088, 6.197, 10.197]),
    ],
)
def test_a_claim_under_another_chain(true, expected):
    p, q = true
    actual = GivenChain(transition=((p, 1 - p), (1 - q, q)))
    worth = MisspecifiedChain(assumed=GivenChain(transition=BINARY), actual=actual, length=100)
    found = [b.hi for b in worth.curve(np.array([0.5, 1.0, 2.0, 4.0, 8.0]))]
    assert found == pytest.approx(expected, abs=1e-3)


def test_every_column_of_the_ledger_is_filled_and_violations_are_explained():
    experiment = load("experiment", "chain_count_ledger")
    names = next(d for d in experiment["defaults"] if "override /mechanism" in d)
    names = names["override /mechanism"]
    study = Cross(
        scenarios={"chain_count": load("scenario", "chain_count")},
        mechanisms={name: load("mechanism", name) for name in names},
        attacks={"likelihood_ratio": load("attack", "likelihood_ratio")},
        grid={"epsilon": [1.0], "order": [8.0]}, delta=0.0,
        n_shadow=20, n_holdout=500, n_test=1000,
    )  # fmt: skip
    filled, violated = set(), set()
    for cell in study.cells():
        result = study.run_cell(cell, Session())
        assert result.status == "finished", (cell.name, result.facts)
        columns = {r["metric"] for r in result.rows if r["attack"] == ""}
        if {"claimed", "exact", "certified"} <= columns:
            filled.add(cell.labels["mechanism"])
        if result.facts["verdict"] == "violated":
            violated.add(cell.labels["mechanism"])
            assert "translations" in result.facts["assumptions"]
    assert len(filled) >= 9
    assert filled >= set(names) - {"noiseless", "record_laplace"}
    assert violated == {"expected_value_laplace"}
