"""The scale attack: certain where a scale is a function of the record, silent where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from attacks.outside.scale import Scale
from bench.config.build import ConfigError, build
from bench.scenarios.numeric_column import NumericColumn
from bench.scenarios.published_scale import PublishedScale
from bench.study.cross import Cross
from bench.study.session import Session
from mechanisms.base import NotOfferedError
from mechanisms.distribution.expected_value import ExpectedValueLaplace
from mechanisms.group_privacy import GroupLaplace
from mechanisms.knowledge import ScalarAnswers
from mechanisms.renyi.alpha_wasserstein import AlphaWassersteinLaplace
from mechanisms.renyi.tight_pure_laplace import TightPureLaplace
from mechanisms.renyi.w_infinity import WInfinityLaplace

HEART = {
    "path": "embedded:heart_oldpeak.csv", "value": "oldpeak", "secret": "fbs", "pairs": [[0, 1]],
    "count": "count", "bounds": [0, 6.2],
}  # fmt: skip
BUDGET = {"epsilon": 0.5}


def published(calibration, budget=BUDGET, **changes):
    return PublishedScale(
        of=NumericColumn(**(HEART | changes)), calibration=calibration, budget=budget
    )


@pytest.mark.parametrize(
    ("calibration", "budget", "read"),
    [
        (AlphaWassersteinLaplace(), BUDGET | {"order": 2.0}, 303),
        (TightPureLaplace(), BUDGET, 303),
        (ExpectedValueLaplace(), BUDGET, 303),
        (WInfinityLaplace(), BUDGET, 5),
        (GroupLaplace(group=1), BUDGET, 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_how_many_of_303_secrets_stand_in_the_scale(calibration, budget, read):
    assert published(calibration, budget).notes[-1] == (
        f"{read} of 303 records lead to a scale of their own"
    )


def audit(calibration, n, seed=0):
    """One cell of the harness: 95 % bound, and the accuracy."""
    node = {
        "_target_": "bench.scenarios.published_scale.PublishedScale", "budget": BUDGET,
        "of": {"_target_": "bench.scenarios.numeric_column.NumericColumn"} | HEART,
        "calibration": {"_target_": calibration},
    }  # fmt: skip
    study = Cross(
        scenarios={"heart": node},
        mechanisms={"published": {"_target_": "mechanisms.noise.identity.Noiseless"}},
        attacks={"scale": {"_target_": "attacks.outside.scale.Scale"}},
        metrics={"acc": {"_target_": "bench.metrics.attack.Accuracy"}},
        n_shadow=1, n_holdout=n, n_test=n, seed=seed,
    )  # fmt: skip
    session = Session()
    (cell,) = study.cells(session)
    rows = study.run_cell(cell, session).rows
    return {r["metric"]: r["value"] for r in rows if not r["statistic"]}


def test_power_a_scale_of_the_records_certifies_what_no_claim_allows():
    found = audit("mechanisms.distribution.expected_value.ExpectedValueLaplace", 1000)
    assert found["acc"] == 1.0
    assert found["certified"] > 5  # for a claim of .5


def test_null_a_scale_of_public_bounds_certifies_above_0_in_at_most_31_of_400_audits():
    rng = np.random.default_rng(0)
    scenario = published(GroupLaplace(group=1))
    attacker = Scale().fit(None, None, rng)
    from bench.study.ledger import counted
    from mechanisms.privacy.indistinguishability import PURE

    above = 0
    for _ in range(400):
        parts = []
        for _ in range(2):
            secret = np.repeat([0, 1], 50)
            worlds = scenario.draw(secret, "test", rng)
            scores = attacker.score(worlds.answers[:, None], **worlds.public)
            parts.append((secret, scores[:, 1] - scores[:, 0]))
        test = counted(*parts[0], parts[1], PURE, 1)
        above += PURE.of_rates(*test.rectangle(0.05)) > 0
    assert above <= 31
    assert binom.sf(31, 400, 0.05) < 0.01  # what 31 is


def test_what_does_not_fit_is_refused_in_one_line():
    with pytest.raises(ValueError, match="model='table'"):
        published(WInfinityLaplace(), model="held_out")
    with pytest.raises(ValueError, match="one pair of secrets"):
        PublishedScale(
            of=NumericColumn(**(HEART | {"pairs": [[0, 1], [1, 0]]})),
            calibration=WInfinityLaplace(), budget=BUDGET,
        )  # fmt: skip
    scenario = published(WInfinityLaplace())
    for refused in (lambda: scenario.law(0), lambda: scenario.knowledge(ScalarAnswers)):
        with pytest.raises(NotOfferedError):
            refused()
    with pytest.raises(ConfigError):
        build({"_target_": "attacks.outside.scale.Scale", "nothing": 1}, "attack scale")
