"""Time and memory of reading a large table beside pandas, in one run."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

pytestmark = pytest.mark.performance
ROWS, COLUMNS = 1_000_000, 20
NEEDED = ("n0", "i1", "c2", "b3")
# Peak memory of this process alone, above that of the imports, which are the same in both.
HEAD = """
import re, sys, time
from pathlib import Path
import numpy as np, pandas as pd, pyarrow as pa, pyarrow.csv, pyarrow.compute
from bench.datasets.table.table_file import TableFile
path, needed = sys.argv[1], sys.argv[2:]
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
before, start = peak(), time.perf_counter()
"""
OURS = (
    HEAD
    + """
file = TableFile(path=path)
table, digest = file.read(*needed), file.digest
rows = len(table)
print(rows, time.perf_counter() - start, peak() - before)
"""
)
PANDAS = (
    HEAD
    + """
table = pd.read_csv(path, dtype=str, usecols=needed)
rows = len(table)
print(rows, time.perf_counter() - start, peak() - before)
"""
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    kinds = {
        "n": lambda: np.round(rng.normal(50, 10, ROWS), 3),
        "i": lambda: rng.integers(0, 100_000, ROWS),
        "c": lambda: np.array(["alpha", "beta", "gamma", "delta"])[rng.integers(0, 4, ROWS)],
        "b": lambda: rng.integers(0, 2, ROWS),
    }
    path = tmp_path_factory.mktemp("tables") / "large.csv"
    columns = {f"{'nicb'[i % 4]}{i}": kinds["nicb"[i % 4]]() for i in range(COLUMNS)}
    pacsv.write_csv(pa.table(columns), path)
    return path


def measured(code, path):
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), *NEEDED],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(x) for x in done.stdout.split()]


def test_a_million_rows_take_at_most_twice_the_time_and_memory_of_pandas(table):
    """Of reading four of twenty columns as text; the file's sha256 is ours alone."""
    runs = [(measured(OURS, table), measured(PANDAS, table)) for _ in range(3)]
    (rows, time, memory), (same, pandas_time, pandas_memory) = (
        [min(values) for values in zip(*kind, strict=True)] for kind in zip(*runs, strict=True)
    )
    sys.stdout.write(
        f"\n{rows:.0f} rows x {COLUMNS} columns, {len(NEEDED)} of them read: {time:.2f} s and "
        f"{memory:.0f} MiB; pandas.read_csv(dtype=str) {pandas_time:.2f} s and "
        f"{pandas_memory:.0f} MiB ({time / pandas_time:.2f} and {memory / pandas_memory:.2f} "
        f"times)\n"
    )
    assert rows == same == ROWS
    assert time <= 2 * pandas_time
    assert memory <= 2 * pandas_memory
