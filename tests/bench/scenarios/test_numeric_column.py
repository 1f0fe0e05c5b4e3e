import math

import numpy as np
import pandas as pd
import pytest

from bench.config.build import ConfigError, build
from bench.datasets.source import DataError
from bench.datasets.table.adult import Adult
from bench.scenarios.numeric_column import NumericColumn
from bench.study.cross import Cross
from mechanisms.base import NotOfferedError
from mechanisms.influence.knowledge import Candidates
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers, ScalarAnswers, Sensitivity
from mechanisms.laws.coupling import wasserstein
from tests.support.laws import embedded

ROWS = "country,income\nNA,1\nNA,2.5\nDE,2\nDE,4\nFR,7\n"


@pytest.fixture
def table(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def scenario(path, **changes):
    settings = {"value": "income", "secret": "country", "pairs": [["NA", "DE"]]}
    made = NumericColumn(path=path, **(settings | changes))
    made.check()
    return made


@pytest.mark.parametrize(("name", "distance"), [("adult", 2.0), ("heart", 2.2), ("student", 5.0)])
def test_embedded_tables_have_the_published_distances(name, distance):
    assert wasserstein(*embedded(name), order=math.inf) == pytest.approx(distance, abs=1e-12)


def test_the_embedded_count_table_of_adult_is_that_of_its_records():
    table = Adult().records
    for side, law in zip(("Husband", "Not-in-family"), embedded("adult"), strict=True):
        years = table.numbers("education-num")[table.labels("relationship").are(side)]
        atoms, counts = np.unique(years, return_counts=True)
        assert law.atoms.tolist() == atoms.tolist()
        assert law.counts.tolist() == counts.tolist()


def test_the_embedded_count_tables_have_the_published_sizes():
    assert [int(law.counts.sum()) for law in embedded("heart")] == [258, 45]
    assert [int(law.counts.sum()) for law in embedded("student")] == [273, 90]


def test_a_country_called_na_survives_and_a_bom_does_not_hurt(table, tmp_path):
    made = scenario(table(ROWS))
    assert made.secrets == ("country=NA", "country=DE")
    assert made.laws[0].atoms.tolist() == [1.0, 2.5]
    path = tmp_path / "bom.csv"
    path.write_bytes(b"\xef\xbb\xbf" + ROWS.encode())
    assert scenario(str(path)).laws[1].atoms.tolist() == [2.0, 4.0]


def test_the_same_rows_in_any_format_give_the_same_laws(table, tmp_path):
    expected = scenario(table(ROWS)).laws
    frame = pd.DataFrame({"country": ["NA", "NA", "DE", "DE", "FR"], "income": [1, 2.5, 2, 4, 7]})
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_csv(tmp_path / "table.csv.gz", index=False)
    semicolons = table(ROWS.replace(",", ";"), "semicolons.csv")
    counted = table("country,income,n\nNA,1,3\nNA,2.5,3\nDE,2,1\nDE,4,1\nDE,9,0\n", "counts.csv")
    for made in (
        scenario(str(tmp_path / "table.parquet")),
        scenario(str(tmp_path / "table.csv.gz")),
        scenario(semicolons, separator=";"),
        scenario(counted, count="n"),
    ):
        for law, other in zip(made.laws, expected, strict=True):
            assert law.atoms.tolist() == other.atoms.tolist()
            assert law.weights.tolist() == other.weights.tolist()


def test_numbers_and_truth_values_name_secrets_too(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "s": [0.0, 1.0, 0.0, 1.0], "t": [True, False] * 2})
    path = str(tmp_path / "t.parquet")
    frame.to_parquet(path)
    assert scenario(path, value="x", secret="s", pairs=[[0, 1]]).laws[0].atoms.tolist() == [1, 3]
    made = scenario(path, value="x", secret="t", pairs=[[True, False]])
    assert made.secrets == ("t=true", "t=false")


def test_worlds_are_drawn_from_the_law_given_the_secret():
    made = NumericColumn(
        path="embedded:student_grade.csv", value="G3", secret="guardian",
        pairs=[["mother", "father"], ["mother", "other"]], count="count",
    )  # fmt: skip
    assert made.pairs == ((0, 1), (0, 2))
    secret = np.repeat([2, 0, 1], 4000)
    worlds = made.draw(secret, "test", np.random.default_rng(0))
    assert worlds.answers.shape == (12_000, 1)
    for value, law in enumerate(made.laws):
        drawn = worlds.answers[secret == value, 0]
        share = np.array([(drawn == atom).mean() for atom in law.atoms])
        assert share == pytest.approx(law.weights, abs=0.03)
        assert share.sum() == pytest.approx(1.0)


def test_facts_describe_the_laws(table):
    made = scenario(table(ROWS))
    gaussian = made.knowledge(GaussianAnswers)
    assert gaussian.means[:, 0].tolist() == [1.75, 3.0]
    assert gaussian.covariances[:, 0, 0].tolist() == [0.75**2, 1.0]
    sensitivity = made.knowledge(Sensitivity)
    assert (sensitivity.l1, sensitivity.size, sensitivity.dimension) == (6.0, 1, 1)
    assert made.knowledge(ScalarAnswers).laws == made.laws
    assert made.knowledge(FiniteAnswers).laws[0].atoms.tolist() == [[1.0], [2.5]]
    assert scenario(table(ROWS), bounds=[0, 10]).knowledge(Sensitivity).l1 == 10.0
    with pytest.raises(NotOfferedError, match="offers FiniteAnswers, GaussianAnswers, Scalar"):
        made.knowledge(Candidates)


@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        (ROWS, {"value": "incme"}, "unknown column 'incme'; did you mean income"),
        (ROWS, {"secret": "land"}, "unknown column 'land'"),
        (ROWS, {"count": "n"}, "unknown column 'n'"),
        (ROWS, {"pairs": [["NA", "IT"]]}, "column 'country': unknown value 'IT'"),
        (ROWS, {"separator": ";"}, "unknown column 'income'"),
        (ROWS.replace("2.5", "nan"), {}, "must hold finite numbers .*, got 'nan' in data row 2"),
        (ROWS.replace("2.5", "inf"), {}, "must hold finite numbers .*, got 'inf' in data row 2"),
        (
            ROWS.replace("2.5", "1e300"),
            {},
            "must hold finite numbers .*, got '1e300' in data row 2",
        ),
        (
            ROWS.replace("2.5", "1e999"),
            {},
            "must hold finite numbers .*, got '1e999' in data row 2",
        ),
        (ROWS.replace("2.5", "lots"), {}, "must hold finite numbers .*, got 'lots' in data row 2"),
        (ROWS.replace("2.5", "True"), {}, "must hold finite numbers .*, got 'True' in data row 2"),
        (
            ROWS.replace("2.5", ""),
            {},
            "column 'income' has 1 missing values, the first in data row 2",
        ),
        ("country,income\n", {}, "has no rows"),
        ("", {}, "is empty: no header, no rows"),
        ("country,income\nNA,1\nDE,2,3\n", {}, "data row 2 has 3 fields, the header has 2"),
        ("country,income,n\nNA,1,0\nDE,2,1\n", {"count": "n"}, "no rows with country=NA"),
        ("country,income,n\nNA,1,1.5\nDE,2,1\n", {"count": "n"}, "must hold whole counts"),
        ("country,income,n\nNA,1,-1\nDE,2,1\n", {"count": "n"}, "must hold whole counts"),
        (ROWS, {"bounds": [2, 9]}, r"bounds must hold every value of income, got \[2, 9\]"),
    ],
)
def test_a_table_that_does_not_fit_is_one_clear_line(table, text, changes, said):
    with pytest.raises((DataError, ValueError), match=said) as caught:
        scenario(table(text), **changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"path": None}, "scenario.path must name a CSV, TSV or parquet file, got None"),
        ({"value": None}, "scenario.value must name a column of the table, got None"),
        (
            {"secret": 3.5},
            "scenario.secret must be a string, a whole number or true/false, got 3.5",
        ),
        ({"pairs": []}, r"scenario.pairs must be like \[\[a, b\]\], got \[\]"),
        ({"pairs": "ab"}, "scenario.pairs must be like"),
        ({"pairs": ["ab"]}, "scenario.pairs must be like"),
        ({"pairs": [["a"]]}, "scenario.pairs must be like"),
        ({"pairs": [["a", "a"]]}, "must hold two different values"),
        (
            {"pairs": [[1, 1.0]]},
            "scenario.pairs must be a string, .* got 1.0: type it as the file has it",
        ),
        ({"pairs": [["a", None]]}, "quotes within quotes, scenario.pairs=\"'null'\""),
        ({"bounds": [3, 1]}, r"scenario.bounds must be \[low, high\]"),
        ({"bounds": [3]}, r"scenario.bounds must be \[low, high\]"),
    ],
)
def test_a_bad_parameter_is_one_clear_line(changes, said):
    settings = {"path": "t.csv", "value": "x", "secret": "s", "pairs": [["a", "b"]]} | changes
    config = {"_target_": "bench.scenarios.numeric_column.NumericColumn"} | settings
    with pytest.raises(ConfigError, match=said):
        build(config, "scenario numeric_column")


def test_a_missing_file_or_a_folder_is_one_clear_line(tmp_path):
    with pytest.raises(DataError, match=r"no file .*nothing.csv"):
        scenario(str(tmp_path / "nothing.csv"))
    with pytest.raises(DataError, match="cannot read"):
        scenario(str(tmp_path))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="is damaged or no Parquet"):
        scenario(str(tmp_path / "bad.parquet"))


def test_bad_input_is_refused_before_anything_runs(table):
    study = Cross(
        scenarios={"mine": {
            "_target_": "bench.scenarios.numeric_column.NumericColumn",
            "path": table(ROWS.replace("2.5", "lots")), "value": "income", "secret": "country",
            "pairs": [["NA", "DE"]],
        }},
        mechanisms={"m": {"_target_": "mechanisms.noise.identity.Noiseless"}},
    )  # fmt: skip
    with pytest.raises(DataError, match="got 'lots'"):
        study.cells()


def test_a_constant_column_offers_no_sensitivity(table):
    made = scenario(table("country,income\nNA,1\nDE,1\n"))
    with pytest.raises(NotOfferedError):
        made.knowledge(Sensitivity)
    assert made.laws[0].atoms.tolist() == made.laws[1].atoms.tolist() == [1.0]
