"""One reader stands behind every scenario: nothing else opens a table of a user."""

import ast
from pathlib import Path

import pytest

import bench
from bench.config.build import ConfigError, build
from bench.datasets.source import DataError
from bench.datasets.table.table_file import TableFile

ROOT = Path(bench.__file__).parent
READER = ROOT / "datasets" / "table"
# What parses text or Parquet, or unpacks an archive.
PARSERS = {
    "read_csv", "read_table", "read_fwf", "read_parquet", "read_excel", "read_json", "open_csv",
    "ParquetFile", "loadtxt", "genfromtxt", "DictReader", "csv.reader", "to_datetime",
}  # fmt: skip
# The 33 million rows of one published format have a reader of their own, in bounded memory; files
# of this package are no table of a user.
ELSEWHERE = {
    "datasets/checkins/checkin_stream.py", "datasets/checkins/checkin_times.py",
    "datasets/checkins/foursquare_checkins.py", "datasets/checkins/foursquare_venues.py",
    "datasets/checkins/foursquare.py",
}  # fmt: skip
CLOCKS = {"datasets/checkins/city_checkins.py": {"to_datetime"}}  # one published form of times


def calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            yield from {name, name.rpartition(".")[2]} & PARSERS


def test_no_scenario_and_no_data_set_parses_tables_by_itself():
    found = {}
    for room in ("datasets", "scenarios", "quantities"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if READER in path.parents or name in ELSEWHERE:
                continue
            if used := set(calls(path)) - CLOCKS.get(name, set()):
                found[name] = used
    assert found == {}
    assert any(set(calls(path)) for path in READER.rglob("*.py"))


SCENARIO, CHAINS = "bench.scenarios", "bench.datasets.sequences"
SEQUENCES = {"_target_": f"{SCENARIO}.sequences.Sequences"}
SCENARIOS = {
    "numeric_table": {
        "_target_": f"{SCENARIO}.numeric_table.numeric_table", "path": "PATH", "column": "job",
        "value": "yes", "means": ["age"],
    },
    "numeric_column": {
        "_target_": f"{SCENARIO}.numeric_column.NumericColumn", "path": "PATH", "value": "age",
        "secret": "job", "pairs": [["yes", "no"]],
    },
    "sequences": {"_target_": f"{SCENARIO}.sequences.of_file", "path": "PATH"},
    "chain_count_fitted": {
        "_target_": f"{SCENARIO}.chain_count.ChainCount", "counted": "a",
        "source": {"_target_": f"{CHAINS}.chains.FittedSequences", "path": "PATH"},
    },
    "city_checkins": SEQUENCES | {
        "population": {
            "_target_": "bench.datasets.checkins.city_checkins.CityCheckIns", "path": "PATH",
        },
    },
    "careers": SEQUENCES | {
        "population": {
            "_target_": "bench.datasets.activities.recorded_activities.CareerRanking",
            "path": "PATH",
        },
    },
    "home_activities": SEQUENCES | {
        "population": {
            "_target_": "bench.datasets.activities.home_activities.HomeActivities",
            "folder": "FOLDER", "homes": ["A"],
        },
    },
    "capture24": SEQUENCES | {
        "population": {
            "_target_": "bench.datasets.activities.capture24.Capture24", "folder": "FOLDER",
        },
    },
    "adult_income": {
        "_target_": f"{SCENARIO}.property_subsets.PropertySubsets",
        "data": {"_target_": "bench.datasets.table.adult.Adult", "path": "FOLDER"},
        "statistics_of": [{"_target_": f"{SCENARIO}.statistics.Mean", "column": "age"}],
        "properties": {"income": {
            "_target_": f"{SCENARIO}.statistics.Count", "column": "income", "value": ">50K",
        }},
        "secret": "income", "gap": 0.1,
    },
}  # fmt: skip
FILES = (
    "table.csv", "houseABC.activity_names", "houseA.activities", "metadata.csv", "adult.data",
    "annotation-label-dictionary.csv", "P001.csv", "adult.test",
)  # fmt: skip


def placed(value, folder):
    if isinstance(value, dict):
        return {key: placed(inner, folder) for key, inner in value.items()}
    return {"PATH": str(folder / "table.csv"), "FOLDER": str(folder)}.get(str(value), value)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_scenario_of_a_table_asks_the_one_reader(tmp_path, monkeypatch, name):
    for file in FILES:
        (tmp_path / file).write_text("a,b\n1,2\n")
    asked = []

    def note(self, *_, **__):
        asked.append(self.path)
        raise DataError("asked.")

    monkeypatch.setattr(TableFile, "read", note)
    monkeypatch.setattr(TableFile, "batches", note)
    monkeypatch.setattr(TableFile, "header", property(note))
    with pytest.raises((DataError, ConfigError), match="asked"):
        build(placed(SCENARIOS[name], tmp_path), name).check()
    assert len(asked) == 1
