"""Rankings against OpenDP, and the ingestion of check-ins against a plain scan, side by side."""

import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from mechanisms.influence.claim import InfluenceClaim
from mechanisms.influence.curve import independence
from mechanisms.influence.knowledge import CurveKnowledge
from mechanisms.knowledge import Sensitivity
from mechanisms.top_k.peeling import PeeledRanking
from mechanisms.top_k.ranking import largest

pytestmark = pytest.mark.performance

REPETITIONS, GROUPS, CATEGORIES, K = 1000, 77, 78, 3
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
PICKS = 300
ROWS = int(os.environ.get("BENCH_ROWS", "3000000"))  # 33000000 for the published size


def ranking(epsilon):
    sensitivity = Sensitivity(l1=2.0, l2=2**0.5, unit="entry", size=12, dimension=CATEGORIES)
    claim = InfluenceClaim(
        knowledge=CurveKnowledge(curve=independence(12)), sensitivity=sensitivity
    )
    return PeeledRanking(
        selection="gumbel", k=K, epsilon=epsilon, candidates=np.arange(CATEGORIES),
        sensitivity=1.0, claim=claim,
    )  # fmt: skip


def test_all_rankings_of_the_study_against_one_opendp_call_a_pick():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    rng = np.random.default_rng(0)
    counts = np.floor(1e4 / np.arange(1, CATEGORIES + 1)) + rng.integers(
        0, 50, (GROUPS, CATEGORIES)
    )
    worlds = np.broadcast_to(counts, (REPETITIONS, GROUPS, CATEGORIES))
    start = time.perf_counter()
    for epsilon in EPSILONS:
        shown = ranking(epsilon).release(worlds, rng)
    ours = time.perf_counter() - start
    assert shown.shape == (REPETITIONS, GROUPS, K)

    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    pick = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 * K / 1.0)
    top = dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=K, scale=2 * K / 1.0)
    rows = counts.astype(int).tolist()
    calls = REPETITIONS * GROUPS * len(EPSILONS)
    start = time.perf_counter()
    for i in range(PICKS):
        pick(rows[i % GROUPS])
    by_pick = (time.perf_counter() - start) / PICKS * K * calls
    start = time.perf_counter()
    for i in range(PICKS // K):
        top(rows[i % GROUPS])
    by_top = (time.perf_counter() - start) / (PICKS // K) * calls
    sys.stdout.write(
        f"\nours {ours:.2f} s; OpenDP pick by pick {by_pick:.0f} s ({by_pick / ours:.0f} times), "
        f"its top k {by_top:.0f} s ({by_top / ours:.0f} times), extrapolated\n"
    )
    # The same mechanism: on distinct counts and a large budget both give the exact ranking.
    sure = dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=K, scale=1e-3)
    assert sure(rows[0]) == largest(counts[0], K).tolist()
    assert by_pick > 200 * ours


READ = """
import resource, sys, time
from bench.datasets.checkins.foursquare import Foursquare
start = time.perf_counter()
statistics = Foursquare(folder=sys.argv[1]).sequence_statistics
took, peak = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(took, peak / 2**20, statistics.notes[0].split()[0])
"""
SCAN = """
import sys, time
import pyarrow as pa, pyarrow.compute as pc, pyarrow.csv as pacsv, pyarrow.dataset as ds
types = dict.fromkeys(["user", "venue", "time", "offset"], pa.string())
start, total, rows = time.perf_counter(), 0, 0
text = ds.CsvFileFormat(
    read_options=pacsv.ReadOptions(column_names=list(types), block_size=8 << 20),
    parse_options=pacsv.ParseOptions(delimiter="\\t", quote_char=False),
    convert_options=pacsv.ConvertOptions(column_types=types),
)
path = sys.argv[1] + "/dataset_TIST2015_Checkins.txt"
for batch in ds.dataset(path, schema=pa.schema(types), format=text).to_batches():
    total += sum(pc.sum(pc.binary_length(column)).as_py() for column in batch.columns)
    rows += batch.num_rows
print(time.perf_counter() - start, total, rows)
"""


WRITE = """
import sys
from pathlib import Path
from tests.support.synthetic_files import write_files
write_files(Path(sys.argv[1]), int(sys.argv[2]))
"""


def run(code, *arguments):
    # A process of its own each time: its peak memory starts from that of the process it leaves.
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(x) for x in done.stdout.split()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("checkins")
    run(WRITE, where, ROWS)
    return where


def test_ingestion_stays_below_three_gibibytes_and_ten_plain_scans(folder):
    """All of it (join with the venues, order, counts) beside Arrow summing the lengths of texts."""
    runs = [(run(READ, folder), run(SCAN, folder)) for _ in range(2)]
    (whole, memory, read), (scan, _, rows) = (min(r) for r in zip(*runs, strict=True))
    sys.stdout.write(
        f"\n{rows:.0f} rows: {whole:.1f} s, peak {memory:.2f} GiB; a scan by Arrow "
        f"{pa.__version__} {scan:.2f} s ({whole / scan:.1f} times)\n"
    )
    assert read == rows
    assert memory < 3.0
    assert whole < 10 * scan
