"""Counts over subsets of one column: worlds, laws, facts, new data at every release, bad input."""

import math
from pathlib import Path

import numpy as np
import pytest

from bench.config.build import ConfigError, build
from bench.quantities.binary_column import BinaryColumn
from bench.scenarios.subset_counts import SubsetCounts
from mechanisms.base import NotOfferedError
from mechanisms.influence.calibrate import InfluenceLaplace
from mechanisms.influence.knowledge import CurveKnowledge
from mechanisms.knowledge import FiniteAnswers, Sensitivity
from mechanisms.privacy.budget import Epsilon

PEOPLE = Path(__file__).parents[2] / "support" / "people.csv"


def scenario(**settings):
    column = BinaryColumn(path=str(PEOPLE), column="job", value="yes")
    return SubsetCounts(**({"column": column, "rows": 6, "queries": 9} | settings))


def test_worlds_are_rows_of_the_column_and_their_counts():
    own = scenario()
    n = 4000
    worlds = own.draw(np.repeat([0, 1], n), "test", np.random.default_rng(0))
    assert (worlds.database[:, 0] == worlds.secret).all()
    share = own.column.share
    others = worlds.database[:, 1:].mean(axis=0)
    assert np.abs(others - share).max() < 5 * math.sqrt(share * (1 - share) / (2 * n))
    by_hand = [[row[s == 1].sum() for s in own.subsets] for row in worlds.database[:20]]
    assert worlds.answers[:20].tolist() == by_hand
    assert (worlds.public["queries"][17] == own.subsets).all()


def test_exact_laws_are_those_of_the_worlds():
    own = scenario(rows=3, queries=4)
    worlds = own.draw(np.repeat([0, 1], 5000), "test", np.random.default_rng(1))
    for secret in (0, 1):
        law = own.law(secret)
        seen = worlds.answers[worlds.secret == secret]
        frequency = (seen[:, None] == law.atoms[None]).all(axis=-1).mean(axis=0)
        assert frequency.sum() == pytest.approx(1)
        assert np.abs(frequency - law.weights).max() < 5 * 0.5 / math.sqrt(5000)


def test_one_row_moves_the_counts_by_the_sensitivity_and_independent_rows_pay_nothing():
    own = scenario()
    known = own.knowledge(Sensitivity)
    rows = np.zeros((own.rows + 1, own.rows), dtype=np.int64)
    rows[1:] = np.eye(own.rows)
    moves = own.answers_of(rows[1:]) - own.answers_of(rows[:1])
    assert np.abs(moves).sum(axis=1).max() == known.l1
    assert np.linalg.norm(moves, axis=1).max() == pytest.approx(known.l2)
    mechanism = InfluenceLaplace().calibrate(
        own.knowledge(CurveKnowledge), known, budget=Epsilon(epsilon=0.5)
    )
    assert mechanism.noise.scales == pytest.approx(np.full(9, known.l1 / 0.5), rel=1e-9)
    assert mechanism.repeated_guarantee(10).bound == pytest.approx(5.0)


def test_the_subsets_are_those_of_the_seed_and_hold_every_row():
    assert (scenario().subsets == scenario().subsets).all()
    assert (scenario().subsets != scenario(seed=1).subsets).any()
    assert scenario(queries=1).subsets.tolist() == [[1] * 6]


def test_laws_of_many_rows_are_not_offered():
    large = scenario(rows=11)
    with pytest.raises(NotOfferedError, match="over 11 rows is too large, 10 are the most"):
        large.law(0)
    with pytest.raises(NotOfferedError, match="too large"):
        large.knowledge(FiniteAnswers)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 0}, "rows must be a whole number of at least 1, got rows=0"),
        ({"queries": 0}, "queries must be a whole number of at least 1"),
        ({"data": "old"}, "data must be 'same' or 'new', got data='old'"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_bad_input_is_one_clear_line(changes, message):
    with pytest.raises(ValueError, match=message) as found:
        scenario(**changes)
    assert "\n" not in str(found.value)


def test_an_unknown_parameter_names_the_nearest():
    config = {"_target_": "bench.scenarios.subset_counts.SubsetCounts", "row": 3}
    with pytest.raises(ConfigError, match="did you mean rows"):
        build(config, "scenario")
