"""Things that once looked right and were not."""

from __future__ import annotations

import math
import sys
from types import ModuleType

import numpy as np
import pytest

from bench.core.code_fingerprint import foreign_sources
from bench.study.cross import Cross, cell_name
from bench.study.ledger import Certificate, verdict
from bench.study.shared_worlds import stream_name
from mechanisms.privacy.bracket import Bracket, NotComputable
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import Approximate
from tests.conftest import node, values

LIKELIHOOD = {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"}
ACCURACY = {"accuracy": {"_target_": "bench.metrics.attack.Accuracy"}}


UNKNOWN = NotComputable("nobody knows")


def claim(epsilon):
    return Guarantee(notion=Approximate(delta=0.0), bound=epsilon, theorem="none")


def test_noise_of_variance_0_is_compared_and_attacked_as_the_exact_release(run):
    """The answers' means are close, so these calibrations add nothing; the supports reveal all."""
    points = node("Spread", supports=[[0.0, 10.0], [1.0, 9.0]], weights=[[0.5, 0.5], [0.5, 0.5]])
    study = Cross(
        scenarios={"points": points},
        mechanisms={
            "least": {"_target_": "mechanisms.distribution.minimum_noise.MinimumNoiseGaussian"},
            "noiseless": {"_target_": "mechanisms.noise.identity.Noiseless"},
        },
        attacks={"lr": LIKELIHOOD}, metrics=ACCURACY, grid={"epsilon": [1.0], "delta": [0.01]},
        n_test=500, n_holdout=500,
    )  # fmt: skip
    outcome, _ = run(study)
    assert values(outcome, "exact") == {"least": math.inf, "noiseless": math.inf}
    assert values(outcome, "acc") == {"least": 1.0, "noiseless": 1.0}
    verdicts = {c.labels["mechanism"]: r.facts["verdict"] for c, r in outcome.results}
    assert verdicts == {"least": "violated", "noiseless": "no claim"}


def test_a_verdict_needs_evidence():
    weak = {"a": Certificate(display=0.0, verdict=0.0, n=10)}
    assert verdict(claim(1.0), UNKNOWN, {}, worlds_from_model=True) == "not checked"
    assert verdict(claim(1.0), UNKNOWN, weak, worlds_from_model=True) == "not refuted"
    assert verdict(claim(1.0), Bracket(0.8, 3.9), weak, worlds_from_model=True) == "not refuted"
    assert verdict(claim(1.0), Bracket(0.8, 1.0), {}, worlds_from_model=True) == "holds"
    own = Bracket(0.8, 3.9)
    assert (
        verdict(claim(1.0), Bracket(0.5, 0.5), weak, worlds_from_model=True, own=own)
        == "holds (model)"
    )


def test_tiny_claims_are_compared_relatively():
    assert verdict(claim(1e-6), Bracket(1.9e-6, 1.9e-6), {}, worlds_from_model=True) == "violated"


def test_names_of_neighbouring_budgets_differ():
    names = {cell_name({"mechanism": "m", "epsilon": e}) for e in (1.0000001, 1.0000002, 1.5)}
    assert names == {"m eps=1.0000001", "m eps=1.0000002", "m eps=1.5"}


def test_one_budget_has_one_cell_however_it_is_written():
    study = {
        "mechanisms": {
            "l": {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"}
        }
    }
    cells = [
        Cross(scenarios={"p": node("Points")}, grid={"epsilon": [e]}, **study).cells()[0].key
        for e in (1, 1.0)
    ]
    assert cells[0] == cells[1]


def test_where_a_file_lies_changes_no_stream():
    name = stream_name("s", {"path": "a/x.csv", "size": 3})
    assert name == stream_name("s", {"path": "/b/x.csv", "size": 3}) == '["s",{"size":3}]'
    folders = [stream_name("s", {"population": {"folder": place}}) for place in ("a", "/b")]
    assert folders[0] == folders[1]
    assert stream_name("s", {"size": 3}) != stream_name("s", {"size": 4})


def test_the_code_of_components_outside_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    hashes = set()
    bodies = [("pass", 1), ("x = 1", 1), ("pass", 10)]
    for body, factor in bodies:
        (tmp_path / "my_helper.py").write_text(f"FACTOR = {factor}\n")
        (tmp_path / "my_component.py").write_text(
            f"import numpy\nfrom my_helper import FACTOR\nclass Mine:\n    {body}\n"
        )
        for name in ("my_component", "my_helper"):
            sys.modules.pop(name, None)
        hashes.add(foreign_sources({"mechanism": {"_target_": "my_component.Mine"}}).popitem()[1])
    assert len(hashes) == len(bodies)
    assert foreign_sources({"_target_": "bench.sweep.engine.Serial"}) == {}


ERROR = {"l2": {"_target_": "bench.metrics.utility.NormError", "norm": 2, "name": "l2"}}


def test_a_mechanism_cannot_change_the_worlds_of_the_others(run):
    study = Cross(
        scenarios={"p": node("Points")},
        mechanisms={
            "in_place": node("InPlace"),
            "noiseless": {"_target_": "mechanisms.noise.identity.Noiseless"},
        },
        attacks={"lr": LIKELIHOOD}, metrics=ACCURACY | ERROR, n_test=20, n_holdout=20,
    )  # fmt: skip
    outcome, _ = run(study)
    (_, changed), (_, exact) = outcome.results
    assert "read-only" in changed.facts["reason"]
    assert exact.status == "finished"


def test_a_missing_extra_is_tried_again_next_time(run, monkeypatch):
    module = ModuleType("extra_of_a_test")
    module.present = False

    class Needs:
        requires = ()

        def __init__(self):
            from mechanisms.privacy.budget import NoBudget

            self.accepts = NoBudget

        def calibrate(self, *, budget):
            if not module.present:
                raise ImportError("pip install privacy-notions-bench[extra]")
            from mechanisms.noise.identity import ExactRelease

            return ExactRelease()

    module.Needs = Needs
    monkeypatch.setitem(sys.modules, "extra_of_a_test", module)
    study = Cross(
        scenarios={"p": node("Points")}, mechanisms={"m": {"_target_": "extra_of_a_test.Needs"}}
    )
    first, _ = run(study)
    assert first.results[0][1].status == "not applicable"
    module.present = True
    again, _ = run(study)
    assert again.results[0][1].status == "finished"


def test_exact_own_does_not_depend_on_sampled_subsets():
    from bench.config.build import build
    from tests.findings.test_distribution_privacy import ADULT

    made = [
        build(ADULT | {"model": model, "seed": 0}, "scenario adult").unpooled_law(0)
        for model in ("sampled", "exact")
    ]
    np.testing.assert_array_equal(made[0].covariance, made[1].covariance)


@pytest.mark.parametrize("repetitions", [1, 12])
def test_errors_have_no_negative_interval(repetitions):
    from bench.core.intervals import mean

    rng = np.random.default_rng(0)
    assert mean([rng.pareto(1.1, size=2) for _ in range(repetitions)]).lower >= 0
