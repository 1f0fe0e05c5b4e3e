"""Rankings against OpenDP, and the ingestion of check-ins against pandas, side by side."""

import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
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
from pathlib import Path
from bench.datasets.checkins.foursquare import CHECKINS, CITIES, POIS, Foursquare
from bench.datasets.checkins.foursquare_checkins import read_rows
from bench.datasets.checkins.foursquare_venues import read_countries, read_venues
folder = Path(sys.argv[1])
start = time.perf_counter()
statistics = Foursquare(folder=str(folder)).sequence_statistics
whole, memory = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
del statistics
venues = read_venues(folder / POIS, read_countries(folder / CITIES))
start = time.perf_counter()
columns, _ = read_rows(folder / CHECKINS, venues)
print(whole, time.perf_counter() - start, memory / 2**20)
"""
PANDAS = """
import sys, time
import pandas as pd
folder = sys.argv[1] + "/dataset_TIST2015_"
names = ["user", "venue", "time", "offset"]
start = time.perf_counter()
table = pd.read_csv(folder + "Checkins.txt", sep="\\t", header=None, names=names)
text, rows = time.perf_counter() - start, len(table)
start = time.perf_counter()
table["time"] = pd.to_datetime(table["time"], format="%a %b %d %H:%M:%S +0000 %Y")
typed = text + time.perf_counter() - start
start = time.perf_counter()
names = ["venue", "lat", "lon", "category", "country"]
pois = pd.read_csv(folder + "POIs.txt", sep="\\t", header=None, names=names, na_filter=False)
table["local"] = table["time"] + pd.to_timedelta(table["offset"], unit="min")
table = table.merge(pois[["venue", "category", "country"]], on="venue")
table = table.sort_values(["user", "local"], kind="stable").drop_duplicates()
counts = table.groupby(["country", "category"]).size()
print(text, typed, typed + time.perf_counter() - start, rows)
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


def test_ingestion_stays_below_three_gigabytes_and_beats_pandas(folder):
    """Peak memory; rows per second beside `read_csv` and beside the same work.

    `read_csv` of the same columns is timed with the time as text, as it comes, and as a time,
    which is what is read here; reading here also finds every row's venue.
    """
    runs = [(run(READ, folder), run(PANDAS, folder)) for _ in range(2)]
    (whole, read, memory), (text, typed, same, rows) = (min(r) for r in zip(*runs, strict=True))
    sys.stdout.write(
        f"\n{rows:.0f} rows, peak {memory:.2f} GiB: reading {read:.2f} s, all {whole:.2f} s; "
        f"pandas {pd.__version__}: text {text:.2f} s ({text / read:.2f} and {text / whole:.2f} "
        f"times), times parsed {typed:.2f} s ({typed / read:.1f} and {typed / whole:.1f} times), "
        f"the same work {same:.2f} s ({same / whole:.1f} times)\n"
    )
    assert memory < 3.0
    assert typed > 2 * whole
    assert same > 2 * whole
