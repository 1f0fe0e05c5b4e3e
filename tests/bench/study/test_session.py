"""A session pays once for what cells share, keeps little, and decides no number."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bench.study.session import SCENARIOS, Session
from bench.study.shared_worlds import Sizes
from tests.bench.study.test_cross import LEARNER, POINTS, study
from tests.conftest import node

SIZES = Sizes(repetitions=2, shadow=3, holdout=3, test=4)
MEAN = "bench.scenarios.statistics.Mean"


def test_the_same_configuration_is_built_once():
    session = Session()
    built = session.build({"_target_": MEAN, "column": "x"}, "thing")
    assert session.build({"column": "x", "_target_": MEAN}, "again") is built
    assert session.build({"_target_": MEAN, "column": "y"}, "thing") is not built
    assert Session().build({"_target_": MEAN, "column": "x"}, "thing") is not built
    session.clear()
    assert session.build({"_target_": MEAN, "column": "x"}, "thing") is not built


def test_worlds_are_drawn_once_and_those_of_early_scenarios_are_forgotten():
    session = Session()
    first = session.worlds("s", POINTS, sizes=SIZES, seed=0)
    assert first.part("test") is first.part("test")
    assert session.worlds("s", POINTS, sizes=SIZES, seed=0) is first
    for seed in range(1, SCENARIOS + 1):
        session.worlds("s", POINTS, sizes=SIZES, seed=seed)
    again = session.worlds("s", POINTS, sizes=SIZES, seed=0)
    assert again is not first
    np.testing.assert_array_equal(again.part("test").answers, first.part("test").answers)


@pytest.mark.parametrize("change", ["label", "seed", "sizes", "config"])
def test_worlds_of_other_streams_are_other_worlds(change):
    session = Session()
    label, config, sizes, seed = "s", POINTS, SIZES, 0
    kept = session.worlds(label, config, sizes=sizes, seed=seed)
    label = "t" if change == "label" else label
    seed = 1 if change == "seed" else seed
    sizes = dataclasses.replace(SIZES, test=5) if change == "sizes" else sizes
    config = node("SameEitherWay") if change == "config" else config
    other = session.worlds(label, config, sizes=sizes, seed=seed)
    assert other is not kept
    same = np.array_equal(other.part("test").answers, kept.part("test").answers)
    assert not same


def test_non_adaptive_attackers_are_trained_once_for_all_mechanisms():
    session = Session()
    shared = session.worlds("s", POINTS, sizes=SIZES, seed=0)
    attack = session.build(LEARNER, "attack forest")
    first = shared.attacker(attack, "forest", "text", repetition=0, n_releases=1)
    assert shared.attacker(attack, "forest", "text", repetition=0, n_releases=1) is first
    for changed in ({"repetition": 1, "n_releases": 1}, {"repetition": 0, "n_releases": 2}):
        assert shared.attacker(attack, "forest", "text", **changed) is not first
    assert shared.attacker(attack, "wood", "text", repetition=0, n_releases=1) is not first


def test_what_a_session_has_kept_changes_no_number():
    cross = study(attacks={"forest": LEARNER}, repetitions=1)
    cells = cross.cells()
    together = Session()
    for cell in reversed(cells):
        alone, kept = cross.run_cell(cell, Session()), cross.run_cell(cell, together)
        assert kept.rows == alone.rows
        assert kept.facts == alone.facts


def test_a_specification_cannot_be_changed():
    (cell, *_) = study().cells()
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell.spec.seed = 7


@pytest.mark.parametrize(("data", "same"), [("same", True), ("new", False)])
def test_who_trains_on_answers_trains_on_new_data_where_releases_are_of_new_data(data, same):
    column = {"_target_": "bench.quantities.binary_column.BalancedColumn", "rows": 10}
    counts = {"_target_": "bench.scenarios.subset_counts.SubsetCounts", "column": column,
              "rows": 12, "queries": 5, "data": data}  # fmt: skip
    shared = Session().worlds("s", counts, sizes=dataclasses.replace(SIZES, shadow=20), seed=0)
    seen = []

    class Looks:
        def fit(self, shadow, target, rng):
            seen.append(shadow.releases)

    shared.attacker(Looks(), "looks", "text", repetition=0, n_releases=3)
    assert seen[0].shape == (40, 3, 5)
    assert (seen[0][:, 0] == seen[0][:, 2]).all() == same


def test_a_public_fact_that_is_the_same_in_every_world_is_kept_once():
    column = {"_target_": "bench.quantities.binary_column.BalancedColumn", "rows": 10}
    counts = {"_target_": "bench.scenarios.subset_counts.SubsetCounts", "column": column}
    sizes = dataclasses.replace(SIZES, repetitions=1, test=50)
    worlds = Session().worlds("s", counts, sizes=sizes, seed=0).part("test")
    queries = worlds.public["queries"]
    assert queries.shape == (100, 192, 48)
    assert queries.base is not None
    assert queries.base.nbytes == 192 * 48
    assert not queries.flags.writeable
