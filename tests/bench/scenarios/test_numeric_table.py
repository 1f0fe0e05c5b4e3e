"""The property scenario on a table of the user: right numbers, and one clear line otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bench.config.build import ConfigError, build
from bench.datasets.source import DataError
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from tests.support.command import bench

ROWS = 600


@pytest.fixture(params=["csv", "parquet", "csv.gz"])
def people(tmp_path, request):
    """A table with awkward names: a comma, an equals sign, a slash, Unicode, a country NA."""
    rng = np.random.default_rng(5)
    rich = rng.random(ROWS) < 0.5
    table = pd.DataFrame(
        {
            "petal length (cm)": rng.normal(10 + 3 * rich, 2),
            "größe=m/s": rng.integers(0, 9, size=ROWS),
            "country": np.where(rich, "NA", "None"),
            "a,b": np.where(rng.random(ROWS) < 0.3 + 0.3 * rich, "x", "y"),
        }
    )
    path = tmp_path / f"people.{request.param}"
    if request.param == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return path


def scenario(path, **changes):
    settings = {
        "_target_": "bench.scenarios.numeric_table.numeric_table",
        "path": path and str(path),
        "column": "country",
        "value": "NA",
        "means": ["petal length (cm)", "größe=m/s"],
        "counts": {"a,b": "x"},
        "size": 20,
        "gap": 0.2,
    }
    made = build(settings | changes, "scenario numeric_table")
    made.check()
    return made


def test_awkward_names_and_a_country_na_survive(people):
    made = scenario(people, model="exact")
    assert made.statistics == ("mean petal length (cm)", "mean größe=m/s", "# a,b=x")
    assert made.secrets == ("country=0.4", "country=0.6")
    means = made.knowledge(GaussianAnswers).means
    assert means[1, 0] - means[0, 0] == pytest.approx(0.6, abs=0.1)  # 20 % of 3
    assert made.knowledge(Sensitivity).size == 20


def test_worlds_follow_the_model(people):
    made = scenario(people, model="exact", shares=[0.3, 0.3])
    secret = np.repeat([0, 1], 4000)
    drawn = made.draw(secret, "test", np.random.default_rng(0))
    gap = drawn.answers[secret == 1].mean(axis=0) - drawn.answers[secret == 0].mean(axis=0)
    assert gap[0] == pytest.approx(0.6, abs=0.15)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"column": "nation"}, "unknown column 'nation'; there are"),
        ({"value": "DE"}, "unknown value 'DE'"),
        ({"means": ["a,b"]}, "must hold finite numbers"),
        ({"means": [], "counts": {}}, "needs scenario.means"),
        ({"size": 2000}, "records of one class"),
        ({"gap": 0.15}, "whole numbers of 20 records"),
        ({"gap": 1.0}, "gap must be in (0, 1)"),
        ({"shares": [0.6, 0.5]}, "sum below 1"),
        ({"bounds": {"petal length (cm)": [5, 5]}}, "low < high"),
    ],
)
def test_bad_input_is_one_clear_line(people, changes, said):
    with pytest.raises((ValueError, ConfigError, DataError)) as caught:
        scenario(people, **changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_path_must_be_given():
    with pytest.raises(ConfigError, match=r"needs scenario\.path"):
        scenario(None)


def test_missing_values_are_counted(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("x,y\n" + "1,a\n,b\n?,a\n4,b\n" * 50)
    told = r"column 'x' has 100 missing values, the first in data row 2 \(nothing\); leave"
    with pytest.raises(ConfigError, match=told):
        scenario(path, column="y", value="a", means=["x"], counts={}, size=4, gap=0.5)


def test_a_constant_property_is_refused(tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("x,y\n" + "1,a\n2,a\n" * 50)
    with pytest.raises(DataError, match="property 'y' is constant"):
        scenario(path, column="y", value="a", means=["x"], counts={}, size=4, gap=0.5)


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"x,y\n"])
def test_a_file_that_is_no_table_is_one_line(tmp_path, content):
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        scenario(path)
    assert "\n" not in str(caught.value)
    assert "broken.csv" in str(caught.value)


def test_the_command_runs_it_by_overrides_only(folder, refused, people):
    overrides = [
        "+experiment=quickstart", "scenario=numeric_table", f"scenario.path={people}",
        "scenario.column=country", "scenario.value=NA", "scenario.means=['petal length (cm)']",
        "scenario.size=20", "scenario.gap=0.2", "n_shadow=30", "n_holdout=30", "n_test=30",
        "mechanism=[noiseless,directional_gaussian]",
    ]  # fmt: skip
    code, out, error = bench(folder, *overrides)
    assert code == 0, error
    assert "directional_gaussian" in out
    assert f"reading numeric_table: {people.name}: {ROWS} rows." in out
    assert "unknown column 'nation'" in refused(folder, *overrides, "scenario.column=nation")
    unquoted = refused(folder, *overrides, "scenario.means=[petal length (cm)]")
    assert "values with spaces" in unquoted
