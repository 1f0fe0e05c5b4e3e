"""What a cell of many long releases needs in memory, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.performance

ROOT = Path(__file__).parents[2]
CELL = """
import json, resource
from bench.study.cross import Cross
from bench.study.session import Session

study = Cross(
    scenarios={"long": %(scenario)s}, mechanisms={"m": %(mechanism)s},
    attacks={
        "lr": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"},
        "majority": {"_target_": "attacks.majority.Majority"},
        "knn": {
            "_target_": "attacks.meta_classifier.MetaClassifier",
            "estimator": {"_target_": "sklearn.neighbors.KNeighborsClassifier"},
        },
    },
    metrics={
        "acc": {"_target_": "bench.metrics.attack.Accuracy"},
        "l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"},
    },
    grid={"epsilon": [%(epsilon)s], "n_releases": [100]},
    n_shadow=1000, n_holdout=1000, n_test=1000,
)
session = Session()
(cell,) = study.cells(session)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
result = study.run_cell(cell, session)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
rows = {r["metric"]: r["value"] for r in result.rows}
print(json.dumps([before, after, result.status, result.facts, rows]))
"""
POINTS = {
    "_target_": "tests.support.components.Points",
    "supports": [[[0.0] * 2000], [[0.001] * 2000]],
}
CHAIN = {
    "_target_": "bench.scenarios.chain_count.ChainCount", "counted": "1", "length": 2000,
    "b_max": 20,
    "source": {
        "_target_": "bench.datasets.sequences.chains.GivenChain",
        "transition": [[0.7, 0.3], [0.3, 0.7]],
    },
}  # fmt: skip
LAPLACE = {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
RESPONSE = {"_target_": "mechanisms.influence.calibrate.InfluenceRandomisedResponse"}


@pytest.mark.parametrize(
    ("scenario", "mechanism", "epsilon"),
    [(POINTS, LAPLACE, 1.0), (CHAIN, RESPONSE, 4.0)],
    ids=["answers", "records"],
)
def test_2000_entries_100_releases_1000_worlds_a_secret_stay_below_2_gib(
    scenario, mechanism, epsilon
):
    code = CELL % {"scenario": scenario, "mechanism": mechanism, "epsilon": epsilon}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=3000,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, after, status, facts, rows = json.loads(done.stdout.splitlines()[-1])
    sys.stdout.write(f"peak {after:.2f} GiB, {before:.2f} GiB of it before the cell\n")
    assert status == "finished"
    assert "more than 0.5 GiB" in facts["attack knn"]
    assert rows["acc"] >= 0.5
    assert after < 2.0
