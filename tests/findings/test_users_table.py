"""A table with one wide column: its own spread covers it, so its direction gets no noise."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bench.study.cross import Cross
from bench.study.session import Session
from tests.findings.test_distribution_privacy import ADULT

EIGENVECTOR = {"_target_": "mechanisms.distribution.eigenvector.EigenvectorGaussian"}
MEAN = "bench.scenarios.statistics.Mean"


@cache
def cells():
    scenario = ADULT | {
        "model": "exact",
        "statistics_of": [
            {"_target_": MEAN, "column": c} for c in ("age", "hours-per-week", "fnlwgt")
        ],
    }
    repaired = {
        kind: {"_target_": "mechanisms.distribution.repair.Repaired", "repair": kind,
               "calibration": EIGENVECTOR}
        for kind in ("floor", "projection")
    }  # fmt: skip
    study = Cross(
        scenarios={"table": scenario}, mechanisms={"published": EIGENVECTOR} | repaired,
        attacks={"lr": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}},
        metrics={"l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"}},
        grid={"epsilon": [0.5], "delta": [0.001]}, n_shadow=100, n_holdout=1000, n_test=1000,
    )  # fmt: skip
    session = Session()
    found = {c.labels["mechanism"]: study.run_cell(c, session) for c in study.cells(session)}
    return session, study, found


def value(name, metric):
    (row,) = [
        r for r in cells()[2][name].rows
        if r["metric"] == metric and not r["attack"] and not r["statistic"]
    ]  # fmt: skip
    return row


def test_the_models_number_is_next_to_nothing_and_that_of_the_records_is_not():
    assert value("published", "ceiling")["value"] == pytest.approx(0.503, abs=0.002)
    assert value("published", "exact")["value"] < value("published", "claimed")["value"] < 0.07
    recorded = value("published", "exact_recorded")
    assert 2 < recorded["lower"] < recorded["value"] < 3.5
    assert cells()[2]["published"].facts["verdict"] == "model misfit"


def test_either_repair_leaves_nothing_that_numbers_or_attacks_refute():
    for name in ("floor", "projection"):
        assert cells()[2][name].facts["verdict"] in ("holds", "holds (model)")
        assert value(name, "exact")["value"] < 0.05
    assert value("floor", "l2")["value"] < 2 * value("published", "l2")["value"]


def test_the_spared_direction_has_no_accidental_noise():
    from mechanisms.distribution.eigenvector import EigenvectorGaussian
    from mechanisms.knowledge import GaussianAnswers
    from mechanisms.privacy.budget import EpsilonDelta

    session, study, _ = cells()
    scenario = session.build(next(iter(study.scenarios.values())), "scenario table")
    mechanism = EigenvectorGaussian().calibrate(
        scenario.knowledge(GaussianAnswers), budget=EpsilonDelta(epsilon=0.5, delta=0.001)
    )
    values, vectors = np.linalg.eigh(mechanism.noise_covariance)
    assert np.sqrt(values[1:]) == pytest.approx([1260, 1260], rel=0.01)
    noise = mechanism.noise.sample((1000, 3), np.random.default_rng(0))
    # Of three products of floats of size 1260 each: a rounding error, no noise of its own.
    assert np.abs(noise @ vectors[:, 0]).max() < 1e-11
