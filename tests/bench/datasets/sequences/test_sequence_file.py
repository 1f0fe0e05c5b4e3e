import dataclasses

import numpy as np
import pandas as pd
import pytest

from bench.datasets.sequences.sequence_file import SequenceFile
from bench.datasets.sequences.sequence_statistics import (
    OTHER,
    Entries,
    SequenceStatistics,
    from_entries,
)
from bench.datasets.source import DataError

ROWS = [
    ("u1", "1", "home", "NA"), ("u1", "3", "bar", "NA"), ("u1", "2", "home", "None"),
    ("u2", "1", "bar", "JP"), ("u2", "9", "None", "JP"), ("u2", "10", "bar", "JP"),
]  # fmt: skip
HEADER = ["user", "time", "label", "group"]


def written(tmp_path, rows=ROWS, header=HEADER, name="rows.csv", **how):
    path = tmp_path / name
    pd.DataFrame(rows, columns=header).to_csv(path, index=False, **how)
    return str(path)


def cells(statistics, part):
    counts = getattr(statistics, part)
    return {
        (statistics.groups[g], statistics.states[s]): int(counts[g, s])
        for g, s in np.argwhere(counts)
    }


def test_rows_are_sorted_in_time_and_names_like_na_survive(tmp_path):
    labels = ["home", "bar", "None"]
    found = SequenceFile(path=written(tmp_path), train=0.7, labels=labels).sequence_statistics
    # Times 1 1 2 3 | 9 10: as numbers, not as text.
    assert cells(found, "training") == {
        ("NA", "home"): 1, ("None", "home"): 1, ("NA", "bar"): 1, ("JP", "bar"): 1,
    }  # fmt: skip
    assert cells(found, "query") == {("JP", "None"): 1, ("JP", "bar"): 1}
    home, bar = found.states.index("home"), found.states.index("bar")
    assert found.transitions[home, home] == 1
    assert found.transitions[home, bar] == 1
    assert found.transitions.sum() == 2
    assert found.lengths.tolist() == [2]
    assert found.notes[1] == "1 rows came before an earlier row of their user: sorted by time"


def test_iso_dates_order_rows_too(tmp_path):
    rows = [(u, f"2024-01-{10 + int(t):02}T08:00:00", s, g) for u, t, s, g in ROWS]
    found = SequenceFile(path=written(tmp_path, rows), train=0.7).sequence_statistics
    assert (
        found.digest
        == SequenceFile(path=written(tmp_path, name="b.csv"), train=0.7).sequence_statistics.digest
    )


def test_identical_rows_are_dropped_and_counted(tmp_path):
    found = SequenceFile(path=written(tmp_path, [*ROWS, ROWS[0]]), train=0.7).sequence_statistics
    assert "1 identical rows dropped" in found.notes
    assert found.training.sum() == 4


def test_labels_outside_the_list_become_other(tmp_path):
    file = SequenceFile(path=written(tmp_path), train=0.7, labels=["home", "bar"])
    assert file.sequence_statistics.states == ("home", "bar", OTHER)
    assert cells(file.sequence_statistics, "query")["JP", OTHER] == 1
    told = "1 rows with unknown labels counted as Other, most often 'None'"
    assert told in file.sequence_statistics.notes


def test_a_label_that_only_queried_rows_have_changes_no_name_and_no_chain(tmp_path):
    """A list of labels read off the queried rows prints a new label: certified 6.6 for 1."""
    plain = [("u", t, "ab"[t % 2], "g") for t in range(20)]
    with_new = [*plain[:-1], ("u", 19, "rare", "g")]
    one, other = (
        SequenceFile(path=written(tmp_path, rows, name=f"{i}.csv")).sequence_statistics
        for i, rows in enumerate((plain, with_new))
    )
    assert one.states == other.states == ("a", "b", OTHER)
    assert (one.transitions == other.transitions).all()
    assert (one.training == other.training).all()
    assert other.query.sum(axis=0).tolist() == [2, 1, 1]
    told = "1 rows with labels that the training part lacks counted as Other, most often 'rare'"
    assert told in other.notes


def test_columns_by_any_name_compressed_and_without_group(tmp_path):
    path = written(tmp_path, header=["who", "t = 1", "what/where", "g"], name="rows.csv.gz")
    found = SequenceFile(
        path=path, user="who", time="t = 1", label="what/where", group=None, train=0.7
    ).sequence_statistics
    assert found.groups == ("all",)
    assert found.training.sum() == 4


def test_a_user_with_one_entry_is_told(tmp_path):
    found = SequenceFile(
        path=written(tmp_path, [*ROWS, ("u3", "1", "bar", "JP")])
    ).sequence_statistics
    assert "1 users with one entry: it has no step" in found.notes


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"path": None}, "path must name a CSV, TSV or parquet file, got path=None"),
        ({"path": "nowhere.csv"}, "no file nowhere.csv"),
        ({"label": "place"}, "unknown column 'place'; did you mean label?"),
        ({"train": 1.0}, "train must be in"),
        ({"steps": "some"}, "steps must be 'all' or 'changes', got steps='some'"),
    ],
)
def test_bad_settings_are_refused_in_one_line(tmp_path, settings, message):
    with pytest.raises((DataError, ValueError), match=message) as error:
        SequenceFile(**({"path": written(tmp_path)} | settings)).sequence_statistics  # noqa: B018
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*ROWS, ("u3", "", "bar", "JP"), ("u3", "4", "", "JP")],
         "column 'time' has 1 missing values, the first in data row 7"),
        ([*ROWS, ("u3", "noon", "bar", "JP")],
         r"times must all be numbers or all ISO dates, got 'noon' in data row 7 \(1 such rows\)"),
        (ROWS[:0], "has no rows"),
        ([("u1", "1", "a", "g")] * 3, "training part must hold at least one step"),
        ([("u1", "1", "a", "g"), ("u2", "2", "b", "g"), ("u3", "3", "b", "g")],
         "training part must hold at least one step"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_in_one_line(tmp_path, rows, message):
    with pytest.raises(DataError, match=message) as error:
        SequenceFile(path=written(tmp_path, rows)).sequence_statistics  # noqa: B018
    assert "\n" not in str(error.value)


def test_other_encodings_and_ragged_rows_are_refused(tmp_path):
    (tmp_path / "latin.csv").write_bytes("user,time,label,group\nu,1,Café,g\n".encode("latin-1"))
    with pytest.raises(DataError, match="is not UTF-8: byte 0xe9 in line 2, field 3"):
        SequenceFile(path=str(tmp_path / "latin.csv")).sequence_statistics  # noqa: B018
    (tmp_path / "ragged.csv").write_text("user,time,label,group\nu,1,a,g\nu,2,a,g,h,i\n")
    with pytest.raises(DataError, match="data row 2 has 6 fields, the header has 4"):
        SequenceFile(path=str(tmp_path / "ragged.csv")).sequence_statistics  # noqa: B018


def test_other_separators_and_encodings_are_read_when_they_are_named(tmp_path):
    path = tmp_path / "mine.csv"
    rows = [f"u;{t};{'é' if t % 2 else 'b'};g" for t in range(10)]
    path.write_bytes("\n".join(["user;time;label;group", *rows]).encode("latin-1"))
    found = SequenceFile(path=str(path), separator=";", encoding="latin-1").sequence_statistics
    assert found.states == ("b", "é", OTHER)
    with pytest.raises(
        DataError, match=r"is not UTF-8: byte 0xe9 in line 3, field 3; set its encoding"
    ):
        SequenceFile(path=str(path), separator=";").sequence_statistics  # noqa: B018
    with pytest.raises(DataError, match=r"unknown column 'user'; .*user;time;.*set its separ"):
        SequenceFile(path=str(path), encoding="latin-1").sequence_statistics  # noqa: B018
    with pytest.raises(DataError, match="encoding must be one that Python knows, got 'utf-99'"):
        SequenceFile(path=str(path), separator=";", encoding="utf-99").sequence_statistics  # noqa: B018
    with pytest.raises(DataError, match="the columns must be different ones, got user, time, user"):
        SequenceFile(path=str(path), label="user").sequence_statistics  # noqa: B018


def test_counting_in_parts_equals_counting_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    n = 500
    entries = Entries(
        states=("a", "b", "c"), groups=("g", "h"), sequence=np.sort(rng.integers(0, 20, n)),
        state=rng.integers(0, 3, n), group=rng.integers(0, 2, n),
        training=np.tile(np.repeat([True, False], 5), 50),
    )  # fmt: skip
    for steps in ("all", "changes"):
        at_once = from_entries(entries, steps)
        monkeypatch.setattr("bench.datasets.sequences.sequence_statistics.CHUNK", 7)
        assert from_entries(entries, steps).digest == at_once.digest
        monkeypatch.undo()


def test_hidden_steps_between_pieces_count_for_their_owner(monkeypatch):
    entries = Entries(
        states=("a", "b"), groups=("g",), sequence=np.array([0, 0, 1, 1, 1, 2, 3, 3]),
        state=np.array([0, 1, 1, 1, 0, 0, 1, 0]), group=np.zeros(8, dtype=int),
        training=np.array([False] * 5 + [True] + [False] * 2),
        owner=np.array([0, 0, 0, 0, 0, 1, 2, 2]), hidden=np.array([0, 0, 4, 0, 0, 0, 0, 0]),
    )  # fmt: skip
    with_training = dataclasses.replace(entries, training=~entries.training)
    for chunk in (1_000_000, 2):
        monkeypatch.setattr("bench.datasets.sequences.sequence_statistics.CHUNK", chunk)
        assert from_entries(with_training).lengths.tolist() == [1]
        assert from_entries(with_training).transitions.tolist() == [[0, 1], [2, 1]]
    query = dataclasses.replace(entries, training=np.isin(entries.owner, (1, 2)))
    assert from_entries(query, "all").lengths.tolist() == [9]
    assert from_entries(query, "changes").lengths.tolist() == [8]


def test_statistics_of_the_wrong_shape_are_refused():
    ones = np.ones((2, 2), dtype=np.int64)
    good = {"states": ("a", "b"), "groups": ("g", "h"), "transitions": ones, "training": ones,
            "query": ones, "lengths": np.array([4])}  # fmt: skip
    SequenceStatistics(**good)
    for wrong, message in (
        ({"states": ("a", "a")}, "distinct"),
        ({"query": np.ones((3, 2))}, "got shapes"),
        ({"lengths": np.array([3])}, "query part"),
        ({"transitions": 0 * ones}, "training part"),
    ):
        with pytest.raises(DataError, match=message):
            SequenceStatistics(**(good | wrong))
