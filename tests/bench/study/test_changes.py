"""Data or code that change while a sweep runs: an error of the cell, never a result."""

from __future__ import annotations

import shutil

import pytest

from bench.core import code_fingerprint
from bench.core.code_fingerprint import code_version, fingerprint
from bench.datasets.sequences.chains import FittedSequences
from bench.scenarios import chain_count
from bench.store.read_sweep import find_finished
from bench.store.tracking import Store
from bench.study.cross import Cross
from bench.study.curve import Curve
from bench.study.session import Session
from bench.sweep.engine import Processes, Serial
from tests.conftest import experiment

NOISELESS = {"_target_": "mechanisms.noise.identity.Noiseless"}
L1 = {"l1": {"_target_": "bench.metrics.utility.NormError", "norm": 1, "name": "l1"}}
COMPONENT = """
from mechanisms.noise.identity import Noiseless

class Mine(Noiseless):
    \"\"\"{}\"\"\"
"""


def table(path, ages):
    lines = [f"{'yes' if i % 2 else 'no'},{age}" for i, age in enumerate(ages)]
    path.write_text("\n".join(["job,age", *lines]) + "\n")


def study_of(path, **mechanisms):
    scenario = {
        "_target_": "bench.scenarios.numeric_column.NumericColumn", "path": str(path),
        "value": "age", "secret": "job", "pairs": [["yes", "no"]],
    }  # fmt: skip
    sizes = {"n_shadow": 5, "n_holdout": 5, "n_test": 5}
    return Cross(
        scenarios={"people": scenario}, mechanisms=mechanisms or {"none": NOISELESS}, metrics=L1,
        **sizes,
    )  # fmt: skip


@pytest.fixture
def swept(tmp_path, blank_store):
    """Return a function that lists a study's cells, changes something, and runs them."""
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    store = Store(f"sqlite:///{tmp_path}/mlflow.db")

    def sweep(study, engine, change):
        session = Session()
        cells = study.cells(session)
        change()
        outcome = experiment(study, tmp_path).run(engine, store, cells, session, resume=True)
        return outcome, store

    return sweep


def test_a_file_that_is_replaced_makes_no_result_of_the_old_key(swept, tmp_path):
    path = tmp_path / "people.csv"
    table(path, range(20, 40))
    study, engine = study_of(path), Processes(workers=1)
    outcome, store = swept(study, engine, lambda: table(path, range(30, 50)))
    for cell, result in outcome.results:
        assert result.status == "failed"
        assert "the data changed while the sweep ran" in result.facts["reason"]
        assert find_finished(store, outcome.experiment_id, outcome.sweep, [cell.key]) == {}
    table(path, range(20, 40))
    outcome, _ = swept(study, engine, lambda: None)
    assert [result.status for _, result in outcome.results] == ["finished"]


def test_a_file_that_was_read_before_it_was_replaced_counts(swept, tmp_path):
    path = tmp_path / "people.csv"
    table(path, range(20, 40))
    outcome, _ = swept(study_of(path), Serial(), lambda: table(path, range(30, 50)))
    assert outcome.results[0][1].status == "finished"


def test_a_curve_compares_its_data_too(swept, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("user,time,label\n" + "".join(f"u,{i},{'ab'[i // 3 % 2]}\n" for i in range(40)))
    source = {"_target_": "bench.datasets.sequences.chains.FittedSequences", "path": str(path)}
    quantity = {"_target_": "bench.quantities.influence.ChainInfluence", "source": source}
    study = Curve(quantities={"chain": quantity}, x=[1.0, 2.0])

    def change():
        path.write_text(path.read_text() + "u,50,a\nu,51,b\n")

    outcome, _ = swept(study, Processes(workers=1), change)
    assert "the data changed" in outcome.results[0][1].facts["reason"]


@pytest.mark.parametrize("engine", [Serial(), Processes(workers=1)])
def test_code_of_ones_own_that_changes_makes_no_result(swept, tmp_path, engine, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    name = f"own_code_of_{type(engine).__name__.lower()}"
    module = tmp_path / f"{name}.py"
    module.write_text(COMPONENT.format("first"))
    people = tmp_path / "people.csv"
    table(people, range(20, 40))
    study = study_of(people, mine={"_target_": f"{name}.Mine"})
    outcome, _ = swept(study, engine, lambda: module.write_text(COMPONENT.format("the second")))
    ((_, result),) = outcome.results
    assert result.status == "failed"
    assert "the code changed while the sweep ran" in result.facts["reason"]
    outcome, _ = swept(study, engine, lambda: None)
    assert outcome.results[0][1].status == "finished"


def test_code_of_the_packages_that_changes_makes_no_result(swept, tmp_path, monkeypatch):
    fake = tmp_path / "packages" / "bench"
    fake.mkdir(parents=True)
    (fake / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(code_fingerprint, "_roots", lambda: (fake,))
    people = tmp_path / "people.csv"
    table(people, range(20, 40))
    outcome, _ = swept(study_of(people), Serial(), lambda: (fake / "a.py").write_text("x = 23\n"))
    assert "the code changed" in outcome.results[0][1].facts["reason"]


def test_the_fingerprint_is_of_names_and_contents(tmp_path, monkeypatch):
    root = tmp_path / "bench"
    (root / "inner").mkdir(parents=True)
    monkeypatch.setattr(code_fingerprint, "_roots", lambda: (root,))
    (root / "a.py").write_text("x = 1\n")
    first = code_version()
    (root / "inner" / "b.py").write_text("")
    second = code_version()
    (root / "inner" / "b.py").rename(root / "b.py")
    assert len({first, second, code_version()}) == 3
    (root / "b.py").unlink()
    (root / "notes.txt").write_text("no code")
    (root / "a.py").write_text("x = 1\n")  # the same words at another time
    assert code_version() == first


def test_imports_of_ones_own_are_followed_by_name_loaded_or_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "late.py").write_text("from . import later\n")
    (package / "later.py").write_text("X = 1\n")
    (package / "first.py").write_text("class A:\n    def f(self):\n        from .late import X\n")
    spec = {"_target_": "own_package.first.A"}
    before = fingerprint(spec)
    (package / "later.py").write_text("X = 12\n")
    assert fingerprint(spec) != before


def test_sequences_of_other_lengths_or_labels_are_other_data(tmp_path):
    digests = set()
    for users, labels in ((1, "ab"), (2, "ab"), (1, "xy")):
        path = tmp_path / f"{users}{labels}.csv"
        rows = [f"{u},{i},{labels[i // 3 % 2]}\n" for u in range(users) for i in range(40)]
        path.write_text("user,time,label\n" + "".join(rows))
        scenario = chain_count.ChainCount(
            source=FittedSequences(path=str(path)), counted=labels[0], positions="middle"
        )
        digests.add(scenario.digest)
    assert len(digests) == 3
