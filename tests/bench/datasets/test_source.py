"""Optional data: a named path, then the folder named by BENCH_DATA."""

import dataclasses
import gzip
import importlib
import inspect
import pkgutil

import pytest

import bench.datasets
from bench.datasets.activities.recorded_activities import CareerRanking
from bench.datasets.sequences.real_chains import Careers
from bench.datasets.source import DataAbsentError, DataError, folder_with, locate

MVAD = "har_labels/traminer/mvad.csv.gz"


def put(root, name, text="x"):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def named(tmp_path, monkeypatch, nowhere):
    folder = tmp_path / "named"
    folder.mkdir()
    monkeypatch.setenv("BENCH_DATA", str(folder))
    return folder


def test_a_file_is_looked_for_in_one_order(tmp_path, named):
    in_variable = put(named, "a/rows.csv")
    assert locate("a/rows.csv", None) == in_variable
    own = put(tmp_path, "own.csv")
    assert locate("a/rows.csv", str(own)) == own


def test_a_folder_must_hold_all_of_its_files(named):
    put(named, "a/x.txt")
    with pytest.raises(DataAbsentError, match=r"no file .*named/a/y.txt"):
        locate("a", None, "x.txt", "y.txt")
    put(named, "a/y.txt")
    assert locate("a", None, "x.txt", "y.txt") == named / "a"


def test_absent_files_say_what_to_set_and_misspelt_ones_what_was_named(nowhere):
    with pytest.raises(DataAbsentError) as caught:
        locate("a/rows.csv", None)
    assert str(caught.value) == (
        "no file a/rows.csv: give its path, or set BENCH_DATA to the folder that holds a/rows.csv."
    )
    with pytest.raises(DataError, match=r"no file rows.csv: give its path\.$") as caught:
        locate("a/rows.csv", "rows.csv")
    assert not isinstance(caught.value, DataAbsentError)


def test_the_variable_must_name_a_folder(monkeypatch, nowhere):
    monkeypatch.setenv("BENCH_DATA", str(nowhere / "no"))
    for look in (lambda: locate("a", None), lambda: folder_with("x.txt", None, "a")):
        with pytest.raises(DataError, match=r"BENCH_DATA=.*no is not a folder"):
            look()


def test_data_with_a_stand_in_may_also_lie_in_the_folder_itself(named, monkeypatch):
    assert folder_with("x.txt", None, "a") is None
    put(named, "a/x.txt")
    assert folder_with("x.txt", None, "a") == str(named / "a")
    put(named, "x.txt")
    assert folder_with("x.txt", None, "a") == str(named)
    assert folder_with("x.txt", "mine", "a") == "mine"
    monkeypatch.delenv("BENCH_DATA")
    assert folder_with("x.txt", None, "a") is None


def test_both_uses_of_a_recording_find_it_by_the_variable(named):
    rows = "id,male,Jul.93,Aug.93,Jun.99\n1,yes,a,b,b\n2,no,a,a,b\n"
    put(named, MVAD).write_bytes(gzip.compress(rows.encode()))
    assert Careers().sequences == [["a", "b", "b"], ["a", "a", "b"]]
    assert CareerRanking().sequence_statistics.groups == ("male=no", "male=yes")


def dataset_classes():
    modules = pkgutil.walk_packages(bench.datasets.__path__, "bench.datasets.")
    for module in map(importlib.import_module, (found.name for found in modules)):
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__module__ == module.__name__:
                yield kind


SAYS = [kind for kind in dataset_classes() if dataclasses.is_dataclass(kind)]


@pytest.mark.parametrize("kind", SAYS, ids=lambda kind: kind.__name__)
def test_nobody_can_say_that_made_up_data_are_real(kind):
    assert "synthetic" not in inspect.signature(kind).parameters
