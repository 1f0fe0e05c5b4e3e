"""Cells that die, hang or tell nonsense end alone; workers end when the command ends."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from bench.config.build import ConfigError
from bench.core.cell import CellResult
from bench.study.session import Session
from bench.sweep.engine import Processes, Serial
from tests.support.studies import Obedient

ROOT = Path(__file__).parents[3]
DRIVER = """
import sys
from bench.study.session import Session
from bench.sweep.engine import Processes
from tests.support.studies import Obedient
study = Obedient(size=2, acts={{0: "{act}", 1: "{act}"}}, folder=sys.argv[1])
if __name__ == "__main__":
    for cell, result in Processes(workers=2).run(study, study.cells(), Session()):
        print(cell.name, result.status, flush=True)
"""


def results(engine, study):
    return {c.name: r for c, r in engine.run(study, study.cells(), Session())}


def reasons(found):
    return {name: r.facts["reason"] for name, r in found.items() if r.status == "failed"}


def gone(pid, within):
    """Whether a process is gone, at the latest after some seconds."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def pid_in(path, within=60.0):
    deadline = time.monotonic() + within
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(path.read_text())


def test_every_cell_is_yielded_once_by_every_engine():
    study = Obedient(size=7)
    for engine in (Serial(), Processes(workers=1), Processes(workers=2)):
        pairs = list(engine.run(study, study.cells(), Session()))
        assert sorted(c.name for c, _ in pairs) == [f"c{i}" for i in range(7)]
        assert all(r.rows[0]["value"] == int(c.name[1:]) for c, r in pairs)


def test_no_cells_need_no_workers():
    assert results(Processes(), Obedient(size=0)) == {}


@pytest.mark.parametrize(("size", "at", "workers"), [(1, 0, 1), (3, 2, 2)], ids=["only", "last"])
def test_a_cell_that_ends_its_process_fails_alone(size, at, workers):
    found = results(Processes(workers=workers), Obedient(size=size, acts={at: "die"}))
    told = "its process ended 3 times without a result: exit code 9"
    assert reasons(found) == {f"c{at}": told}
    assert len(found) == size


def test_a_cell_whose_process_ended_once_is_run_again(tmp_path):
    study = Obedient(size=3, acts={0: "die_once", 2: "die_once"}, folder=str(tmp_path))
    assert reasons(results(Processes(workers=2), study)) == {}


@pytest.mark.parametrize("engine", [Serial(), Processes(workers=1)])
def test_a_component_that_leaves_python_is_a_failed_cell(engine):
    assert reasons(results(engine, Obedient(size=2, acts={0: "leave"}))) == {"c0": "SystemExit: 3"}


@pytest.mark.parametrize("act", ["hang_in_c", "hang_below"])
def test_a_cell_that_hangs_ends_after_its_time_and_fails_alone(tmp_path, act):
    study = Obedient(size=3, acts={1: act}, folder=str(tmp_path))
    found = results(Processes(workers=1, cell_timeout=3.0), study)
    assert reasons(found) == {"c1": "no result within 3 s (engine.cell_timeout)"}
    assert len(found) == 3
    assert gone(pid_in(tmp_path / "pid1"), within=5)


def test_a_result_that_cannot_be_sent_is_a_failed_cell():
    found = results(Processes(workers=1), Obedient(size=2, acts={0: "tell_a_function"}))
    assert set(reasons(found)) == {"c0"}
    assert "pickle" in reasons(found)["c0"]


def test_workers_that_cannot_start_end_the_command_with_one_line(monkeypatch, capfd):
    module = ModuleType("known_to_this_process_alone")

    @dataclass(frozen=True)
    class Unknown(Obedient):
        pass

    Unknown.__module__, Unknown.__qualname__ = module.__name__, "Unknown"
    module.Unknown = Unknown
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(ChildProcessError, match="workers end before they have started: "):
        results(Processes(workers=2), Unknown(size=2))
    assert "known_to_this_process_alone" in capfd.readouterr().err


def test_a_sweep_that_breaks_off_leaves_no_worker(tmp_path):
    study = Obedient(size=3, acts={1: "hang"}, folder=str(tmp_path))
    running = Processes(workers=1).run(study, study.cells(), Session())
    assert next(running)[0].name == "c0"
    pid = pid_in(tmp_path / "pid1")
    running.close()
    assert gone(pid, within=1)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize(
    ("how", "act"),
    [(signal.SIGKILL, "hang"), (signal.SIGKILL, "hang_in_c"), (signal.SIGINT, "hang")],
)
def test_workers_end_with_the_command_however_it_ends(tmp_path, act, how):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(act=act))
    driver = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    pids = [pid_in(tmp_path / f"pid{i}") for i in range(2)]
    driver.send_signal(how)
    driver.wait(timeout=30)
    assert all(gone(pid, within=10) for pid in pids)


def test_serial_refuses_a_time_limit_and_says_what_to_write():
    with pytest.raises(ConfigError, match=r"write engine=processes engine.workers=1 with it"):
        Serial(cell_timeout=5.0)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "soon", True])
def test_a_time_limit_is_a_positive_number(seconds):
    with pytest.raises((ValueError, TypeError), match="cell_timeout"):
        Processes(cell_timeout=seconds)


class Counting:
    """Counts the results that are alive while a sweep goes on."""

    def __init__(self):
        self.most = 0

    def run(self, study, cells, session):
        for cell, result in Serial().run(study, cells, session):
            alive = sum(isinstance(held, CellResult) for held in gc.get_objects())
            self.most = max(self.most, alive)
            yield cell, result


def test_the_command_holds_no_results(run):
    engine = Counting()
    outcome, _ = run(Obedient(size=25), engine=engine)
    assert outcome.computed == 25
    assert engine.most <= 4
    assert outcome.table["value"].tolist() == list(range(25))


def test_a_resumed_sweep_survives_its_last_cell(run):
    finished, _ = run(Obedient(size=3))
    assert finished.computed == 3
    study = Obedient(size=3, acts={2: "die"})
    outcome, _ = run(study, engine=Processes(workers=1))
    assert outcome.computed == 1
    assert [c.name for c, r in outcome.results if r.status == "failed"] == ["c2"]
