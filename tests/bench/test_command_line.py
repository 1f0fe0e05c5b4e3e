"""The command as a user types it: lists, runs, interruptions, concurrency, bad input."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from bench.__main__ import import_from_own_folders, truthful_title
from tests.support.command import ROOT, bench, one_line, start

SMALL = [
    "+experiment=quickstart", "n_shadow=30", "n_holdout=30", "n_test=30",
    "scenario.model_subsets=50", "mechanism=[noiseless,directional_gaussian]",
]  # fmt: skip
SLOW = "+mechanisms.slow={_target_:tests.support.components.Slow,seconds:0.4}"
MANY = "grid.epsilon=[0.5,1.0,1.5,2.0,2.5,3.0]"


def recorded(folder):
    """Return (cell keys of finished runs, number of runs still RUNNING)."""
    with sqlite3.connect(folder / "mlflow.db") as base:
        keys = base.execute(
            "select value from tags join runs using (run_uuid) "
            "where key = 'cell_key' and status = 'FINISHED'"
        ).fetchall()
        (running,) = base.execute("select count(*) from runs where status = 'RUNNING'").fetchone()
    return sorted(k for (k,) in keys), running


def table(folder):
    with (folder / "outputs" / "quickstart" / "table.csv").open() as file:
        return list(csv.reader(file))


def wait_for_cells(folder, count, process):
    deadline = time.monotonic() + 120
    while len(recorded(folder)[0]) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_without_an_experiment_the_command_lists_them(tmp_path):
    code, out, _ = bench(tmp_path)
    assert code == 0
    assert "quickstart" in out
    assert "property_inference" in out
    assert list(tmp_path.iterdir()) == []


def test_components_are_listed_with_one_line_each(tmp_path):
    code, out, _ = bench(tmp_path, "list=mechanisms")
    assert code == 0
    names = {path.stem for path in (ROOT / "conf" / "mechanism").glob("*.yaml")}
    assert names == {line.split()[0] for line in out.splitlines()[1:-1]}


def test_the_title_tells_the_truth_about_another_scenario():
    settings = {"name": "quickstart", "title": "UCI Adult"}
    assert truthful_title(settings, ["+experiment=quickstart", "seed=1"]) == "UCI Adult"
    changed = truthful_title(settings, ["scenario=numeric_table", "scenario.path=x.csv"])
    assert changed == "quickstart with scenario=numeric_table scenario.path=x.csv"


def test_a_dry_run_lists_the_cells_and_records_nothing(folder):
    code, out, _ = bench(folder, *SMALL, "dry_run=true")
    assert code == 0
    assert "directional-gaussian eps=0.5 delta=0.001" in out
    assert "3 cells" in out
    assert recorded(folder) == ([], 0)


def test_a_metric_to_show_that_is_not_recorded_is_told(folder):
    code, out, _ = bench(folder, *SMALL, "grid.epsilon=[2.0]", "show=[acc,acuracy]")
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("show:"))
    assert line.startswith("show: unknown metric 'acuracy'; did you mean auc or acc? There are:")


def test_figures_are_redrawn_from_the_store_alone_byte_for_byte(folder):
    code, out, error = bench(folder, *SMALL)
    assert code == 0, error
    assert "certified" in out
    assert "mlflow ui" in out
    drawn = {p.name: p.read_bytes() for p in (folder / "outputs/quickstart").iterdir()}
    assert {"table.csv", "accuracy_against_epsilon.pdf"} <= set(drawn)
    for _ in range(2):
        shutil.rmtree(folder / "outputs")
        shutil.rmtree(folder / "mlruns", ignore_errors=True)
        code, _, error = bench(folder, "experiment=quickstart", module="bench.figures")
        assert code == 0, error
        again = {p.name: p.read_bytes() for p in (folder / "outputs/quickstart").iterdir()}
        assert again == drawn
    code, out, error = bench(
        folder, "experiment=quickstart", "sort=acc", "format=csv", module="bench.leaderboard"
    )
    assert code == 0, error
    lines = list(csv.DictReader(out.splitlines()))
    assert {line["mechanism"] for line in lines} == {"noiseless", "directional_gaussian"}
    assert all(line["verdict"] in ("not refuted", "no claim", "model misfit") for line in lines)


def test_a_killed_sweep_goes_on_where_it_stopped_and_ends_with_the_same_table(folder, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    arguments = [*SMALL, MANY, SLOW]
    assert bench(undisturbed, *arguments)[0] == 0
    process = start(folder, *arguments)
    wait_for_cells(folder, 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept, _ = recorded(folder)
    code, _, error = bench(folder, *arguments)
    assert code == 0, error
    keys, running = recorded(folder)
    assert len(keys) == len(set(keys)) == 13
    assert set(kept) < set(keys)
    assert running == 0
    assert f"{len(kept)} of 13 cells are recorded already" in error
    assert table(folder) == table(undisturbed)


def test_ctrl_c_leaves_no_run_running_and_the_same_command_goes_on(folder):
    arguments = [*SMALL, MANY, SLOW]
    process = start(folder, *arguments)
    wait_for_cells(folder, 2, process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error
    kept, running = recorded(folder)
    assert running == 0
    assert bench(folder, *arguments)[0] == 0
    keys, running = recorded(folder)
    assert (len(keys), len(set(keys)), running) == (13, 13, 0)
    assert set(kept) <= set(keys)


def test_a_killed_worker_loses_and_doubles_no_cell(folder):
    process = start(folder, *SMALL, MANY, SLOW, "engine=processes", "engine.workers=2")
    wait_for_cells(folder, 2, process)
    children = workers_of(process.pid)
    assert children
    os.kill(children[0], signal.SIGKILL)
    _, error = process.communicate(timeout=240)
    assert process.returncode == 0, error
    keys, running = recorded(folder)
    assert (len(keys), len(set(keys)), running) == (13, 13, 0)


def workers_of(pid):
    """Return the workers below a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            line = (entry / "cmdline").read_bytes()
        except (OSError, IndexError, ValueError):
            continue
        if parent == pid and b"spawn_main" in line:
            found.append(int(entry.name))
    return found


def test_eight_sweeps_at_once_on_a_fresh_store_lose_nothing(tmp_path):
    processes = [start(tmp_path, *SMALL, f"output=out{i}") for i in range(8)]
    for process in processes:
        _, error = process.communicate(timeout=400)
        assert process.returncode == 0, error
    keys, running = recorded(tmp_path)
    assert (len(keys), len(set(keys)), running) == (3, 3, 0)
    tables = {(tmp_path / f"out{i}/quickstart/table.csv").read_bytes() for i in range(8)}
    assert len(tables) == 1


def test_multirun_works_with_several_experiments_and_overrides(folder):
    code, out, error = bench(folder, "-m", *SMALL, "seed=0,1")
    assert code == 0, error
    assert out.count("sweep ") == 2
    assert len(recorded(folder)[0]) == 6


def test_two_sweeps_are_compared(folder):
    sweeps = []
    for seed in (0, 1):
        code, out, _ = bench(folder, *SMALL, f"seed={seed}")
        assert code == 0
        sweeps.append(out.rsplit("sweep ", 1)[1].split(":")[0])
    code, out, error = bench(
        folder, f"diff={','.join(sweeps)}", "format=csv", module="bench.leaderboard"
    )
    assert code == 0, error
    changes = {line["change"] for line in csv.DictReader(out.splitlines())}
    assert all(change.startswith("changed: value") for change in changes)


def test_components_of_ones_own_are_listed_and_typos_told(folder, refused):
    own = folder / "own" / "scenario"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text("# My scenario\n_target_: mine.Mine\n")
    places = ["--config-dir", str(folder / "own")]
    assert "My scenario" in bench(folder, *places, "list=scenarios")[1]
    line = refused(folder, *places, "+experiment=quickstart", "scenario=min")
    assert "Could not find 'scenario/min'" in line
    assert line.endswith("synthetic_checkins, three_bits")
    assert ", mine, " in line


def test_modules_of_ones_own_beside_their_yaml_are_imported_by_workers_too(folder):
    own = folder / "own"
    (own / "mechanism").mkdir(parents=True)
    yaml = "# @package mechanisms.mine\n# Mine\n_target_: my_own_mechanism.Mine\n"
    (own / "mechanism" / "mine.yaml").write_text(yaml)
    lines = (
        "from mechanisms.noise.identity import Noiseless",
        "class Mine(Noiseless):",
        "    pass",
    )
    (own / "my_own_mechanism.py").write_text("\n".join(lines))
    words = ["--config-dir", "own", *SMALL[:-1], "mechanism=[mine]", "engine=processes"]
    code, _, error = bench(folder, *words)
    assert code == 0, error
    assert {line[2] for line in table(folder)[1:]} == {"mine"}


@pytest.mark.parametrize("words", [["--config-dir", "own"], ["--config-dir=own"], ["-cd", "own"]])
def test_the_folder_of_ones_own_is_searched_last(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["first"])
    for _ in range(2):
        import_from_own_folders(["+experiment=x", *words, "seed=1"])
    assert sys.path == ["first", str(tmp_path / "own")]


def test_a_cell_that_takes_too_long_is_recorded_as_failed(folder):
    slow = "+mechanisms.slow={_target_:tests.support.components.Slow,seconds:1000}"
    words = [*SMALL[:-1], "mechanism=[]", "grid.epsilon=[1]", slow, "engine=processes"]
    code, out, error = bench(folder, *words, "engine.cell_timeout=2")
    assert code == 1, error
    assert "failed: slow eps=1 delta=0.001: no result within 2 s (engine.cell_timeout)" in out
    assert recorded(folder) == ([], 0)


def test_curves_have_a_leaderboard(folder):
    arguments = ["+experiment=influence_gaussian", "x=[1,2]"]
    assert bench(folder, *arguments)[0] == 0
    for form, begins in (("table", "Influence"), ("csv", "x,decay 0.5,")):
        code, out, error = bench(folder, f"format={form}", module="bench.leaderboard")
        assert code == 0, error
        assert out.startswith(begins)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run_id=nothing"], "holds no finished sweep of nothing"),
        (["+experiment=influence_gaussian", "+grid.n=[5]"], "grid.n: the table of results has"),
        (["+experiment=quickstrat"], "did you mean quickstart"),
        (["experiment=quickstart"], "write +experiment=quickstart"),
        ([*SMALL[:-1], "mechanism=[directional_gausian]"], "did you mean directional_gaussian"),
        ([*SMALL, "n_tset=5"], "n_tset"),
        ([*SMALL, "+n_tset=5"], "did you mean n_test"),
        ([*SMALL, "+mechanisms.directional_gaussian.eps=2"], "unknown parameter 'eps'"),
        ([*SMALL, "grid.epsilon=[0]"], "epsilon must be in (0, inf], got epsilon=0."),
        ([*SMALL, "grid.epsilon=[-1]"], "epsilon must be in (0, inf], got epsilon=-1."),
        ([*SMALL, "grid.epsilon=[nan]"], "epsilon must be in (0, inf], got epsilon=nan."),
        ([*SMALL, "grid.epsilon=[abc]"], "epsilon must be a number, got epsilon='abc'."),
        ([*SMALL, "scenario.gap=0.05"], "whole numbers of 100 records"),
        ([*SMALL, "scenario.gap=1.5"], "gap must be in (0, 1)"),
        ([*SMALL, "scenario.size=20000"], "needs 11000 records of one class"),
        ([*SMALL, "scenario.data.path=/nowhere"], "no file adult.data"),
        ([*SMALL, "tracking_uri=http://127.0.0.1:1"], "cannot open the store http://127.0.0.1:1"),
        ([*SMALL, "tracking_uri=sqlite:////nowhere/x.db"], "there is no folder /nowhere"),
        ([*SMALL, "output=/proc/nothing"], "cannot write to the folder"),
        (["list=mechanism_s"], "did you mean"),
        ([*SMALL, "resume=perhaps"], "resume must be true or false"),
        ([*SMALL, "seed=1.5"], "seed must be a whole number"),
        ([*SMALL, "engine.cell_timeout=5"], "write engine=processes engine.workers=1 with it"),
        ([*SMALL, "engine=processes", "engine.cell_timeout=0"], "cell_timeout must be in (0, inf)"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line_and_loses_nothing(folder, refused, arguments, said):
    assert said in refused(folder, *arguments)
    assert recorded(folder) == ([], 0)


@pytest.mark.parametrize("module", ["bench", "bench.leaderboard"])
def test_a_process_of_its_own_refuses_in_one_line_too(folder, module):
    code, _, error = bench(folder, "experiment=quickstrat", module=module)
    assert "quickstrat" in one_line(code, error)


def test_a_corrupt_data_file_is_one_clear_line(folder, refused):
    (folder / "adult.data").write_bytes(b"not a table\n")
    (folder / "adult.test").write_bytes(b"|\nnot a table\n")
    line = refused(folder, *SMALL, f"scenario.data.path={folder}")
    assert "adult.data is not in the format of UCI Adult" in line


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        ("bench.leaderboard", ["experiment=quickstart"], "no finished sweep"),
        ("bench.leaderboard", ["experimnt=x"], "did you mean experiment="),
        ("bench.leaderboard", ["format=pdf"], "unknown format 'pdf'"),
        ("bench.figures", ["experiment=quickstart"], "no finished sweep"),
    ],
)
def test_bad_input_of_the_small_commands_is_one_clear_line(
    folder, refused, module, arguments, said
):
    assert said in refused(folder, *arguments, module=module)
