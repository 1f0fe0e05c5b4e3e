"""Published tables: one CSV each, whatever our names for their rows."""

import io

import pandas as pd
import pytest

from bench.config.build import ConfigError
from bench.figures.beside_published import BesidePublished
from bench.figures.published_values import FOLDER, read_published

TABLES = sorted(entry.name.removesuffix(".csv") for entry in FOLDER.iterdir())
OURS = {
    "mechanism": {"influence curve": "curve", "MQM": ["one", "other"]},
    "scenario": {"certain": "certain", "uncertain by 20 %": ["joint", "conditional"]},
}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_names_its_source_and_holds_each_value_once(table):
    source, _ = read_published(table, {}, "acc_at_1")
    assert source.startswith(("Bai et al. (2026), ", "Chen and Ohrimenko (2023), "))
    rows = pd.read_csv(io.StringIO((FOLDER / f"{table}.csv").read_text()), comment="#")
    assert not rows.drop(columns="value").duplicated().any()
    assert rows["value"].notna().all()


def test_a_value_is_compared_with_each_of_our_names():
    _, theirs = read_published("bai_2026_table_2", {}, "acc_at_3")
    _, values = read_published("bai_2026_table_2", OURS, "acc_at_3")
    assert len(theirs) == 24
    assert len(values) == 3 * 3 * 6
    assert list(values["mechanism"].unique()) == ["curve", "one", "other"]
    wide = values.pivot_table(index="epsilon", columns=["mechanism", "scenario"], values="value")
    assert (wide["one"] == wide["other"]).all(axis=None)
    assert (wide["curve"]["joint"] == wide["curve"]["conditional"]).all()
    assert (wide["curve"]["joint"] < wide["curve"]["certain"]).all()
    assert wide["one"]["certain"][0.5] == 0.2083


def test_names_that_are_not_asked_for_are_left_out():
    _, values = read_published("bai_2026_section_7_1_5", {"scenario": {"Foursquare": "f"}}, "acc")
    assert values.to_dict("records") == [
        {"scenario": "f", "mechanism": "training majority", "value": 0.1861}
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"published": "bai_2026_table_1"}, "unknown published table 'bai_2026_table_1'; did you"),
        ({"ours": {"prior": {}}}, "unknown column 'prior'"),
    ],
)
def test_unknown_tables_and_columns_are_refused_before_anything_runs(changes, message):
    settings = {"metric": "acc_at_1", "label": "l", "published": "bai_2026_table_2"}
    with pytest.raises(ConfigError, match=message):
        BesidePublished(**(settings | changes))


def test_published_values_stand_beside_ours():
    figure = BesidePublished(
        metric="acc_at_1", label="share", published="bai_2026_table_2", ours=OURS
    )
    ours = pd.DataFrame(
        [{"metric": "acc_at_1", "statistic": "", "attack": "", "mechanism": "other",
          "scenario": "joint", "epsilon": 0.5, "value": 0.5, "lower": 0.4, "upper": 0.6, "n": 9}]
    )  # fmt: skip
    table = figure.table(ours)
    found = table[table["ours"].notna()].to_dict("records")
    assert len(table) == 54
    assert [(f["mechanism"], f["scenario"], f["epsilon"], f["n"]) for f in found] == [
        ("other", "joint", 0.5, 9)
    ]
    assert found[0]["ours/published"] == pytest.approx(0.5 / found[0]["published"])
