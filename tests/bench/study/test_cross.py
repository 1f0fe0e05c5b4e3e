"""No number depends on engines, on order, or on which other mechanisms run."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from bench.config.build import ConfigError
from bench.store.tracking import Store
from bench.study.cross import Cross
from bench.sweep.engine import Processes, Serial
from tests.conftest import experiment, node

MECHANISMS = {
    "laplace": {"_target_": "mechanisms.distribution.expected_value.ExpectedValueLaplace"},
    "gaussian": {"_target_": "mechanisms.distribution.expected_value.ExpectedValueGaussian"},
    "noiseless": {"_target_": "mechanisms.noise.identity.Noiseless"},
}
LEARNER = {
    "_target_": "attacks.meta_classifier.MetaClassifier",
    "adaptive": False,
    "estimator": {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 5},
}


POINTS = node("Points", supports=[[0.0, 1.0], [1.0, 2.0]], weights=[[0.3, 0.7]] * 2)


def study(mechanisms=MECHANISMS, **changes):
    settings = {
        "scenarios": {"points": POINTS},
        "mechanisms": mechanisms,
        "attacks": {
            "lr": {"_target_": "attacks.likelihood_ratio.LikelihoodRatio"},
            "forest": LEARNER,
            "adaptive": LEARNER | {"adaptive": True},
        },
        "metrics": {
            "auc": {"_target_": "bench.metrics.attack.AUC"},
            "l1": {"_target_": "bench.metrics.utility.NormError", "norm": 1, "name": "l1"},
        },
        "grid": {"epsilon": [0.5, 2.0], "delta": [0.01]},
        "repetitions": 2,
        "n_shadow": 40,
        "n_holdout": 40,
        "n_test": 60,
    }  # fmt: skip
    return Cross(**(settings | changes))


def by_cell(table):
    return table.set_index(["cell", "attack", "metric", "statistic"]).sort_index()


@pytest.fixture(scope="module")
def serial(tmp_path_factory, blank_store):
    """Return the table of the whole study, one cell after the other."""
    folder = tmp_path_factory.mktemp("serial")
    store = Store(f"sqlite:///{shutil.copy(blank_store, folder / 'mlflow.db')}")
    return experiment(study(), folder).run(Serial(), store, study().cells(), resume=True).table


def test_serial_and_processes_give_the_same_table_bit_for_bit(run, serial):
    parallel, _ = run(study(), engine=Processes(workers=2))
    pd.testing.assert_frame_equal(serial, parallel.table, check_exact=True)


def test_order_and_subset_of_mechanisms_change_no_number(run, serial):
    some = {name: MECHANISMS[name] for name in ("noiseless", "laplace")}
    part, _ = run(study(some))
    kept = serial[serial["mechanism"] != "gaussian"]
    kept = kept.drop(columns="delta")  # the gaussian alone has it
    pd.testing.assert_frame_equal(by_cell(kept), by_cell(part.table), check_exact=True)


def test_a_budget_axis_that_a_mechanism_lacks_makes_no_further_cells():
    cells = study(grid={"epsilon": [1.0], "delta": [1e-3, 1e-2]}).cells()
    names = [cell.name for cell in cells]
    assert names == [
        "laplace eps=1", "gaussian eps=1 delta=0.001", "gaussian eps=1 delta=0.01", "noiseless",
    ]  # fmt: skip


def test_a_missing_budget_axis_makes_the_cell_not_applicable(run):
    outcome, _ = run(study(grid={"delta": [0.01]}))
    reasons = {c.labels["mechanism"]: r.facts.get("reason") for c, r in outcome.results}
    assert reasons["laplace"] == "its budget needs epsilon; the grid gives delta"
    assert reasons["noiseless"] is None


def test_scenario_axes_expand_the_scenario():
    cells = study(grid={"epsilon": [1.0], "delta": [0.1], "digest": ["a", "b"]}).cells()
    assert len(cells) == 6
    assert {c.spec.scenario["digest"] for c in cells} == {"a", "b"}


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "abc", True, None])
def test_a_bad_epsilon_is_refused_before_anything_runs(epsilon):
    with pytest.raises((ValueError, TypeError), match=r"epsilon must be .*, got epsilon="):
        study(grid={"epsilon": [epsilon], "delta": [0.1]}).cells()


def test_a_misspelt_axis_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean epsilon"):
        study(grid={"epsilom": [1.0]}).cells()


def test_a_misspelt_parameter_names_the_nearest():
    bad = {"gaussian": MECHANISMS["gaussian"] | {"calibratoin": "analytic"}}
    with pytest.raises(ConfigError, match="did you mean calibration"):
        study(bad).cells()


def test_keys_depend_on_configuration_alone():
    first, second = study().cells(), study().cells()
    assert [c.key for c in first] == [c.key for c in second]
    changed = study(seed=1).cells()
    assert not {c.key for c in first} & {c.key for c in changed}


def test_one_cell_that_kills_its_worker_fails_alone(run):
    mechanisms = {"killer": node("Killing"), **MECHANISMS}
    outcome, _ = run(study(mechanisms, attacks={}), engine=Processes(workers=2))
    failed = {cell.name: r.facts["reason"] for cell, r in outcome.results if r.status == "failed"}
    assert failed == {"killer": "its process ended 3 times without a result: exit code 9"}
    assert len(outcome.results) == 6


def test_an_axis_cannot_have_the_name_of_a_column():
    for name in ("value", "n", "attack", "cell"):
        with pytest.raises(ConfigError, match=f"grid.{name}: the table of results has a column"):
            study(grid={"epsilon": [1.0], name: [1, 2]}).cells()


def test_attacks_need_a_pair_of_secrets(run):
    outcome, _ = run(study({"noiseless": MECHANISMS["noiseless"]}, scenarios={"p": node("Alone")}))
    ((_, result),) = outcome.results
    assert result.status == "finished"
    assert result.facts["attack lr"] == (
        "not applicable: the scenario has no pair of secrets to tell apart"
    )
