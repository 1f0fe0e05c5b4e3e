"""Where the time of the main job goes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROFILED = """
import sys, time
start = time.perf_counter()
import bench.study.cross as cross
from bench.study.attack_run import AttackRun
from bench.study.evidence import CellEvidence
from bench.study.game import Game
spent = {}
def timed(owner, name):
    inner = getattr(owner, name)
    def outer(*a, **k):
        began = time.perf_counter()
        try:
            return inner(*a, **k)
        finally:
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - began
    setattr(owner, name, outer)
timed(Game, "worlds")               # drawing (once a process)
timed(Game, "releases")             # releasing
timed(AttackRun, "_attackers")      # fitting
timed(AttackRun, "_scores")         # scoring: attacks
timed(cross, "metric_rows")         # scoring: metrics
timed(CellEvidence, "_tests")       # scoring: thresholds and counts
import bench.sweep.engine as engine
from bench.store.tracking import Store
timed(engine, "run_cell_safely")    # a whole cell
timed(Store, "record")
from bench.__main__ import main
code = main()
wall = time.perf_counter() - start
# worlds and releases are also asked for inside the others: count the outer ones and the rest once.
outer = sum(spent[n] for n in ("_attackers", "_scores", "metric_rows", "_tests"))
sweep = spent["run_cell_safely"] + spent["record"]
sys.stderr.write(f"SHARE {outer / sweep:.4f} of the cells, {outer / wall:.4f} of {wall:.1f} s\\n")
sys.exit(code)
"""


@pytest.mark.performance
def test_drawing_releasing_fitting_and_scoring_take_85_percent_of_the_cells(tmp_path):
    """Of measuring and recording the cells of the main job.

    The rest of its wall time is start-up: imports, making the store, drawing. It is printed too.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROFILED, "+experiment=property_inference"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    line = next(x for x in done.stderr.splitlines() if x.startswith("SHARE"))
    sys.stdout.write(line + "\n")
    assert float(line.split()[1]) >= 0.85, line
