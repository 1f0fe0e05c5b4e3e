import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from bench.datasets.source import DataError
from bench.datasets.table.adult import Adult
from bench.scenarios.property_subsets import PropertySubsets
from bench.scenarios.statistics import Count, Mean
from bench.scenarios.subsets import subset_moments
from mechanisms.base import Knowledge, NotOfferedError
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.noise.gaussian import mahalanobis
from tests.support.tables import text_table

QUERY = (
    Mean(column="age", bounds=(17, 90)),
    Mean(column="education-num", bounds=(1, 16)),
    Count(column="marital-status", value="Never-married"),
    Count(column="sex", value="Female"),
    Mean(column="hours-per-week", bounds=(1, 99)),
)
INCOME = Count(column="income", value=">50K")
WORK = Count(column="workclass", value="Private")


def records(n=600, seed=0):
    rng = np.random.default_rng(seed)
    has = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "x": np.round(rng.normal(size=n) + has, 3),
            "kind": np.where(rng.random(n) < 0.3 + 0.3 * has, "a,b", "c=d"),
            "rich": np.where(has, "yes", "no"),
            "same": "always",
            "one": 1.0,
            "text": "t",
            "hole": np.where(np.arange(n) == 5, np.nan, 1.0 * np.arange(n)),
        }
    )


def small(table=None, **changes):
    data = SimpleNamespace(records=text_table(records() if table is None else table), digest="0")
    settings = {
        "data": data,
        "statistics_of": (Mean(column="x"), Count(column="kind", value="a,b")),
        "properties": {"rich": Count(column="rich", value="yes")},
        "secret": "rich",
        "gap": 0.2,
        "size": 20,
        "split": (200, 150),
        "model_subsets": 400,
    }
    return PropertySubsets(**settings | changes)


def worlds(scenario, n=1000, split="test", seed=0):
    secret = np.repeat([0, 1], n)
    return secret, scenario.draw(secret, split, np.random.default_rng(seed)).answers


def refused(call, kind=(ValueError, TypeError)):
    with pytest.raises(kind) as found:
        call()
    text = str(found.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


@pytest.fixture(scope="module")
def adult():
    return Adult()


def full_moments(data, secret, gap, size=100):
    table = data.records
    features = np.stack([s.feature(table) for s in QUERY], axis=1)
    has = secret.feature(table) > 0
    weights = np.array([s.weight(size) for s in QUERY])
    takes = [round((0.5 + side * gap / 2) * size) for side in (-1, 1)]
    both = [subset_moments(features[~has], features[has], take, size, weights) for take in takes]
    return np.stack([m for m, _ in both]), np.stack([c for _, c in both])


# Exact moments of Adult's 45,222 complete rows: L1 and L2 distance of the means, variance along
# their difference given the rest, and Mahalanobis distance.
@pytest.mark.parametrize(
    ("secret", "gap", "l1", "l2", "spread", "distance"),
    [
        (INCOME, 0.1, 7.355, 4.291, 9.101, 1.422),
        (INCOME, 0.2, 14.71, 8.582, None, 2.844),
        (WORK, 0.1, 3.107, 1.734, 7.293, 0.642),
        (WORK, 0.04, 1.243, 0.693, None, 0.257),
    ],
    ids=["income .1", "income .2", "work .1", "work .04"],
)
def test_adults_exact_moments(adult, secret, gap, l1, l2, spread, distance):
    means, covariances = full_moments(adult, secret, gap)
    difference, shared = means[1] - means[0], covariances.mean(axis=0)
    tolerance = 6e-4 * max(1.0, gap / 0.1)  # three published decimals, linear in the gap
    assert np.abs(difference).sum() == pytest.approx(l1, abs=tolerance)
    length = np.linalg.norm(difference)
    assert length == pytest.approx(l2, abs=tolerance)
    assert mahalanobis(difference, shared) == pytest.approx(distance, abs=tolerance)
    if spread is not None:
        along = difference / length
        assert 1 / (along @ np.linalg.inv(shared) @ along) == pytest.approx(spread, abs=6e-4)


def test_adults_expected_answers(adult):
    means, _ = full_moments(adult, INCOME, 0.1)
    assert means[0] == pytest.approx([40.015, 10.516, 25.286, 27.764, 42.215], abs=6e-4)
    assert means[1] == pytest.approx([40.741, 10.713, 21.825, 25.423, 42.847], abs=6e-4)


@pytest.fixture(scope="module")
def income(adult):
    return PropertySubsets(
        data=adult,
        statistics_of=QUERY,
        properties={"income": INCOME, "work": WORK},
        secret="income",
        gap=0.1,
        model="exact",
    )


def test_adults_sensitivities(income):
    found = income.knowledge(Sensitivity)
    assert found.l1 == pytest.approx(3.86)
    assert found.l2 == pytest.approx(1.87505, abs=5e-6)
    assert (found.size, found.dimension, found.unit) == (100, 5, "record")


def test_adults_splits_are_disjoint_and_of_the_stated_sizes(income):
    members = income._members
    rows = {name: np.concatenate(classes) for name, classes in members.items()}
    assert {name: len(r) for name, r in rows.items()} == {
        "shadow": 10_000,
        "test": 10_000,
        "model": 25_222,
    }
    assert (np.sort(np.concatenate(list(rows.values()))) == np.arange(45_222)).all()
    has = INCOME.feature(income.data.records) > 0
    for without, with_property in members.values():
        assert not has[without].any()
        assert has[with_property].all()
    assert sum(len(c[1]) for c in members.values()) == 11_208


def test_the_modelling_split_is_near_the_whole_table(income):
    found = income.knowledge(GaussianAnswers)
    assert found.distance(1) == pytest.approx(7.355, rel=0.06)
    assert found.distance(2) == pytest.approx(4.291, rel=0.06)


def test_answers_are_statistics_of_records_of_the_split():
    scenario = small(size=10, split=(200, 200))
    table = scenario.data.records
    for split in ("shadow", "test"):
        rows = np.concatenate(scenario._members[split])
        _, answers = worlds(scenario, 300, split)
        counts = answers[:, 1]
        assert (counts == np.round(counts)).all()
        ordered = np.sort(table.numbers("x")[rows])
        assert answers[:, 0].min() >= ordered[:10].mean() - 1e-12
        assert answers[:, 0].max() <= ordered[-10:].mean() + 1e-12


def test_worlds_hold_exactly_the_stated_number_of_records_with_the_property():
    scenario = small(statistics_of=(Count(column="rich", value="yes"), Mean(column="x")))
    secret, answers = worlds(scenario, 200)
    assert (answers[secret == 0, 0] == 8).all()
    assert (answers[secret == 1, 0] == 12).all()


@pytest.mark.parametrize("gap", [0.1, 0.2, 0.8])
def test_exact_moments_are_those_of_many_sampled_subsets(gap):
    n = 20_000
    scenario = small(model="exact", gap=gap)
    model = scenario.knowledge(GaussianAnswers)
    secret = np.repeat([0, 1], n)
    answers = scenario.draw(secret, "model", np.random.default_rng(1)).answers
    for value in (0, 1):
        sample = answers[secret == value]
        spread = np.sqrt(np.diag(model.covariances[value]))
        # 3 gaps x 2 secrets x 5 moments at 5.5 standard errors: about 1e-6 of false alarms.
        assert np.abs(sample.mean(axis=0) - model.means[value]) == pytest.approx(
            0, abs=(5.5 * spread / math.sqrt(n)).max()
        )
        errors = np.abs(np.cov(sample, rowvar=False) - model.covariances[value])
        assert (errors < 5.5 * np.outer(spread, spread) * math.sqrt(2.5 / n)).all()


def test_forgetting_the_finite_population_would_be_caught():
    scenario = small(model="exact", split=(250, 250), gap=0.2, size=40)
    model = scenario.knowledge(GaussianAnswers)
    without, with_property = (scenario._features[rows] for rows in scenario._members["model"])
    assert len(with_property) < 80
    infinite = sum(
        n * np.cov(rows, rowvar=False)[1, 1] for n, rows in ((24, without), (16, with_property))
    )
    answers = scenario.draw(np.zeros(20_000, dtype=int), "model", np.random.default_rng(0)).answers
    measured = answers[:, 1].var()
    assert measured == pytest.approx(model.covariances[0][1, 1], rel=0.06)
    assert infinite > 1.3 * measured


def test_taking_every_record_leaves_no_variance():
    rows, others = np.arange(6.0).reshape(3, 2), np.array([[1.0, 5.0], [2.0, 8.0]])
    mean, covariance = subset_moments(rows, others, 2, 5, np.array([1.0, 0.5]))
    assert mean == pytest.approx(np.concatenate([rows, others]).sum(axis=0) * [1, 0.5])
    assert covariance == pytest.approx(np.zeros((2, 2)), abs=1e-12)


def test_the_sampled_model_is_near_the_exact_one():
    sampled, exact = (
        small(model=m, model_subsets=4000).knowledge(GaussianAnswers) for m in ("sampled", "exact")
    )
    spread = np.sqrt(np.stack([np.diag(c) for c in exact.covariances]))
    assert (np.abs(sampled.means - exact.means) < 6 * spread / math.sqrt(4000)).all()
    assert sampled.covariances == pytest.approx(exact.covariances, rel=0.15, abs=0.05)


@pytest.mark.parametrize("model", ["sampled", "exact"])
def test_one_statistic_is_enough(model):
    scenario = small(statistics_of=(Mean(column="x"),), model=model)
    assert scenario.law(0).covariance.shape == (1, 1)
    assert worlds(scenario, 5)[1].shape == (10, 1)


def test_the_law_has_its_own_mean_and_the_shared_covariance():
    scenario = small()
    model = scenario.knowledge(GaussianAnswers)
    first, second = scenario.law(0), scenario.law(1)
    assert (first.covariance == second.covariance).all()
    assert first.covariance == pytest.approx(model.covariances.mean(axis=0))
    assert (second.mean == model.means[1]).all()


def test_worlds_of_the_model_follow_the_law():
    scenario = small(worlds="model", model="exact")
    assert scenario.worlds_from_model
    assert not small().worlds_from_model
    secret, answers = worlds(scenario, 20_000)
    for value in (0, 1):
        law, sample = scenario.law(value), answers[secret == value]
        spread = np.sqrt(np.diag(law.covariance))
        limit = norm.isf(1e-8) * spread / math.sqrt(20_000)
        assert (np.abs(sample.mean(axis=0) - law.mean) < limit).all()
        assert np.cov(sample, rowvar=False) == pytest.approx(law.covariance, rel=0.1, abs=0.05)


def test_the_secret_decides_the_answers_row_by_row():
    scenario = small(statistics_of=(Count(column="rich", value="yes"), Mean(column="x")))
    secret = np.random.default_rng(0).integers(0, 2, 50)
    drawn = scenario.draw(secret, "test", np.random.default_rng(1))
    assert (drawn.answers[:, 0] == np.where(secret == 1, 12, 8)).all()
    assert (drawn.secret == secret).all()


def test_draws_and_models_are_functions_of_their_seeds():
    assert (worlds(small())[1] == worlds(small())[1]).all()
    assert (worlds(small())[1] != worlds(small(), seed=1)[1]).any()
    first, again, other = (small(seed=s).knowledge(GaussianAnswers).means for s in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_the_split_depends_on_the_seed_and_the_data_alone():
    base = small()._members["test"][0]
    assert (small(gap=0.4, model="exact")._members["test"][0] == base).all()
    assert not np.array_equal(small(seed=3)._members["test"][0], base)


@pytest.mark.parametrize(
    ("gap", "size", "names"),
    [
        (0.1, 100, ("rich=0.45", "rich=0.55")),
        (1 / 3, 3, ("rich=0.333333", "rich=0.666667")),
        (0.0002, 10_000, ("rich=0.4999", "rich=0.5001")),
    ],
)
def test_secrets_have_different_names(gap, size, names):
    assert small(gap=gap, size=size).secrets == names


def test_names_of_statistics_keep_odd_characters():
    odd = "petal length (cm), a=b/ç"
    table = records().rename(columns={"x": odd, "kind": "art=1"})
    scenario = small(table, statistics_of=(Mean(column=odd), Count(column="art=1", value="a,b")))
    assert scenario.statistics == (f"mean {odd}", "# art=1=a,b")
    assert worlds(scenario, 3)[1].shape == (6, 2)


def test_an_unoffered_fact_lists_what_is_offered():
    class Unheard(Knowledge):
        __slots__ = ()

    with pytest.raises(
        NotOfferedError, match=r"^the scenario offers GaussianAnswers, Sensitivity, not Unheard$"
    ):
        small().knowledge(Unheard)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"gap": 0.15},
            "gap must give whole numbers of 20 records, got gap=0.15: 8.5 and 11.5 records; ",
        ),
        ({"gap": 0}, "gap must be in (0, 1), got gap=0."),
        ({"gap": 1.0}, "gap must be in (0, 1), got gap=1.0."),
        ({"gap": math.nan}, "gap must be in (0, 1), got gap=nan."),
        ({"gap": "wide"}, "gap must be a number, got gap='wide'."),
        ({"size": 0}, "size must be a whole number of at least 1, got size=0."),
        ({"size": 20.0}, "size must be a whole number of at least 1, got size=20.0."),
        ({"model_subsets": 1}, "model_subsets must be a whole number of at least 2"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got seed=-1."),
        ({"seed": None}, "seed must be a whole number of at least 0, got seed=None."),
        ({"secret": "poor"}, "secret must be 'rich', got secret='poor'."),
        (
            {"model": "guessed"},
            "model must be 'sampled', 'exact' or 'population', got model='guessed'.",
        ),
        ({"worlds": "real"}, "worlds must be 'data' or 'model', got worlds='real'."),
        ({"split": (200,)}, "split must be two numbers of records, got (200,)."),
        ({"split": (1, 2, 3)}, "split must be two numbers of records, got (1, 2, 3)."),
        ({"split": 200}, "split must be two numbers of records, got 200."),
        ({"split": (-200, 100)}, "split must be a whole number of at least 1, got split=-200."),
        ({"split": (1.5, 100)}, "split must be a whole number of at least 1, got split=1.5."),
        ({"statistics_of": ()}, "statistics_of must be different statistics, got []."),
        ({"statistics_of": (Mean(column="x"),) * 2}, "statistics_of must be different statistics"),
    ],
)
def test_bad_settings_are_one_clear_line(changes, message):
    assert refused(lambda: small(**changes)).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": (300, 300)}, "split must leave records for modelling: 600 records, got [300"),
        ({"split": (599, 5)}, "split must leave records for modelling"),
        ({"split": (200, 10)}, "size=20 needs 12 records of one class, the test split has "),
        ({"split": (380, 200)}, "size=20 needs 12 records of one class, the model split has "),
        ({"size": 500}, "size=500 needs 300 records of one class, the test split has "),
        (
            {"properties": {"rich": Count(column="same", value="always")}},
            "property 'rich' is constant: every record has it.",
        ),
        (
            {"properties": {"rich": Count(column="rich", value="maybe")}},
            "table: column 'rich': unknown value 'maybe'; did you mean yes?",
        ),
        (
            {"properties": {"rich": Count(column="riches", value="yes")}},
            "table: unknown column 'riches'; did you mean rich? There are:",
        ),
        (
            {"statistics_of": (Mean(column="text"),)},
            "table: column 'text' must hold finite numbers",
        ),
        (
            {"statistics_of": (Mean(column="hole"),)},
            "table: column 'hole' must hold finite numbers within +-1e+150, got 'nan'",
        ),
        ({"statistics_of": (Mean(column="one"),)}, "statistic 'mean one' is constant"),
        (
            {"statistics_of": (Mean(column="x"), Count(column="same", value="always"))},
            "statistic '# same=always' is constant",
        ),
        (
            {"statistics_of": (Mean(column="x", bounds=(-0.5, 0.5)),)},
            "column 'x' has ",
        ),
    ],
)
def test_data_that_do_not_fit_are_one_clear_line(changes, message):
    assert refused(lambda: worlds(small(**changes)), DataError).startswith(message)


def test_an_empty_table_is_refused():
    assert refused(lambda: worlds(small(records().iloc[:0])), DataError)


def test_unknown_secrets_are_refused():
    text = refused(lambda: small().draw(np.array([0, 2]), "test", np.random.default_rng(0)))
    assert text == "secrets must be 0 or 1, got [0, 2]."


def test_a_changed_setting_is_checked_again():
    assert refused(lambda: replace(small(), gap=0.15)).startswith("gap must give whole numbers")
