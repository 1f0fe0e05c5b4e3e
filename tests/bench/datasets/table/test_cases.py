"""Inputs on which a reading was once wrong, and what is right; small ones are written here.

The files themselves are read where they are at hand.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest

from bench.datasets.activities.capture24 import sequences_of
from bench.datasets.checkins.city_checkins import CityCheckIns
from bench.datasets.sequences.chains import FittedSequences
from bench.datasets.sequences.sequence_file import SequenceFile, read_sequences
from bench.datasets.source import DataError
from bench.datasets.table.table_file import TableFile
from bench.scenarios.numeric_column import NumericColumn
from bench.scenarios.numeric_table import numeric_table
from tests.support.files import beside

rng = np.random.default_rng(11)
SURVEY = [
    f"{i},{age},{hours},{smoker}"
    for i, (age, hours, smoker) in enumerate(
        zip(rng.integers(18, 80, 400), rng.integers(1, 99, 400), rng.integers(0, 2, 400),
            strict=True)
    )
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def written(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return written


def case(name):
    path = beside("cases") / name
    if not path.is_file():
        pytest.skip(f"no cases/{name} beside the folder named by BENCH_DATA")
    return str(path)


def survey(rows, header="id,age,hours,smoker"):
    return "\n".join([header, *rows]) + "\n"


def smokers(path, **changes):
    settings = {"column": "smoker", "value": 1, "means": ["age"], "size": 40, "model": "exact"}
    made = numeric_table(path=path, **(settings | changes))
    made.check()
    return made


def rows_with(path, column, value):
    """Return how many rows the property has, and what is told."""
    labels = TableFile(path=path).read(column).labels(column)
    label, note = labels.find("value", value)
    return int(labels.are(label).sum()), "; ".join([*labels.notes, note])


def test_a_survey_is_read_column_by_column(write):
    made = smokers(write(survey(SURVEY)))
    columns = np.array([row.split(",") for row in SURVEY], dtype=float)
    assert made.data.records.numbers("age").tolist() == columns[:, 1].tolist()
    assert made.properties["smoker"].feature(made.data.records).tolist() == columns[:, 3].tolist()
    assert made.notes == ("table.csv: 400 rows",)


@pytest.mark.parametrize("which", ["all", "first"])
def test_rows_that_end_in_a_separator_never_move_columns(write, which):
    rows = [f"{row}," if which == "all" or i == 0 else row for i, row in enumerate(SURVEY)]
    with pytest.raises(DataError, match="data row 1 has 5 fields, the header has 4: field 5 has "):
        smokers(write(survey(rows)))
    assert smokers(write(survey([f"{row}," for row in SURVEY], "id,age,hours,smoker,"))).notes


def test_the_survey_of_the_cases():
    made = smokers(case("tables/survey_clean.csv"))
    records = made.data.records
    assert made.properties["smoker"].feature(records).mean() == pytest.approx(0.481, abs=5e-4)
    assert records.numbers("age").mean() == pytest.approx(49.62, abs=5e-3)
    for name in ("survey_trailing", "survey_first_row_trailing"):
        with pytest.raises(DataError, match="data row 1 has 7 fields, the header has 6"):
            smokers(case(f"tables/{name}.csv"))


def test_the_exact_leakage_on_the_survey_of_the_cases(run):
    from bench.study.cross import Cross

    study = Cross(
        scenarios={"survey": {
            "_target_": "bench.scenarios.numeric_table.numeric_table",
            "path": case("tables/survey_clean.csv"), "column": "smoker", "value": 1,
            "means": ["age"], "size": 40, "gap": 0.1,
        }},
        mechanisms={"m": {
            "_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian",
        }},
        grid={"epsilon": [2.0], "delta": [0.001]},
        n_shadow=2, n_holdout=2, n_test=2,
    )  # fmt: skip
    outcome, _ = run(study)
    exact = outcome.table.query("metric == 'exact'")["value"].item()
    assert exact == pytest.approx(0.05181, abs=5e-6)


SEQUENCES = [(u, t, "123"[(u * t + t // 3) % 3]) for u in range(1, 21) for t in range(60)]


def test_sequences_count_whole_sequences(write):
    rows = [f"{9000 + i},{u},{t},{s},7,1" for i, (u, t, s) in enumerate(SEQUENCES)]
    header = "id,user,time,label,group,weekend"
    path = write(survey(rows, header))
    fitted = FittedSequences(path=path)
    assert fitted.states == ("1", "2", "3")
    assert fitted.lengths == (60,) * 20
    found = SequenceFile(path=path).sequence_statistics
    assert found.transitions.sum() == 20 * 47  # four fifths of 60 entries, less one each
    trailing = write(survey([f"{row}," for row in rows], header), "trailing.csv")
    for source in (FittedSequences(path=trailing), SequenceFile(path=trailing)):
        with pytest.raises(DataError, match="data row 1 has 7 fields, the header has 6"):
            source.fitted if isinstance(source, FittedSequences) else source.sequence_statistics


def test_the_sequences_of_the_cases():
    path = case("tables/seq_id_clean.csv")
    fitted = FittedSequences(path=path)
    assert (fitted.states, set(fitted.lengths)) == (("1", "2", "3"), {60})
    assert len(fitted.lengths) == 20
    assert SequenceFile(path=path).sequence_statistics.transitions.sum() == 940
    with pytest.raises(DataError, match="data row 1 has 7 fields, the header has 6"):
        FittedSequences(path=case("tables/seq_id_trailing.csv")).fitted  # noqa: B018


@pytest.mark.parametrize(
    ("name", "column", "value", "count"),
    [
        ("codes_pad", "code", 1, 540), ("codes_pad", "code", "01", 490),
        ("zip_codes", "zip", "02139", 195), ("label_space", "flag", "yes", 134),
        ("adult_dots", "income", ">50K", 105), ("bools", "flag", True, 195),
        ("bools", "flag", "True", 195),
    ],
)  # fmt: skip
def test_labels_of_the_cases_are_as_many_as_are_written(name, column, value, count):
    path = case(f"tables/{name}.csv")
    found, told = rows_with(path, column, value)
    assert found == count
    if name == "codes_pad":
        labels = TableFile(path=path).read("code").labels("code")
        assert sorted(labels.names) == ["01", "02", "1", "2"]
    if name in ("label_space", "adult_dots"):
        other = "'yes ' (61 rows)" if name == "label_space" else "'>50K.' (90 rows)"
        assert other in told


@pytest.mark.parametrize("value", [True, "True"])
def test_the_booleans_of_the_cases_name_a_secret(value):
    other = not value if isinstance(value, bool) else "False"
    made = NumericColumn(
        path=case("tables/bools.csv"), value="age", secret="flag", pairs=[[value, other]]
    )
    made.check()
    assert made.labels == ("True", "False")
    assert int(made.laws[0].counts.sum()) == 195
    table = numeric_table(
        path=case("tables/bools.csv"), column="flag", value=value, means=["age"], size=20
    )
    assert table.properties["flag"].feature(table.data.records).sum() == 195


def test_codes_are_texts(write):
    path = write("age,code\n" + "1,1\n2,01\n3,1\n4,1.0\n" * 5)
    assert rows_with(path, "code", 1)[0] == 10
    assert rows_with(path, "code", "01")[0] == 5
    assert rows_with(path, "code", "1.0")[0] == 5
    with pytest.raises(ValueError, match=r"value must be .* got 1.0: type it as the file has it"):
        rows_with(path, "code", 1.0)
    with pytest.raises(DataError, match=r"unknown value '2139'.*02139.*if you typed anything else"):
        rows_with(write("zip\n02139\n10001\n"), "zip", 2139)


def test_a_column_that_stands_twice_is_refused_by_every_scenario(write):
    path = write("age,hours,age,flag\n1,2,3,0\n4,5,6,1\n")
    said = "column 'age' occurs twice, as columns 1 and 3"
    with pytest.raises(DataError, match=said):
        numeric_table(path=path, column="flag", value=1, means=["hours"])
    with pytest.raises(DataError, match=said):
        NumericColumn(path=path, value="hours", secret="flag", pairs=[[0, 1]]).check()
    with pytest.raises(DataError, match=said):
        read_sequences(TableFile(path=path), "hours", "flag", None)
    with pytest.raises(DataError, match=said):
        FittedSequences(path=path, user="hours", time="flag", label="age").fitted  # noqa: B018
    with pytest.raises(DataError, match=said):
        smokers(case("tables/dup_columns.csv"), column="flag")


def test_nineteen_digits_order_rows(write):
    start = 1_704_067_200_000_000_000
    rows = [f"u,{start + 50 * i},{'xy'[i % 3 % 2]},g" for i in range(40)]
    path = write(survey(reversed(rows), "user,time,label,group"))
    fitted = FittedSequences(path=path)
    assert fitted.sequences == [["xy"[i % 3 % 2] for i in range(40)]]
    fitted = FittedSequences(path=case("tables/seq_bigtime.csv"))
    assert (fitted.lengths, fitted.fitted.counts.tolist()) == ((40,), [[8, 11], [12, 8]])


def test_a_label_that_is_never_left_is_told(write):
    path = write("user,time,label\n0,0,1\n0,1,2\n0,2,4\n1,0,2\n1,1,1\n1,2,4\n")
    told = "label 4 is never left: its row of the chain is set to uniform over the other labels"
    assert told in FittedSequences(path=path).notes
    fitted = FittedSequences(path=path, smoothing=0)
    assert fitted.chain.transition[2].tolist() == [0.5, 0.5, 0.0]
    assert told in FittedSequences(path=case("tables/seq_absorbing.csv")).notes


CHECKINS = [
    (1, "v1", "Park", 40.828, -73.958, -300, "Sat May 19 14:38:57 +0000 2012"),
    (1, "v2", "Bar", 40.829, -74.099, -300, "Fri Jun 01 03:30:00 +0000 2012"),
    (1, "v1", "Park", 40.828, -73.958, -300, "Sat Jun 02 14:38:57 +0000 2012"),
    (2, "v2", "Bar", 40.829, -74.099, -240, "Tue Jul 03 15:49:21 +0000 2012"),
]
LOCAL = ["2012-05-19 09:38:57", "2012-05-31 22:30:00", "2012-06-02 09:38:57", "2012-07-03 11:49:21"]
KAGGLE = (
    "userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp"
)
OURS = "user_id,venue_id,category,lat,lon,local_time"


def city(path):
    return CityCheckIns(path=path, group="month", train=0.5).sequence_statistics


def test_forms_of_one_citys_check_ins_are_read_alike(write):
    """With UTC and an offset, with local times as text, milliseconds and stamps of 14 digits."""
    rows = [f"{u},{v},c,{c},{a},{o},{m},{t}" for u, v, c, a, o, m, t in CHECKINS]
    first = city(write(survey(rows, KAGGLE)))
    assert first.groups == ("2012-05", "2012-06", "2012-07")
    assert (first.training + first.query).sum() == 4
    moments = np.array(LOCAL, dtype="datetime64[ms]")
    for texts, told in (
        (LOCAL, None),
        (moments.astype(int), "column 'local_time': numbers read as milliseconds"),
        (["".join(c for c in t if c.isdigit()) for t in LOCAL],
         "column 'local_time': read as 14-digit stamps"),
        ([f"{t}-05:00" for t in LOCAL],
         "column 'local_time': the local clock counts, offsets behind it are cut"),
    ):  # fmt: skip
        both = zip(CHECKINS, texts, strict=True)
        rows = [f"{u},{v},{c},{a},{o},{t}" for (u, v, c, a, o, *_), t in both]
        found = city(write(survey(rows, OURS)))
        assert found.digest == first.digest
        assert told is None or told in found.notes


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("kaggle_header", None),
        ("t_epoch_ms", "column 'local_time': numbers read as milliseconds"),
        ("t_basic14", "column 'local_time': read as 14-digit stamps"),
    ],
)
def test_the_check_ins_of_the_cases(name, told):
    found = city(case(f"checkins/{name}.csv"))
    assert (found.training + found.query).sum() == 1200
    assert found.groups == tuple(f"2012-{month:02}" for month in range(4, 11))
    assert told is None or told in found.notes


NAMES, STATES = {"a": "a", "b": "b"}, ("a", "b")


def test_a_night_of_twenty_five_hours_loses_no_window(tmp_path):
    def stamps(start, count, label):
        moments = np.datetime64(f"2015-10-25T{start}", "ms") + np.arange(count) * 30_000
        return "".join(f"{str(m).replace('T', ' ')},0,0,0,{label}\n" for m in moments)

    text = "time,x,y,z,annotation\n" + stamps("00:30", 180, "a") + stamps("01:00", 180, "b")
    path = tmp_path / "P001.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    pieces, unknown, set_back = sequences_of(path, NAMES, STATES, 30.0)
    assert [(gap, np.bincount(piece).tolist()) for gap, piece in pieces] == [(0, [180, 180])]
    assert (unknown, set_back) == (0, [181])


@pytest.mark.parametrize(("name", "counts", "steps"), [("dst", [180, 180], 1), ("bba", [20], 0)])
def test_the_recordings_of_the_cases(name, counts, steps):
    path = Path(case(f"capture24/P001_{name}.csv.gz"))
    pieces, unknown, set_back = sequences_of(path, NAMES, STATES, 30.0)
    assert [(gap, np.bincount(piece).tolist()) for gap, piece in pieces] == [(0, counts)]
    assert (unknown, len(set_back)) == (0, steps)


@pytest.mark.parametrize(
    "name", ["table_parents", "full_table", "default_row", "states_with_comma_braces"]
)
def test_the_networks_of_the_cases(name):
    from mechanisms.influence.bif import parse_bif

    network = parse_bif(Path(case(f"bif/{name}.bif")).read_text())
    tables = {table.variable: table.table.tolist() for table in network.tables}
    right = {
        "table_parents": ("B", [[0.9, 0.1], [0.2, 0.8]]),
        "full_table": ("light-on", [[0.6, 0.4], [0.05, 0.95]]),
        "default_row": ("B", [[0.2, 0.8], [0.9, 0.1], [0.9, 0.1]]),
        "states_with_comma_braces": ("B", [[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]),
    }
    variable, table = right[name]
    assert np.allclose(tables[variable], table)
    assert len(network.sizes) == 2
    assert name != "states_with_comma_braces" or network.sizes["Age"] == 3


@pytest.mark.parametrize("name", ["table_dup", "case"])
def test_what_stands_twice_in_the_networks_of_the_cases(name):
    from mechanisms.influence.bif import parse_bif

    with pytest.raises(ValueError, match=r"must give each row once|variable A must stand once"):
        parse_bif(Path(case(f"bif/{name}.bif")).read_text())
