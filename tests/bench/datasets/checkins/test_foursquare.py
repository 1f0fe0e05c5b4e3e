import gzip
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.checkins import checkin_stream
from bench.datasets.checkins.checkin_labels import common_labels, fold, merged_labels
from bench.datasets.checkins.foursquare import CHECKINS, CITIES, POIS, Foursquare, read_folder
from bench.datasets.checkins.foursquare_checkins import CheckIns, by_user, repeats
from bench.datasets.checkins.foursquare_venues import CITY_COLUMNS, CITY_PATTERNS
from bench.datasets.sequences.sequence_statistics import OTHER
from bench.datasets.source import DataError
from tests.support.synthetic_files import write_files

A, B, C, D, N = ("a" * 24, "b" * 24, "c" * 24, "d" * 24, "e" * 24)
VENUES = [
    (A, "Café", "JP"), (B, "Cocktail Bar", "JP"), (C, "Dentist's Office", "NA"),
    (D, "Spaceport", "NA"), (N, "Bar", "AQ"),
]  # fmt: skip
CITY_ROWS = [("Tokyo", "JP", "Japan"), ("Windhoek", "NA", "Namibia")]


def stamp(day, clock="12:00:00"):
    """The 1 + day-th of April 2012, UTC."""
    return f"Tue Apr {1 + day:02} {clock} +0000 2012"


def folder_of(tmp_path, rows, *, venues=VENUES, name=CHECKINS):
    lines = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / name).write_text(lines, encoding="utf-8")
    pois = [f"{v}\t35.5\t-13.25\t{c}\t{k}\n".encode("latin-1") for v, c, k in venues]
    (tmp_path / POIS).write_bytes(b"".join(pois))
    cities = [f"{c}\t35.5\t139\t{k}\t{n}\tNational capital\n" for c, k, n in CITY_ROWS]
    (tmp_path / CITIES).write_text("".join(cities))
    return tmp_path


def statistics(tmp_path, rows, **settings):
    settings = {"training_days": 2, "days": 4} | settings
    return Foursquare(folder=str(folder_of(tmp_path, rows)), **settings).sequence_statistics


def count(statistics, part, group, label):
    return getattr(statistics, part)[statistics.groups.index(group), statistics.states.index(label)]


BASIC = [
    (7, A, stamp(0), 0), (7, B, stamp(1), 0), (7, B, stamp(2), 0), (9, C, stamp(0), 0),
    (9, C, stamp(1), 0), (9, A, stamp(3), 0), (9, A, stamp(9), 0),
]  # fmt: skip


def test_labels_are_the_78_of_the_paper():
    labels = common_labels()
    assert len(labels) == len(set(labels)) == 78
    assert labels[0] == "Nightclub"
    assert labels[-1] == OTHER
    assert merged_labels()[fold("Hostel")] == "Hotel"
    assert merged_labels()[fold("Smoke Shop")] == OTHER
    assert merged_labels()["women's store"] == "Women’s Store"
    assert len(merged_labels()) == 429


def test_counts_transitions_and_lengths_by_hand(tmp_path):
    found = statistics(tmp_path, BASIC)
    assert found.groups == ("JP", "NA")  # Namibia survives
    assert count(found, "training", "JP", "Cafe") == 1  # a stray latin-1 byte
    assert count(found, "training", "JP", "Bar") == 1
    assert count(found, "query", "JP", "Bar") == 1
    assert count(found, "query", "JP", "Cafe") == 1
    assert count(found, "training", "NA", "Dentist’s Office") == 2
    assert found.training.sum() == 4
    assert found.query.sum() == 2
    assert sorted(found.lengths) == [1, 1]
    steps = {
        (found.states[i], found.states[j]): int(found.transitions[i, j])
        for i, j in np.argwhere(found.transitions)
    }
    assert steps == {("Cafe", "Bar"): 1, ("Dentist’s Office", "Dentist’s Office"): 1}
    assert "1 check-ins after day 4 dropped" in found.notes


def test_changes_only_drop_repeated_labels(tmp_path):
    rows = [(7, v, stamp(0, f"1{i}:00:00"), 0) for i, v in enumerate([A, A, B, B, A])]
    rows += [(7, A, stamp(3, "10:00:00"), 0), (7, A, stamp(3, "11:00:00"), 0)]
    found = statistics(tmp_path, rows, steps="changes")
    assert found.training.sum() == 3
    assert found.transitions.sum() == 2
    assert found.lengths.tolist() == [1]


def test_order_is_local_time_and_day_one_the_first_local_day(tmp_path):
    rows = [
        # 23:30 UTC on day 0 is 08:30 on day 1 in Japan; then a flight west: later in UTC,
        # earlier in local time.
        (7, A, stamp(0, "23:30:00"), 540),
        (7, B, stamp(1, "01:00:00"), -300),
        (8, C, stamp(3), 0),
    ]
    found = statistics(tmp_path, rows)
    bar, cafe = found.states.index("Bar"), found.states.index("Cafe")
    assert found.transitions[bar, cafe] == 1
    assert found.transitions.sum() == 1
    assert any("1 check-ins before an earlier one in local time" in n for n in found.notes)
    # The first local day is that of the check-in in the west (day 0), so day 3 is queried.
    assert count(found, "query", "NA", "Dentist’s Office") == 1


def test_unsorted_rows_give_the_same_counts(tmp_path):
    ordered = statistics(tmp_path, BASIC)
    shuffled = tmp_path / "shuffled"
    shuffled.mkdir()
    other = statistics(shuffled, [BASIC[i] for i in (2, 6, 0, 4, 1, 5, 3)])
    assert ordered.digest == other.digest
    assert any("sorted" in note for note in other.notes)


def test_identical_rows_count_once_and_repeat_visits_each_time(tmp_path):
    found = statistics(tmp_path, [*BASIC, BASIC[0], BASIC[3], (7, A, stamp(0, "12:00:01"), 0)])
    assert "2 identical check-ins dropped" in found.notes
    assert count(found, "training", "JP", "Cafe") == 2


def test_rows_of_one_local_time_are_told_apart(tmp_path):
    at_once = [(7, v, stamp(0, "11:00:00"), 0) for v in (A, B, A, B, A)]
    found = statistics(tmp_path, [*at_once, *BASIC])
    assert "3 identical check-ins dropped" in found.notes
    # The same clock in another zone is another hour.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    rows = [(7, A, stamp(0, "10:00:00"), 0), (7, A, stamp(0, "09:00:00"), 60)]
    found = statistics(elsewhere, [*rows, *BASIC])
    assert not any("identical" in note for note in found.notes)
    assert count(found, "training", "JP", "Cafe") == 3


@given(rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.integers(0, 1)), max_size=40))
def test_repeats_are_those_of_a_set(rows):
    rows = sorted(rows, key=lambda row: row[:2])
    seen, expected = set(), []
    for row in rows:
        expected.append(row in seen)
        seen.add(row)
    user, time, venue, offset = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    found = repeats(CheckIns(user=user, venue=venue, offset=offset, time=time))
    assert found.tolist() == expected


def test_unknown_labels_venues_and_countries_are_counted(tmp_path):
    strange = [(7, D, stamp(0, "13:00:00"), 0), (7, N, stamp(0), 0), (7, "f" * 24, stamp(0), 0)]
    found = statistics(tmp_path, [*BASIC, *strange])
    assert count(found, "training", "NA", OTHER) == 1
    told = "; ".join(found.notes)
    assert "1 unknown venue categories counted as Other, such as 'Spaceport'" in told
    assert "1 check-ins of unknown categories counted as Other" in told
    assert "1 check-ins at unlisted venues dropped" in told
    assert "1 check-ins in countries without a city dropped" in told


def test_a_user_with_one_check_in_counts_without_a_step(tmp_path):
    found = statistics(tmp_path, [*BASIC, (11, A, stamp(3), 0)])
    assert count(found, "query", "JP", "Cafe") == 2
    assert "1 users with one check-in, which has no step" in found.notes


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((7, A, stamp(0)), r"2 malformed rows, the first is line 2 \(3 of 4 fields\): '7\\ta"),
        ((7, A, stamp(0), "x"), r"2 malformed rows, the first is line 2 \(4 of 4 fields\)"),
        (("u7", A, stamp(0), 0), "2 malformed rows, the first is line 2"),
        ((7, "aa", stamp(0), 0), "2 malformed rows, the first is line 2"),
        ((7, A, "Tue Xyz 01 12:00:00 +0000 2012", 0), "2 malformed rows, the first is line 2"),
        ((7, A, "Tue Apr 01 25:00:00 +0000 2012", 0), "2 malformed rows, the first is line 2"),
        ((7, A, "2012-04-01T12:00:00", 0), "2 malformed rows, the first is line 2"),
        ((7, A, "Mon Apr 31 12:00:00 +0000 2012", 0), "2 malformed rows, the first is line 2"),
        ((7, A, "Fri Feb 29 12:00:00 +0000 2013", 0), "2 malformed rows, the first is line 2"),
        ((-7, A, stamp(0), 0), "2 malformed rows, the first is line 2"),
        ((1_000_000_000, A, stamp(0), 0), "2 malformed rows, the first is line 2"),
        ((2**31, A, stamp(0), 0), "2 malformed rows, the first is line 2"),
        ((7, A, stamp(0), 1441), "2 malformed rows, the first is line 2"),
        ((7, A, stamp(0), -1441), "2 malformed rows, the first is line 2"),
        ((7, A, stamp(0), 2**31), "2 malformed rows, the first is line 2"),
        ((7, "x" * 10_000, stamp(0), 0), "2 malformed rows, the first is line 2"),
        (("",), r"2 malformed rows, the first is line 2 \(1 of 4 fields\)"),
    ],
)
def test_malformed_rows_are_counted_and_the_first_is_shown(tmp_path, row, message):
    with pytest.raises(DataError, match=message) as error:
        statistics(tmp_path, [BASIC[0], row, *BASIC[1:], row])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "line",
    ["12345678\t{v}\t{t}\t60\n", "7\t{v}\t{t}\t60\r\n", "7\t{v}\t{t}\t60",
     "7\t{v}\t{t}\t-00000060\n", "007\t{V}\t{t}\t60\n"],
)  # fmt: skip
def test_other_widths_and_line_ends_are_read(tmp_path, line):
    folder = folder_of(tmp_path, BASIC, venues=[*VENUES, ("A" * 24, "Bar", "JP")])
    with (folder / CHECKINS).open("a", newline="") as file:
        file.write(line.format(v=A, V="A" * 24, t=stamp(0)))
    found = Foursquare(folder=str(folder), training_days=2, days=4).sequence_statistics
    assert found.training.sum() == 5
    assert "8 check-ins read" in found.notes


def test_files_that_are_not_there_or_no_text_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"no file .*Cities.txt: give its folder"):
        Foursquare(folder=str(tmp_path)).sequence_statistics  # noqa: B018
    folder_of(tmp_path, BASIC)
    (tmp_path / CHECKINS).write_text("7\t", encoding="utf-16")
    with pytest.raises(DataError, match="must be UTF-8 or latin-1, got UTF-16 or a binary file"):
        Foursquare(folder=str(tmp_path)).sequence_statistics  # noqa: B018
    (tmp_path / CHECKINS).write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        _ = Foursquare(folder=str(tmp_path)).sequence_statistics
    twice = folder_of(tmp_path, BASIC, venues=[*VENUES, VENUES[0]])
    with pytest.raises(DataError, match="1 venues twice"):
        _ = Foursquare(folder=str(twice)).sequence_statistics


def test_parts_without_entries_or_steps_are_refused(tmp_path):
    with pytest.raises(DataError, match="query part must hold at least one entry"):
        statistics(tmp_path, BASIC[:2])
    later = tmp_path / "later"
    later.mkdir()
    with pytest.raises(DataError, match="training part must hold at least one step"):
        statistics(later, [BASIC[0], BASIC[2]])
    with pytest.raises(ValueError, match="training_days must be below days=4, got 4"):
        Foursquare(training_days=4, days=4)


def test_without_files_the_population_is_synthetic_and_says_so(monkeypatch, tmp_path, nowhere):
    stand_in = Foursquare()
    assert stand_in.synthetic
    assert "SYNTHETIC" in stand_in.sequence_statistics.notes[0]
    folder_of(tmp_path, BASIC)
    monkeypatch.setenv("BENCH_DATA", str(tmp_path))
    assert not Foursquare().synthetic


def test_the_stand_in_heeds_steps_and_tells_what_it_does_not(nowhere):
    default = Foursquare().sequence_statistics
    changes = Foursquare(steps="changes").sequence_statistics
    repeats = int(np.trace(default.transitions))
    assert (
        changes.transitions == default.transitions - np.diag(default.transitions.diagonal())
    ).all()
    assert changes.training.sum() == default.training.sum() - repeats
    assert changes.query.sum() < default.query.sum()
    assert not any("no effect" in note for note in default.notes + changes.notes)
    other = Foursquare(training_days=10, days=20).sequence_statistics
    assert other.notes[-2:] == (
        "training_days=10 has no effect on the SYNTHETIC population",
        "days=20 has no effect on the SYNTHETIC population",
    )
    with pytest.raises(ValueError, match="steps must be 'all' or 'changes', got steps='bogus'"):
        Foursquare(steps="bogus")


def test_ordering_is_that_of_a_stable_sort():
    rng = np.random.default_rng(0)
    user = rng.integers(0, 50, 2000).astype(np.int32)
    time = rng.integers(0, 30, 2000).astype(np.int32)
    order, late = by_user(user, time)
    assert (order == np.lexsort((np.arange(2000), time, user))).all()
    highest: dict[int, int] = {}
    expected = 0
    for own, moment in zip(user.tolist(), time.tolist(), strict=True):
        expected += moment < highest.get(own, 0)
        highest[own] = max(moment, highest.get(own, 0))
    assert late == expected > 0


def counted_by_hand(rows, query, end):
    """Training and query counts by venue, transitions and lengths of rows that are all listed."""
    label = {A: "Cafe", B: "Bar", C: "Dentist’s Office", D: OTHER}
    users, total = {}, {"training": Counter(), "query": Counter(), "steps": Counter()}
    for row in dict.fromkeys(rows):
        user, venue, time, offset = row
        moment = datetime.strptime(time, "%a %b %d %H:%M:%S +0000 %Y") + timedelta(minutes=offset)
        users.setdefault(user, []).append((moment, venue))
    start = min(moment for visits in users.values() for moment, _ in visits)
    start = start.replace(hour=0, minute=0, second=0)
    lengths = []
    for visits in users.values():
        visits = sorted(visits, key=lambda visit: visit[0])
        day = [(moment - start).days for moment, _ in visits]
        names = [label[venue] for _, venue in visits]
        past = sum(d < query for d in day)
        due = sum(d < end for d in day)
        total["training"].update(names[:past])
        total["query"].update(names[past:due])
        total["steps"].update(pairwise(names[:past]))
        lengths += [due - past] if due > past else []
    return total, sorted(lengths)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.builds(
            lambda user, venue, day, minute, offset: (
                user, venue, stamp(day, f"12:{minute:02}:00"), 10 * offset
            ),
            st.sampled_from([7, 9, 12_345_678]), st.sampled_from([A, B, C, D]),
            st.integers(0, 5), st.sampled_from([0, 10, 20]), st.integers(-2, 2),
        ),
        max_size=40,
    )
)  # fmt: skip
def test_counts_are_those_of_plain_python_whatever_the_order(tmp_path_factory, rows):
    rows = [*BASIC[:4], *rows]
    found = statistics(tmp_path_factory.mktemp("rows"), rows)
    total, lengths = counted_by_hand(rows, 2, 4)
    for part in ("training", "query"):
        by_label = dict(zip(found.states, getattr(found, part).sum(axis=0).tolist(), strict=True))
        assert +Counter(by_label) == total[part]
    steps = {
        (found.states[i], found.states[j]): int(found.transitions[i, j])
        for i, j in np.argwhere(found.transitions)
    }
    assert steps == total["steps"]
    assert sorted(found.lengths) == lengths


def test_files_read_in_small_blocks_are_read_the_same(tmp_path, monkeypatch):
    write_files(tmp_path, 10_000, seed=1)
    at_once = Foursquare(folder=str(tmp_path)).sequence_statistics
    monkeypatch.setattr(checkin_stream, "BLOCK", 12_345)
    read_folder.cache_clear()
    in_parts = Foursquare(folder=str(tmp_path)).sequence_statistics
    assert in_parts is not at_once
    assert (in_parts.digest, in_parts.notes) == (at_once.digest, at_once.notes)


def test_generated_files_are_read_back(tmp_path):
    write_files(tmp_path, 20_000, seed=3)
    found = Foursquare(folder=str(tmp_path)).sequence_statistics
    assert len(found.groups) == 77
    assert "NA" in found.groups
    total = found.training.sum() + found.query.sum()
    assert 0.15 < found.query.sum() / total < 0.25
    read = int(found.notes[0].split()[0])
    assert 10_000 < total <= read
    again = tmp_path / "again"
    write_files(again, 20_000, seed=3)
    assert (again / CHECKINS).read_bytes() == (tmp_path / CHECKINS).read_bytes()


def test_compressed_city_files_are_read(tmp_path):
    folder_of(tmp_path, BASIC)
    packed = tmp_path / "cities.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / CITIES).read_bytes()))
    rows = [
        b.num_rows for b in checkin_stream.blocks(packed, CITY_COLUMNS, CITY_PATTERNS, ["country"])
    ]
    assert sum(rows) == 2
