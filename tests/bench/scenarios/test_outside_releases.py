"""Audits of recorded releases: the split, the stated claim, and malformed tables."""

import numpy as np
import pytest

from bench.datasets.source import DataError
from bench.scenarios.outside_releases import OutsideReleases
from bench.study.cross import Cross
from bench.study.session import Session

COLUMNS = {"secret": "s", "releases": ["x"]}


def written(path, secret, *columns, names="s,x"):
    rows = zip(secret, *columns, strict=True)
    path.write_text(names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return str(path)


def laplace_table(path, epsilon, n, seed):
    secret = np.repeat([0, 1], n)
    noise = np.random.default_rng(seed).laplace(0, 1, 2 * n)
    return written(path, secret, secret * epsilon + noise)


def audit(path, **options):
    cross = Cross(
        scenarios={
            "recorded": {
                "_target_": "bench.scenarios.outside_releases.OutsideReleases",
                "path": path,
            }
            | COLUMNS
            | options
        },
        mechanisms={"noiseless": {"_target_": "mechanisms.noise.identity.Noiseless"}},
        attacks={
            "meta": {
                "_target_": "attacks.meta_classifier.MetaClassifier",
                "estimator": {"_target_": "sklearn.linear_model.LogisticRegression"},
            }
        },
    )
    session = Session()
    (cell,) = cross.cells(session)
    rows = cross.run_cell(cell, session).rows
    return max(row["value"] for row in rows if row["metric"] == "certified")


def test_parts_hold_every_world_once(tmp_path):
    path = written(tmp_path / "t.csv", np.repeat(["a", "b"], 100), np.arange(200))
    scenario = OutsideReleases(path=path, **COLUMNS)
    parts = [scenario.fixed_part(part) for part in ("shadow", "holdout", "test")]
    values = np.concatenate([part.answers[:, 0] for part in parts])
    assert sorted(values) == list(range(200))
    for part in parts:
        assert ((part.answers[:, 0] >= 100) == (part.secret == 1)).all()


def test_rows_of_one_run_are_one_world(tmp_path):
    run = np.tile(np.repeat(np.arange(100), 2), 2)
    secret = np.repeat(["a", "b"], 200)
    path = written(tmp_path / "t.csv", secret, np.arange(400), run, names="s,x,r")
    scenario = OutsideReleases(path=path, repetition="r", **COLUMNS)
    answers = np.concatenate(
        [scenario.fixed_part(p).answers for p in ("shadow", "holdout", "test")]
    )
    assert answers.shape == (200, 2)
    assert (answers[:, 1] == answers[:, 0] + 1).all()


MALFORMED = {
    "text among numbers": (["a"] * 50 + ["b"] * 50, ["1"] * 99 + ["z"]),
    "one secret": (["a"] * 100, range(100)),
    "too few rows": (["a"] * 95 + ["b"] * 5, range(100)),
    "missing value": (["a"] * 50 + ["b"] * 50, [""] + ["1"] * 99),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_table_gets_one_line(tmp_path, name):
    path = written(tmp_path / "t.csv", *MALFORMED[name])
    with pytest.raises(DataError) as error:
        OutsideReleases(path=path, **COLUMNS).check()
    assert "\n" not in str(error.value)
    assert "t.csv" in str(error.value)


def test_without_leakage_the_certificate_keeps_its_level(tmp_path):
    path = tmp_path / "t.csv"
    above = sum(audit(laplace_table(path, 0.0, 200, seed)) > 0 for seed in range(400))
    assert above <= 31


def test_laplace_at_epsilon_one_is_certified(tmp_path):
    path = tmp_path / "t.csv"
    found = [audit(laplace_table(path, 1.0, 40_000, seed)) for seed in range(20)]
    assert sum(value >= 0.85 for value in found) >= 19
