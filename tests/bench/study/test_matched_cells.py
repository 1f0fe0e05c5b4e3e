"""Matched cells on Adult: the noise at equal leakage, names, rows, and what records refuse."""

from functools import cache

import numpy as np
import pytest

from bench.datasets.table.adult import Adult
from bench.scenarios.property_subsets import PropertySubsets
from bench.scenarios.statistics import Count, Mean
from bench.study.cross import Cross
from bench.study.session import Session
from bench.study.target import answer_laws, known
from mechanisms.base import NotOfferedError
from mechanisms.knowledge import AnswerLaws, GaussianAnswers
from mechanisms.privacy.budget import NoBudget
from tests.conftest import node
from tests.support.components import Points, ThreeBits

FAMILY = "mechanisms.distribution"
OF = {
    "isotropic": f"{FAMILY}.expected_value.ExpectedValueGaussian",
    "least": f"{FAMILY}.minimum_noise.MinimumNoiseGaussian",
    "along": f"{FAMILY}.directional.DirectionalGaussian",
    "laplace": f"{FAMILY}.directional.DirectionalLaplace",
}
STATISTICS = (
    Mean(column="age", bounds=(17, 90)), Mean(column="education-num", bounds=(1, 16)),
    Count(column="marital-status", value="Never-married"), Count(column="sex", value="Female"),
    Mean(column="hours-per-week", bounds=(1, 99)),
)  # fmt: skip


@cache
def adult(worlds="model", seed=0):
    return PropertySubsets(
        data=Adult(), statistics_of=STATISTICS, secret="income", gap=0.1, model="population",
        properties={"income": Count(column="income", value=">50K")}, worlds=worlds, seed=seed,
    )  # fmt: skip


def plan(name, **changes):
    settings = {"target": "accuracy", "value": 0.55} | changes
    if name != "laplace":
        settings.setdefault("delta", 0.001)
    return {
        "_target_": "mechanisms.privacy.matching.matched.Matched",
        "of": {"_target_": OF[name]},
    } | settings


def calibrated(name):
    matched = Session().build(plan(name), "mechanism")
    scenario = adult()
    knowledge = [known(scenario, kind) for kind in matched.requires]
    return matched.calibrate(*knowledge, budget=NoBudget())


@pytest.mark.parametrize(
    ("name", "deviation", "error"),
    [
        ("isotropic", 16.5457, 35.204),
        ("least", 16.5457, 13.202),
        ("along", 16.8064, 13.410),
        ("laplace", 18.7758 * 2**0.5, 18.776),
    ],
)
def test_on_adult_the_noise_at_equal_accuracy_is_that_of_the_closed_forms(name, deviation, error):
    mechanism = calibrated(name)
    largest = np.linalg.eigvalsh(mechanism.noise_covariance)[-1] ** 0.5
    assert largest == pytest.approx(deviation, rel=1e-5)
    noise = mechanism.noise.sample((200_000, 5), np.random.default_rng(0))
    sizes = np.linalg.norm(noise, axis=1)
    assert sizes.mean() == pytest.approx(error, abs=5.3 * sizes.std() / 200_000**0.5)


def test_the_isotropic_deviation_is_the_largest_eigenvalue_of_the_deficit():
    # sd^2 = lam_max(Dl Dl'/d^2 - S) at Phi(d/2) = .55, for isotropic and least noise alike.
    answers = adult().knowledge(GaussianAnswers)
    gap, spread = answers.differences()[0], answers.shared_covariances()[0]
    distance = 2 * 0.12566134685507402  # twice the .55 quantile
    largest = np.linalg.eigvalsh(np.outer(gap, gap) / distance**2 - spread)[-1] ** 0.5
    for name in ("isotropic", "least"):
        covariance = calibrated(name).noise_covariance
        assert np.linalg.eigvalsh(covariance)[-1] ** 0.5 == pytest.approx(largest, rel=1e-6)


def test_the_population_is_the_same_whatever_the_split():
    for worlds in ("model", "data"):
        first, other = (adult(worlds, seed).knowledge(GaussianAnswers) for seed in (0, 1))
        assert first.means == pytest.approx(other.means, rel=1e-12)
        assert first.covariances == pytest.approx(other.covariances, rel=1e-9)
    assert first.means[0] == pytest.approx([40.015, 10.516, 25.286, 27.764, 42.215], abs=6e-4)
    assert first.means[1] == pytest.approx([40.741, 10.713, 21.825, 25.423, 42.847], abs=6e-4)
    own = adult().unpooled_law(1)
    assert own.covariance == pytest.approx(first.covariances[1], rel=1e-9)


def cross(scenario, mechanisms, **changes):
    settings = {
        "scenarios": {"adult": scenario}, "mechanisms": mechanisms, "n_shadow": 1,
        "n_holdout": 200, "n_test": 400,
        "attacks": {"lr": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}},
    }  # fmt: skip
    return Cross(**(settings | changes))


def results(study):
    session = Session()
    return {c.labels["mechanism"]: (c, study.run_cell(c, session)) for c in study.cells(session)}


TWO_POINTS = node("Points", supports=[[[0.0, 0.0]], [[3.0, 4.0]]])


def test_a_matched_cell_says_what_it_matches_and_shows_the_number():
    mechanisms = {"m": plan("isotropic"), "e": plan("laplace", target="epsilon", value=0.5)}
    found = results(cross(TWO_POINTS, mechanisms, grid={"epsilon": [1.0, 2.0]}))
    cell, result = found["m"]
    told = "accuracy 0.55: s0 | s1, known laws, in the model"
    assert cell.name == f"m target={told}"
    assert cell.labels == {"scenario": "adult", "mechanism": "m", "target": told}
    (row,) = [r for r in result.rows if r["metric"] == "matched"]
    assert row["method"] == "exact"
    assert row["value"] == pytest.approx(0.55, rel=1e-9)
    (ceiling,) = [r for r in result.rows if r["metric"] == "ceiling"]
    assert ceiling["value"] == pytest.approx(0.55, rel=1e-9)
    (claimed,) = [r["value"] for r in found["e"][1].rows if r["metric"] == "claimed"]
    assert claimed == pytest.approx(0.5, rel=1e-9)


def test_the_delta_of_an_epsilon_and_the_records_are_in_the_name():
    mechanisms = {"m": plan("laplace", target="epsilon at delta", value=0.5, delta=1e-5)}
    scenario = node("Points", worlds_from_model=False, supports=[[[0.0]], [[1.0]], [[2.0]]],
                    weights=[[1.0]] * 3)  # fmt: skip
    ((cell, result),) = results(cross(scenario, mechanisms)).values()
    assert cell.labels["target"] == (
        "epsilon 0.5 at delta=1e-05: the worst of 3 pairs, known laws, on records"
    )
    assert result.status == "finished"


@pytest.mark.parametrize("share", ["each", "together"])
def test_several_releases_are_matched_one_by_one_or_together(share):
    study = cross(TWO_POINTS, {"m": plan("isotropic")}, grid={"n_releases": [4]}, share=share)
    ((_, result),) = results(study).values()
    rows = {r["metric"]: r["value"] for r in result.rows if not r["attack"]}
    assert rows["matched"] == pytest.approx(0.55, rel=1e-9)
    if share == "together":
        assert rows["ceiling"] == pytest.approx(0.55, rel=1e-9)
    else:
        assert rows["ceiling"] > 0.59  # Phi(2 d/2)


def test_a_bracket_shows_its_width_with_the_upper_end_at_the_target():
    spread = node("Spread", supports=[[0.0, 1.0], [2.0, 3.0]], weights=[[0.5, 0.5]] * 2)
    nearby = {
        "_target_": "mechanisms.distribution.relaxed.NearbyModel", "distance": 0.1,
        "divergence": 0.5, "calibration": {"_target_": OF["isotropic"]},
    }  # fmt: skip
    mechanisms = {"m": plan("isotropic") | {"of": nearby}}
    ((_, result),) = results(cross(spread, mechanisms)).values()
    (row,) = [r for r in result.rows if r["metric"] == "matched"]
    assert row["method"] == "bracket"
    assert row["upper"] == pytest.approx(0.55, rel=1e-6)
    assert row["lower"] == 0.5


def adult_node(**changes):
    columns = [("Mean", "age"), ("Mean", "education-num"), ("Mean", "hours-per-week")]
    place = "bench.scenarios.statistics"
    return {
        "_target_": "bench.scenarios.property_subsets.PropertySubsets",
        "data": {"_target_": "bench.datasets.table.adult.Adult"},
        "statistics_of": [{"_target_": f"{place}.{kind}", "column": c} for kind, c in columns],
        "properties": {"income": {"_target_": f"{place}.Count", "column": "income",
                                  "value": ">50K"}},
        "secret": "income", "gap": 0.1, "model": "population",
    } | changes  # fmt: skip


def test_on_records_noise_of_deficient_rank_is_not_applicable_and_full_rank_is():
    found = results(cross(adult_node(), {name: plan(name) for name in OF}))
    assert found["isotropic"][1].status == "finished"
    assert found["isotropic"][0].labels["target"].endswith("on records")
    for name in ("least", "along", "laplace"):
        result = found[name][1]
        assert result.status == "not applicable"
        assert "rank 1 in 3 coordinates hides nothing of records" in result.facts["reason"]
        assert "can be matched from 0.7" in result.facts["reason"]


def test_laws_are_offered_as_knowledge_by_every_scenario_that_knows_them():
    laws = answer_laws(Points())
    assert isinstance(laws, AnswerLaws)
    assert laws.pairs == ((0, 1),)
    assert laws.databases is None
    assert known(ThreeBits(), AnswerLaws).answers[1].atoms.shape == (4, 3)
    unknown = node("ThreeBits") | {"_target_": "tests.support.outside.my_attacks.Tables"}
    with pytest.raises(NotOfferedError, match="the tables have no law"):
        answer_laws(Session().build(unknown, "scenario"))


def test_target_is_no_name_for_an_axis():
    with pytest.raises(ValueError, match=r"grid\.target"):
        cross(TWO_POINTS, {"m": plan("isotropic")}, grid={"target": [1]}).cells()
