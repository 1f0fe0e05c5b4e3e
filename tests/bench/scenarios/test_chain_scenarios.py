"""Counts and histograms of chains: worlds, laws, facts, the ledger and bad input."""

import math

import numpy as np
import pytest

from attacks.base import Target, Transcript
from attacks.likelihood_ratio import LikelihoodRatio
from bench.datasets.sequences.chains import GivenChain
from bench.datasets.sequences.real_chains import HouseholdPower
from bench.scenarios.chain_count import ChainCount
from bench.scenarios.chain_histogram import ChainHistogram
from bench.study.cross import Cross, absent_data
from bench.study.game import Game
from bench.study.session import Session
from bench.study.shared_worlds import SharedWorlds, Sizes
from mechanisms.base import NotOfferedError
from mechanisms.distribution.expected_value import ExpectedValueLaplace
from mechanisms.influence.calibrate import InfluenceLaplace, InfluenceRandomisedResponse
from mechanisms.influence.knowledge import (
    Candidates,
    ChainKnowledge,
    CurveKnowledge,
    EntryValues,
)
from mechanisms.influence.markov_quilt import exact_scale
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.influence.uncertainty import uncertainty_penalty
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers, ScalarAnswers, Sensitivity
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.budget import Epsilon
from mechanisms.renyi.tight_pure_laplace import TightPureLaplace
from mechanisms.renyi.w_infinity import WInfinityLaplace

BINARY = [[0.6, 0.4], [0.2, 0.8]]
TERNARY = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
ONE_PRIOR = (GaussianAnswers, FiniteAnswers, ScalarAnswers)


def count(transition=BINARY, initial="stationary", **settings):
    source = GivenChain(transition=transition, initial=initial)
    return ChainCount(**({"source": source, "counted": "1", "length": 100} | settings))


def histogram(transition=TERNARY, **settings):
    source = GivenChain(transition=transition)
    return ChainHistogram(**({"source": source, "length": 12} | settings))


@pytest.mark.parametrize("scenario", [count(length=9), count(length=5, users=3), histogram()])
def test_worlds_have_the_laws_that_the_scenario_offers(scenario):
    """At most 150 frequencies at 5 sigma and 1: a false alarm below 1e-4."""
    rng = np.random.default_rng(0)
    secret = np.repeat(np.arange(len(scenario.secrets)), 20_000)
    worlds = scenario.draw(secret, "test", rng)
    assert worlds.answers.shape == (len(secret), len(scenario.statistics))
    for value in range(len(scenario.secrets)):
        law = scenario.law(value)
        own = worlds.answers[secret == value]
        seen = (own[:, None] == law.atoms[None]).all(axis=2).mean(axis=0)
        assert seen.sum() == pytest.approx(1.0)
        deviation = np.sqrt(law.weights * (1 - law.weights) / 20_000)
        assert (np.abs(seen - law.weights) <= 5 * deviation + 1 / 20_000).all()
    np.testing.assert_array_equal(scenario.answers_of(worlds.database), worlds.answers)
    assert worlds.database.shape == (len(secret), sum(scenario.lengths))


def test_reference_scales_of_the_hundred_steps():
    scenario, budget = count(), Epsilon(epsilon=1.0)
    answers = scenario.knowledge(ScalarAnswers)
    wasserstein = WInfinityLaplace().calibrate(answers, budget=budget)
    smallest = TightPureLaplace().calibrate(answers, budget=budget)
    assert wasserstein.noise.scales == pytest.approx([3.0])
    assert scenario.knowledge(FiniteAnswers).distance(0.0) == 3.0
    assert smallest.noise.scales == pytest.approx([2.42], abs=0.005)
    laws = scenario.law(0), scenario.law(1)
    assert smallest.leakage(*laws, 1).epsilon(0.0).hi == pytest.approx(1.0, abs=1e-6)
    assert scenario.knowledge(GaussianAnswers).distance(1) == pytest.approx(7 / 3, abs=1e-9)


def test_the_expected_value_mechanism_breaks_its_claim_where_answers_are_no_translations():
    """The claim's own note names the assumption that chain counts do not meet."""
    scenario = count()
    mechanism = ExpectedValueLaplace().calibrate(
        scenario.knowledge(GaussianAnswers), budget=Epsilon(epsilon=1.0)
    )
    exact = mechanism.leakage(scenario.law(0), scenario.law(1), 1).epsilon(0.0).hi
    assert exact == pytest.approx(1.0368, abs=1e-4)
    assert Condition.TRANSLATIONS in mechanism.guarantee.assumptions.conditions


def test_facts_are_those_of_the_chain():
    scenario = count(length=7, users=2)
    assert scenario.knowledge(Sensitivity).size == 7
    assert scenario.knowledge(CurveKnowledge).curve.entries == 7
    assert "public" in scenario.knowledge(CurveKnowledge).public
    assert scenario.knowledge(ChainKnowledge).lengths == (7, 7)
    assert scenario.knowledge(EntryValues).states == 2
    assert scenario.knowledge(Candidates).values.tolist() == list(range(15))
    with pytest.raises(NotOfferedError, match=r"the scenario offers .*CurveKnowledge"):
        scenario.knowledge(type("Unheard", (), {}))
    shape = histogram()
    assert shape.knowledge(Sensitivity).l1 == 2.0
    assert shape.knowledge(Candidates).utility == "largest"
    assert shape.knowledge(GaussianAnswers).means.sum(axis=1) == pytest.approx([12.0] * 3)


@pytest.mark.parametrize(
    "settings",
    [
        {"initial_law": "any"}, {"uncertainty": 0.2}, {"initial": "free"},
        {"additional_priors": [GivenChain(transition=[[0.9, 0.1], [0.1, 0.9]])]},
    ],
)  # fmt: skip
def test_laws_of_one_prior_are_not_offered_where_theta_holds_more(settings):
    narrow, wide = count(length=20), count(length=20, **settings)
    for kind in ONE_PRIOR:
        narrow.knowledge(kind)
        with pytest.raises(NotOfferedError, match="Theta holds more than one"):
            wide.knowledge(kind)
    curves = [s.knowledge(CurveKnowledge).curve.values for s in (narrow, wide)]
    assert (curves[1] >= curves[0] - 1e-9).all()
    assert curves[1][3] > curves[0][3]


def test_the_curve_and_the_quilts_share_the_uncertainty():
    scenario = count(uncertainty=0.2, uncertainty_on="conditional")
    assert scenario.knowledge(ChainKnowledge).uncertainty_penalty == uncertainty_penalty(
        0.2, "conditional"
    )
    nominal, uncertain = count().curve, scenario.curve
    assert uncertain.at(5) - nominal.at(5) == pytest.approx(uncertainty_penalty(0.2, "conditional"))


def test_positions_and_values_choose_the_secrets():
    assert count(length=4).secrets == ("X2=0", "X2=1")
    every = count(length=3, positions="all")
    assert every.secrets == ("X1=0", "X1=1", "X2=0", "X2=1", "X3=0", "X3=1")
    assert every.pairs == ((0, 1), (2, 3), (4, 5))
    some = count(transition=TERNARY, positions=[1, 5], values=["0", "2"], length=6)
    assert some.secrets == ("X1=0", "X1=2", "X5=0", "X5=2")
    known_start = count(initial=[1.0, 0.0], length=3, positions="all")
    assert known_start.secrets == ("X2=0", "X2=1", "X3=0", "X3=1")


def test_the_likelihood_ratio_on_reports_is_the_optimal_forward_backward_attacker():
    """Its accuracy meets the exact Bayes ceiling: 20,000 worlds a secret, 4.5 sigma."""
    scenario = count(length=12)
    mechanism = InfluenceRandomisedResponse().calibrate(
        scenario.knowledge(CurveKnowledge), scenario.knowledge(EntryValues),
        scenario.knowledge(Sensitivity), budget=Epsilon(epsilon=4.0),
    )  # fmt: skip
    secret = np.repeat([0, 1], 20_000)
    rng = np.random.default_rng(0)
    worlds = scenario.draw(secret, "test", rng)
    laws = tuple(scenario.database_law(s) for s in (0, 1))
    attacker = LikelihoodRatio(n_draws=2).fit(
        Transcript(secret=secret, answers=worlds.answers, releases=worlds.answers),
        Target(mechanism=mechanism, n_secrets=2, laws=laws), rng,
    )  # fmt: skip
    releases = mechanism.release(worlds.database, rng)[:, None]
    accuracy = (attacker.score(releases).argmax(axis=1) == secret).mean()
    ceiling = mechanism.leakage(*laws, 1).accuracy()
    assert ceiling.exact
    assert accuracy == pytest.approx(ceiling.hi, abs=0.01)
    assert ceiling.hi > 0.7


def test_mechanisms_on_records_are_compared_by_the_law_of_the_database():
    scenario = count(length=4)
    mechanism = InfluenceRandomisedResponse().calibrate(
        scenario.knowledge(CurveKnowledge), scenario.knowledge(EntryValues),
        scenario.knowledge(Sensitivity), budget=Epsilon(epsilon=1.0),
    )  # fmt: skip
    sizes = Sizes(repetitions=1, shadow=1, holdout=1, test=1)
    game = Game(
        session=Session(), mechanism=mechanism, n_releases=1, release_stream="",
        shared=SharedWorlds(scenario=scenario, stream="", sizes=sizes, seed=0),
    )  # fmt: skip
    assert [law.value for law in game.laws()] == [0, 1]


def cross(scenario, mechanisms, **settings):
    return Cross(
        scenarios={"chain": scenario}, mechanisms=mechanisms,
        attacks={"lr": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}},
        n_shadow=20, n_holdout=500, n_test=1000, delta=0.0, **settings,
    )  # fmt: skip


def node(length=30, **settings):
    return {
        "_target_": "bench.scenarios.chain_count.ChainCount", "counted": "1", "length": length,
        "source": {"_target_": "bench.datasets.sequences.chains.GivenChain", "transition": BINARY},
    } | settings  # fmt: skip


LAPLACE = {"laplace": {"_target_": "mechanisms.influence.calibrate.InfluenceLaplace"}}


def test_a_planted_mechanism_that_leaks_twice_its_claim_is_caught():
    planted = {"planted": {"_target_": "tests.support.components.LyingLaplace"}}
    study = cross(node(), planted, grid={"epsilon": [0.5, 1.0]})
    for cell in study.cells():
        assert study.run_cell(cell, Session()).facts["verdict"] == "violated"


def test_composition_is_measured_where_it_is_computable():
    study = cross(node(length=6), {
        "rr": {"_target_": "mechanisms.influence.calibrate.InfluenceRandomisedResponse"},
        "exponential": {"_target_": "mechanisms.influence.calibrate.InfluenceExponential"},
        **LAPLACE,
    }, grid={"epsilon": [1.0], "n_releases": [1, 2]})  # fmt: skip
    found = {}
    for cell in study.cells():
        result = study.run_cell(cell, Session())
        rows = {r["metric"]: r["value"] for r in result.rows if r["attack"] == ""}
        found[cell.labels["mechanism"], cell.labels["n_releases"]] = rows, result.facts
    for name in ("rr", "exponential", "laplace"):
        one, two = found[name, 1][0], found[name, 2][0]
        assert one["exact"] < two["exact"] <= two["claimed"] <= 2 * one["claimed"] + 1e-9
        assert found[name, 2][1]["verdict"] == "holds"


def test_a_histogram_beyond_reach_is_not_computable_but_runs():
    scenario = {
        "_target_": "bench.scenarios.chain_histogram.ChainHistogram", "length": 60,
        "source": {
            "_target_": "bench.datasets.sequences.chains.GivenChain",
            "transition": np.full((6, 6), 1 / 6).tolist(),
        },
        "values": ["0", "1"],
    }  # fmt: skip
    study = cross(scenario, LAPLACE, grid={"epsilon": [1.0]})
    (cell,) = study.cells()
    result = study.run_cell(cell, Session())
    assert result.status == "finished"
    assert result.facts["exact"].startswith("not computable: the exact law of histograms of 6")


def test_absent_recordings_are_skipped_with_the_reason(monkeypatch):
    monkeypatch.delenv("BENCH_DATA", raising=False)
    scenario = ChainCount(source=HouseholdPower(), counted="1", length=10)
    assert "give its path" in absent_data(scenario)
    source = {"_target_": "bench.datasets.sequences.real_chains.HouseholdPower"}
    study = cross(node(source=source), LAPLACE, grid={"epsilon": [1.0]})
    (cell,) = study.cells()
    result = study.run_cell(cell, Session())
    assert result.status == "not applicable"
    assert "no file" in result.facts["reason"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transition": [[0.6, 0.5], [0.2, 0.8]]}, "rows must sum to 1, got 1.1 in row 0"),
        ({"transition": [[1.2, -0.2], [0.2, 0.8]]}, "transition must be non-negative, got -0.2"),
        ({"transition": [[0.5, 0.5]]}, "transition must be a square matrix"),
        ({"counted": "2"}, "the chain: unknown value '2'; there are: 0, 1"),
        ({"values": ["0", "x"]}, "the chain: unknown value 'x'; there are: 0, 1"),
        ({"values": ["0"]}, "must have two possible values or more"),
        ({"initial": [1.0, 0.0], "positions": [1]}, "must have two possible values or more"),
        ({"transition": [[1.0, 0.0], [1.0, 0.0]]}, "must have two possible values or more"),
        ({"transition": [[1.0, 0.0], [1.0, 0.0]], "positions": "all"}, "there is no secret"),
        ({"positions": [101]}, r"positions must be in 1\.\.100"),
        ({"positions": "end"}, "positions must be 'middle', 'all' or whole numbers"),
        ({"length": None}, "length must be given"),
        ({"length": 0}, "length must be a whole number"),
        ({"uncertainty": 1.0}, r"spread must be in \[0, 1\)"),
        ({"initial_law": "all"}, "initial_law must be 'fixed' or 'any'"),
        ({"additional_priors": [GivenChain(transition=TERNARY)]}, "must share their states"),
        ({"initial": [0.5, 0.6]}, "initial must be non-negative and sum to 1"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(settings, message):
    with pytest.raises(ValueError, match=message) as caught:
        count(**settings).check()
    assert "\n" not in str(caught.value)


def test_reducible_and_periodic_chains_give_the_right_values():
    still = count(transition=[[1.0, 0.0], [0.0, 1.0]], length=10)
    assert still.knowledge(CurveKnowledge).curve.values[:10].min() == math.inf
    budget = still.knowledge(CurveKnowledge).curve.budget(1.0)
    assert budget.total == pytest.approx(1 / 10)  # group privacy
    assert still.law(1).atoms.tolist() == [[10.0]]
    swap = count(transition=[[0.0, 1.0], [1.0, 0.0]], length=10)
    assert swap.law(0).atoms.tolist() == [[5.0]]
    assert swap.knowledge(CurveKnowledge).curve.at(9) == math.inf


def test_a_state_that_is_never_visited_is_no_secret():
    scenario = count(transition=[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], length=5)
    assert scenario.secrets == ("X3=0", "X3=1")
    assert np.isfinite(scenario.knowledge(CurveKnowledge).curve.values[1:]).all()


def test_a_long_slow_chain_costs_the_curve_no_more_than_the_exact_quilt():
    scenario = count([[0.995, 0.005], [0.005, 0.995]], length=3000)
    total = scenario.knowledge(CurveKnowledge).curve.budget(1.0).total
    quilt = exact_scale(list(scenario.theta_chains), 3000, 1.0)
    assert 1 / total == pytest.approx(quilt, rel=1e-6)
    assert quilt == pytest.approx(733.874, abs=1e-3)


def test_families_of_pufferfish_mechanisms_name_one_notion():
    scenario, budget = count(), Epsilon(epsilon=1.0)
    curve, chains = scenario.knowledge(CurveKnowledge), scenario.knowledge(ChainKnowledge)
    entry = scenario.knowledge(Sensitivity)
    mechanisms = (
        WInfinityLaplace().calibrate(scenario.knowledge(ScalarAnswers), budget=budget),
        InfluenceLaplace().calibrate(curve, entry, budget=budget),
        MarkovQuiltLaplace(method="exact").calibrate(chains, entry, budget=budget),
    )
    assert {m.guarantee.name for m in mechanisms} == {"Pufferfish privacy"}
