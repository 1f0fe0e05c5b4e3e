"""Thousands of small cells: the command stays small and flat, a second run reads its own cells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CELLS = int(os.environ.get("BENCH_MANY_CELLS", "3000"))
SWEEPS = """
import json, resource, sys, time
from pathlib import Path
from bench.store.tracking import Store
from bench.study.cross import Cross
from bench.study.session import Session
from bench.sweep.engine import Processes
from bench.sweep.experiment import Experiment

PAGE = resource.getpagesize()

def memory():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20

def cross(cells, seed):
    laplace = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
    return Cross(
        scenarios={"points": {"_target_": "tests.support.components.Points"}},
        mechanisms={"l": laplace},
        attacks={"lr": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}},
        metrics={"auc": {"_target_": "bench.metrics.attack.AUC"},
                 "l1": {"_target_": "bench.metrics.utility.NormError", "norm": 1, "name": "l1"}},
        grid={"epsilon": [0.5 + i / 1000 for i in range(cells)]},
        n_shadow=5, n_holdout=20, n_test=20, seed=seed,
    )

class Watched(Store):
    memory, recorded, read = [], 0, 0
    def record(self, *arguments, **options):
        Watched.recorded += 1
        if Watched.recorded % 100 == 0:
            Watched.memory.append(memory())
        return super().record(*arguments, **options)
    def search(self, *arguments, **options):
        for run in super().search(*arguments, **options):
            Watched.read += 1
            yield run

def sweep(store, cells, seed):
    study, session = cross(cells, seed), Session()
    experiment = Experiment(name="many", title="", study=study, figures={}, config={"show": []},
                            output=Path("outputs"))
    start = time.perf_counter()
    cells = study.cells(session)
    outcome = experiment.run(Processes(workers=2), store, cells, session, resume=True)
    assert outcome.summary.failed == 0
    return outcome, time.perf_counter() - start

if __name__ == "__main__":
    cells = int(sys.argv[1])
    store = Watched("sqlite:///mlflow.db")
    sweep(store, cells // 10, seed=1)
    Watched.recorded, Watched.memory = 0, []
    outcome, seconds = sweep(store, cells, seed=0)
    told = {"computed": outcome.computed, "rows": len(outcome.table), "seconds": seconds}
    told["memory"] = Watched.memory
    Watched.read = 0
    outcome, seconds = sweep(store, cells, seed=0)
    told |= {"again": outcome.computed, "read": Watched.read, "resumed": seconds}
    told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    Path("told.json").write_text(json.dumps(told))
"""


@pytest.mark.performance
@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
def test_three_thousand_cells_leave_the_command_small(tmp_path):
    """Peak below 500 MiB, no growth by results, and a second run that reads its own cells alone."""
    script = tmp_path / "sweeps.py"
    script.write_text(SWEEPS)
    subprocess.run(
        [sys.executable, str(script), str(CELLS)], cwd=tmp_path, check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    told = json.loads((tmp_path / "told.json").read_text())
    memory = told.pop("memory")
    sys.stdout.write(f"{told}, memory from {memory[0]:.0f} to {max(memory):.0f} MiB\n")
    assert (told["computed"], told["again"]) == (CELLS, 0)
    assert told["peak"] < 500
    assert max(memory) < memory[len(memory) // 10] + 20
    assert told["read"] == 2 * CELLS  # found by their sweep, and read into the table
