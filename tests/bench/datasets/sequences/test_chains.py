"""Chains from matrices, from a user's sequences, and from public recordings."""

import inspect

import numpy as np
import pandas as pd
import pytest

from bench.datasets.sequences.chains import FittedSequences, GivenChain
from bench.datasets.sequences.real_chains import (
    Careers,
    DailyActivities,
    HouseholdPower,
)
from bench.datasets.source import DataAbsentError, DataError
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.markov_quilt import exact_scale

ROWS = """user,time,label
b,10,walk
a,2,sit
a,1,walk
b,9,sit
a,10,sit
b,9,NA
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="rows.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_rows_are_ordered_by_time_within_users_ties_in_file_order(written):
    source = FittedSequences(path=written(ROWS))
    assert sorted(source.sequences) == [["sit", "NA", "walk"], ["walk", "sit", "sit"]]
    assert source.states == ("NA", "sit", "walk")  # the text NA is a label, not a missing value
    assert source.lengths == (3, 3)
    assert not source.synthetic
    counts = source.fitted.counts
    assert counts.tolist() == [[0, 0, 1], [1, 1, 0], [0, 1, 0]]


def test_dates_are_ordered_and_columns_have_any_name(written):
    text = "who,when,what,else\nx,2020-01-10,b,1\nx,2020-01-09,a,2\n"
    source = FittedSequences(path=written(text), user="who", time="when", label="what")
    assert source.sequences == [["a", "b"]]


def test_dates_of_different_offsets_are_ordered_as_moments(written):
    text = "user,time,label\nu,2024-01-01T{},{}\n"
    rows = [("10:00+05:00", "a"), ("06:00Z", "b"), ("07:00Z", "a")]  # 05:00, 06:00, 07:00 UTC
    path = written(text.format(*rows[0]) + "".join(f"u,2024-01-01T{t},{s}\n" for t, s in rows[1:]))
    assert FittedSequences(path=path).sequences == [["a", "b", "a"]]


def test_identical_rows_count_once_and_are_told(written):
    source = FittedSequences(path=written(ROWS + "a,1.0,walk\n"))
    assert sorted(source.sequences) == sorted(FittedSequences(path=written(ROWS)).sequences)
    assert "1 identical rows dropped" in source.notes


def test_parquet_files_hold_the_same_sequences(written, tmp_path):
    table = pd.read_csv(written(ROWS), na_filter=False)
    table.to_parquet(tmp_path / "rows.parquet")
    found = FittedSequences(path=str(tmp_path / "rows.parquet"))
    assert found.sequences == FittedSequences(path=written(ROWS)).sequences
    table.loc[2, "label"] = None
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        DataError, match="column 'label' has 1 missing values, the first in data row 3"
    ):
        FittedSequences(path=str(tmp_path / "rows.parquet")).sequences  # noqa: B018


def test_lengths_are_those_of_sequences_and_cannot_be_set():
    assert GivenChain(transition=[[0.5, 0.5], [0.5, 0.5]]).lengths == ()
    assert not {"lengths", "synthetic"} & set(inspect.signature(GivenChain).parameters)


def test_a_fitted_chain_is_smoothed_and_started_from_its_stationary_law(written):
    source = FittedSequences(path=written(ROWS), smoothing=0.01)
    transition = source.chain.transition
    assert transition.sum(axis=1) == pytest.approx(np.ones(3))
    assert transition[0].tolist() == pytest.approx([0.01, 0.01, 0.98])
    assert source.digest != FittedSequences(path=written(ROWS), smoothing=0.02).digest


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (ROWS, {"states_named": ["walk", "sit"]}, "must hold known states only, got 'NA'"),
        (ROWS, {"label": "activity"}, "unknown column 'activity'; there are: label, time, user"),
        ("user,time,label\n", {}, "has no rows"),
        (
            "user,time,label\na,1,\n",
            {},
            "column 'label' has 1 missing values, the first in data row 1",
        ),
        ("user,time,label\na,1,x\na,noon,y\n", {}, "must all be numbers or all ISO dates"),
        ("user,time,label\na,1,x\nb,1,y\n", {}, "at least one transition"),
        ("", {}, "is empty: no header, no rows"),
        ('user,time,label\na,1,"x\n', {}, "a quote opens before line 2 and does not close"),
        (
            ROWS,
            {"states_named": ["NA", "NA", "sit", "walk"]},
            "states_named must be distinct, got NA, NA",
        ),
        (ROWS, {"smoothing": 1.0}, "smoothing must be in"),
    ],
)
def test_bad_files_are_refused_in_one_line(written, text, settings, message):
    with pytest.raises(ValueError, match=message) as caught:
        FittedSequences(path=written(text), **settings).chain  # noqa: B018
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(DataError, match=r"no file .*nowhere"):
        FittedSequences(path=str(tmp_path / "nowhere.csv")).chain  # noqa: B018


def test_given_chains_name_their_states():
    matrix = [[0.5, 0.5], [0.5, 0.5]]
    assert GivenChain(transition=matrix).states == ("0", "1")
    assert GivenChain(transition=matrix, states_named=["a", "b"]).states == ("a", "b")
    with pytest.raises(ValueError, match="states_named must name 2 states"):
        GivenChain(transition=matrix, states_named=["a"]).states  # noqa: B018
    one, other = (GivenChain(transition=matrix, initial=i) for i in ("stationary", "free"))
    assert one.digest != other.digest


def test_power_readings_are_cut_into_states_and_broken_at_missing_minutes(written):
    path = written("1\t4.216\r\n2\t0.1\r\n3\t0\r\n4\t0\r\n5\t0.39\r\n6\t0.41\r\n", "power.tsv")
    source = HouseholdPower(path=path)
    assert source.sequences == [[21, 0], [1, 2]]
    assert HouseholdPower(path=path, minutes=4).sequences == [[21, 1]]


def test_careers_and_activities_are_read_in_their_published_formats(written):
    path = written('"id","Jul.93","Aug.93","Jun.99","x"\n1,"a","b","b","z"\n', "mvad.csv")
    assert Careers(path=path).sequences == [["a", "b", "b"]]
    path = written("100\t5\t6\n200\t5\t10\n300\t1\t6\n", "houseA.activities")
    assert DailyActivities(path=path).sequences == [[6, 10, 6]]
    with pytest.raises(ValueError, match="house must be 'A', "):
        DailyActivities(house="Z")


def test_absent_recordings_differ_from_misspelt_paths(monkeypatch, tmp_path):
    monkeypatch.delenv("BENCH_DATA", raising=False)
    with pytest.raises(DataAbsentError, match="give its path"):
        Careers().chain  # noqa: B018
    with pytest.raises(DataError) as caught:
        Careers(path=str(tmp_path / "misspelt.csv")).chain  # noqa: B018
    assert not isinstance(caught.value, DataAbsentError)


@pytest.mark.parametrize(
    ("source", "text"),
    [(HouseholdPower, "1\t2\t3\n"), (HouseholdPower, "1\tx\n"), (Careers, "id,a\n1,2\n"),
     (DailyActivities, "100\t5\n"), (DailyActivities, "100\t5\tsleep\n"),
     (DailyActivities, "100\t5\t1\n90\t5\t2\n")],
)  # fmt: skip
def test_files_in_another_format_are_refused_in_one_line(written, source, text):
    with pytest.raises(DataError, match="not in its published format") as caught:
        source(path=written(text, "other")).chain  # noqa: B018
    assert "\n" not in str(caught.value)


def recorded(source):
    try:
        source.sequences  # noqa: B018
    except DataAbsentError as reason:
        pytest.skip(str(reason))
    return source


def test_daily_activities_allow_far_less_noise_than_group_privacy():
    source = recorded(DailyActivities())
    assert (len(source.states), source.lengths) == (8, (259,))
    assert exact_scale([source.chain], 259, 1.0) == pytest.approx(12.8868, abs=1e-3)
    # The curve's Laplace mechanism needs less: scale 12.1, not the quilt's number.
    assert 1 / chain_curve(source.chain, 259).budget(1.0).total == pytest.approx(12.1, abs=0.05)


def test_careers_leave_group_privacy_only_at_small_epsilon():
    source = recorded(Careers())
    assert (len(source.states), source.lengths) == (6, (72,) * 712)
    assert chain_curve(source.chain, 72).at(10) > 12
    assert exact_scale([source.chain], 72, 1.0) == pytest.approx(72)


def test_household_power_has_the_states_of_its_cut():
    source = recorded(HouseholdPower(width=1.0, minutes=15))
    assert (len(source.states), len(source.lengths), max(source.lengths)) == (10, 3, 1687)
    assert exact_scale([source.chain], 1687, 1.0) == pytest.approx(1687)
