"""Audits of recorded releases: the split, the stated claim, and malformed tables."""

import numpy as np
import pytest

from bench.datasets.source import DataError
from bench.scenarios.recorded import Recorded
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
            "recorded": {"_target_": "bench.scenarios.recorded.Recorded", "path": path}
            | COLUMNS
            | options
        },
        mechanisms={"noiseless": {"_target_": "mechanisms.noise.identity.Noiseless"}},
        attacks={
            "meta": {
                "_target_": "attacks.meta_classifier.MetaClassifier",
                "classifier": {"_target_": "sklearn.linear_model.LogisticRegression"},
                "trained_on": "releases",
            }
        },
    )
    session = Session()
    (cell,) = cross.cells(session)
    return cross.run_cell(cell, session)


def test_parts_hold_every_world_once(tmp_path):
    path = written(tmp_path / "t.csv", np.repeat(["a", "b"], 100), np.arange(200))
    scenario = Recorded(path=path, **COLUMNS)
    parts = [scenario.recorded(part) for part in ("shadow", "holdout", "test")]
    values = np.concatenate([part.answers[:, 0] for part in parts])
    assert sorted(values) == list(range(200))
    for part in parts:
        assert ((part.answers[:, 0] >= 100) == (part.secret == 1)).all()


def test_rows_of_one_run_are_one_world(tmp_path):
    run = np.tile(np.repeat(np.arange(100), 2), 2)
    secret = np.repeat(["a", "b"], 200)
    path = written(tmp_path / "t.csv", secret, np.arange(400), run, names="s,x,r")
    scenario = Recorded(path=path, repetition="r", **COLUMNS)
    answers = np.concatenate([scenario.recorded(p).answers for p in ("shadow", "holdout", "test")])
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
        Recorded(path=path, **COLUMNS).check()
    assert "\n" not in str(error.value)
    assert "t.csv" in str(error.value)
