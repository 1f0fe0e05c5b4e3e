"""Sequences of real files, in miniature and, where they are there, as they are."""

import pytest

from bench.datasets.activities.home_activities import HomeActivities
from bench.datasets.activities.recorded_activities import CareerRanking, SmartphoneActivities
from bench.datasets.checkins.city_checkins import NEW_YORK, CityCheckIns
from bench.datasets.source import DataAbsentError, DataError
from tests.support.files import holds

real = pytest.mark.skipif(not holds(NEW_YORK), reason="no real files")
TSMC = [
    "470\tv1\tc1\tBar\t40.71\t-74.01\t-240\tTue Apr 03 18:00:06 +0000 2012",
    "470\tv2\tc2\tCafé\t40.75\t-73.99\t-240\tTue Apr 03 19:00:06 +0000 2012",
    "979\tv3\tc3\tSpaceport\t40.75\t-73.99\t-240\tWed Apr 04 01:00:06 +0000 2012",
    "979\tv1\tc1\tBar\t40.71\t-74.01\t-240\tTue May 01 18:25:36 +0000 2012",
    "979\tv1\tc1\tBar\t40.71\t-74.01\t-240\tTue May 01 18:25:36 +0000 2012",
]


def test_the_original_format_of_a_city(tmp_path):
    path = tmp_path / "dataset_TSMC2014_NYC.txt"
    path.write_bytes("".join(f"{line}\n" for line in TSMC).encode("latin-1"))
    months = CityCheckIns(path=str(path), group="month", train=0.75).sequence_statistics
    assert months.groups == ("2012-04", "2012-05")
    assert months.training.sum(axis=1).tolist() == [3, 0]
    assert months.query[1, months.states.index("Bar")] == 1
    assert months.training[0, months.states.index("Cafe")] == 1
    assert "1 identical rows dropped" in months.notes
    assert any("1 rows with unknown labels counted as Other" in n for n in months.notes)
    squares = CityCheckIns(path=str(path), group="square", train=0.75).sequence_statistics
    assert squares.groups == ("40.70 -74.00", "40.70 -74.10")
    path.write_text(f"{TSMC[0]}\nbroken line\n")
    with pytest.raises(DataError, match="data row 2 has 1 fields, the header has 8: nothing for"):
        CityCheckIns(path=str(path)).sequence_statistics  # noqa: B018


def test_tables_without_the_columns_are_refused(tmp_path):
    path = tmp_path / "city.csv"
    path.write_text("user_id,lat\n1,2\n")
    with pytest.raises(DataError, match="must have the columns user_id, venue_id, category"):
        CityCheckIns(path=str(path)).sequence_statistics  # noqa: B018
    path.write_text(
        "user_id,venue_id,category,lat,lon,local_time\n1,2,Bar,north,3,2012-04-03 10:00:00\n"
    )
    with pytest.raises(
        DataError, match=r"column 'lat' must hold finite numbers .*, got 'north' in data row 1"
    ):
        CityCheckIns(path=str(path)).sequence_statistics  # noqa: B018
    with pytest.raises(DataError, match=r"no file nowhere.csv"):
        CityCheckIns(path="nowhere.csv").sequence_statistics  # noqa: B018
    with pytest.raises(ValueError, match="group must be 'month' or 'square', got group='country'"):
        CityCheckIns(group="country")


def test_files_of_people_are_checked(tmp_path):
    with pytest.raises(DataError, match=r"no file .*activity_labels.txt"):
        SmartphoneActivities(folder=str(tmp_path)).sequence_statistics  # noqa: B018
    texts = {"activity_labels": "1 WALKING\n", "y_train": "1\n1\n", "subject_train": "3\n",
             "y_test": "1\n", "subject_test": "4\n"}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    with pytest.raises(DataError, match=r"y_train.txt does not fit subject_train.txt"):
        SmartphoneActivities(folder=str(tmp_path)).sequence_statistics  # noqa: B018
    (tmp_path / "mvad.csv").write_text("id,male\n1,no\n")
    with pytest.raises(DataError, match="is not in its published format"):
        CareerRanking(path=str(tmp_path / "mvad.csv")).sequence_statistics  # noqa: B018


def test_homes_are_split_by_days(tmp_path):
    noon = 12 * 3600
    days = {"A": [(0, 1), (0, 4), (1, 1), (2, 4), (3, 4)], "B": [(5, 4), (5, 1), (6, 1)]}
    for home, rows in days.items():
        lines = [f"{86_400 * d + noon + i}\t60\t{a}\n" for i, (d, a) in enumerate(rows)]
        (tmp_path / f"house{home}.activities").write_text("".join(lines))
    (tmp_path / "houseABC.activity_names").write_text("1\tleave-house\n4\tuse-toilet\n")
    found = HomeActivities(folder=str(tmp_path), homes=["A", "B"]).sequence_statistics
    assert found.states == ("leave-house", "use-toilet")
    assert found.groups == ("home A", "home B")
    assert found.training.tolist() == [[2, 1], [1, 1]]
    assert found.query.tolist() == [[0, 2], [1, 0]]
    assert found.transitions.tolist() == [[0, 1], [2, 0]]
    with pytest.raises(DataError, match=r"no file .*houseC.activities"):
        HomeActivities(folder=str(tmp_path)).sequence_statistics  # noqa: B018
    (tmp_path / "houseA.activities").write_text("5\t60\t9\n")
    with pytest.raises(DataError, match=r"houseA.activities must hold known activities"):
        HomeActivities(folder=str(tmp_path), homes=["A"]).sequence_statistics  # noqa: B018
    (tmp_path / "houseA.activities").write_text("5\t60\n")
    with pytest.raises(DataError, match="lines of start, seconds, activity, between tabs"):
        HomeActivities(folder=str(tmp_path), homes=["A"]).sequence_statistics  # noqa: B018
    with pytest.raises(ValueError, match=r"homes must be of A, B, C or of D, E, got homes=.*'D'"):
        HomeActivities(homes=["A", "D"])


def test_the_seed_chooses_the_queried_careers(tmp_path):
    rows = "".join(f"{i},x,{'ab'[i % 2]},a,{'abc'[i % 3]}\n" for i in range(12))
    (tmp_path / "mvad.csv").write_text(f"id,male,Jul.93,Aug.93,Jun.99\n{rows}")
    digests = {
        CareerRanking(path=str(tmp_path / "mvad.csv"), seed=seed).sequence_statistics.digest
        for seed in range(5)
    }
    assert len(digests) > 1


OPTIONAL = [CityCheckIns, CareerRanking, SmartphoneActivities, HomeActivities]


@pytest.mark.parametrize("source", OPTIONAL)
def test_absent_recordings_differ_from_misspelt_paths(nowhere, source):
    with pytest.raises(DataAbsentError, match="or set BENCH_DATA to the folder that holds"):
        source().sequence_statistics  # noqa: B018
    option = "folder" if "folder" in source.__dataclass_fields__ else "path"
    with pytest.raises(DataError, match=f"give its {option}") as caught:
        source(**{option: str(nowhere / "misspelt")}).sequence_statistics  # noqa: B018
    assert not isinstance(caught.value, DataAbsentError)


@pytest.mark.parametrize("source", OPTIONAL)
def test_steps_are_checked_before_anything_is_read(source):
    with pytest.raises(ValueError, match="steps must be 'all' or 'changes', got steps='bogus'"):
        source(steps="bogus")


@real
def test_new_york():
    statistics = CityCheckIns().sequence_statistics
    assert statistics.training.sum() + statistics.query.sum() == 66_962
    assert statistics.query.sum() == 13_392
    assert statistics.lengths.max() == 800
    assert "11213 rows with unknown labels counted as Other, most often 'Metro Station'" in (
        statistics.notes
    )


@real
def test_activities():
    careers = CareerRanking().sequence_statistics
    assert careers.training.sum() + careers.query.sum() == 712 * 72
    assert careers.groups == ("male=no", "male=yes")
    smartphone = SmartphoneActivities().sequence_statistics
    assert smartphone.training.sum() == 7352
    assert smartphone.query.sum() == 2947
    assert len(smartphone.lengths) == 9
    homes = HomeActivities().sequence_statistics
    assert (homes.training + homes.query).sum(axis=1).tolist() == [259, 112, 234]
    assert HomeActivities(homes=["D", "E"]).sequence_statistics.query.sum() > 0
    with pytest.raises(DataError, match="unknown column 'age'"):
        CareerRanking(group="age").sequence_statistics  # noqa: B018
