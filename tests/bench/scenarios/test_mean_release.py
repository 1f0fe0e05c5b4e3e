"""Sums over records with the records: answers are theirs, receivers are fitted to others."""

from dataclasses import fields

import numpy as np
import pytest

from bench.datasets.table.adult import Adult
from bench.scenarios.mean_release import MeanRelease, mean_release_table
from bench.scenarios.property_subsets import PropertySubsets
from bench.scenarios.statistics import Count, Mean
from mechanisms.deterministic.linear_statistics import LinearStatistics
from mechanisms.deterministic.statistic_receivers import StatisticReceivers
from mechanisms.knowledge import GaussianAnswers
from mechanisms.privacy.persuasive.notion import Receivers
from tests.support.command import ROOT

RNG = np.random.default_rng(0)
ADULT = Adult()
OPTIONS = {
    "data": ADULT,
    "statistics_of": (Mean(column="age"), Count(column="sex", value="Female")),
    "properties": {"income": Count(column="income", value=">50K")},
    "secret": "income", "gap": 0.1, "model": "exact",
}  # fmt: skip


def scenario(**options):
    return MeanRelease(**(OPTIONS | options))


@pytest.fixture(scope="module")
def means():
    return scenario()


def test_answers_are_the_sums_of_the_drawn_records(means):
    means.check()
    drawn = means.draw(np.array([0, 1, 1]), "test", RNG)
    assert drawn.database.shape == (3, 100, 2)
    receivers = means.knowledge(Receivers)
    assert isinstance(receivers, StatisticReceivers)
    release = LinearStatistics.of_records(receivers.weights, size=100)
    assert release.release(drawn.database, RNG) == pytest.approx(drawn.answers, rel=1e-12)
    assert means.knowledge(GaussianAnswers).means.shape == (2, 2)


def test_worlds_are_those_of_the_property_scenario(means):
    plain = PropertySubsets(**{f.name: getattr(means, f.name) for f in fields(PropertySubsets)})
    ours, theirs = (
        s.draw(np.array([0, 1]), "test", np.random.default_rng(1)) for s in (means, plain)
    )
    assert (ours.answers == theirs.answers).all()
    assert theirs.database is None


def test_receivers_are_fitted_to_records_that_are_not_released(means):
    rows = np.concatenate(means._members["model"])
    found = means.knowledge(Receivers)
    assert found.mean == pytest.approx(means._features[rows].mean(axis=0))
    assert np.diag(found.covariance) == pytest.approx(means._features[rows].var(axis=0), rel=0.01)
    assert not set(rows) & set(np.concatenate(means._members["test"]))


def test_worlds_of_the_model_have_no_records():
    assert scenario(worlds="model").draw(np.array([0, 1]), "test", RNG).database is None


def test_a_table_of_the_user():
    built = mean_release_table(
        path=str(ROOT / "tests/support/people.csv"), column="job", value="yes", means=["age"],
        size=4, gap=0.5, surprises=[1.0], spreads=[2.0],
    )  # fmt: skip
    built.check()
    assert built.knowledge(Receivers).informed == ((1.0, 2.0),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "positive semi-definite|negative eigenvalue"),
        ({"covariance": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
        ({"covariance": [[1.0]]}, "shape"),
        ({"covariance": [[0.0, 0.0], [0.0, 1.0]]}, "positive variances, got 0 for entry 0"),
        ({"surprises": [0.0]}, "r1 of an informed receiver must be in"),
        ({"spreads": [1.0]}, "r2 of an informed receiver must be in"),
        ({"shrinkage": 2.0}, "shrinkage must be in"),
    ],
)
def test_bad_receivers_are_one_clear_line(options, message):
    with pytest.raises(ValueError, match=message) as found:
        scenario(**options).check()
    assert "\n" not in str(found.value)


def test_a_semidefinite_covariance_is_taken():
    built = scenario(covariance=[[1.0, 1.0], [1.0, 1.0]])
    built.check()
    receivers = built.knowledge(Receivers)
    gain = LinearStatistics(matrix=receivers.matrix).gain(receivers.fitted)
    x = receivers.fitted.mean
    assert np.isfinite(gain.losses(receivers.matrix @ x, x)).all()
