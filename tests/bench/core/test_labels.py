"""Labels that a table, a file or the store could not tell apart are refused, both named."""

from __future__ import annotations

import pytest

from bench.config.compose import experiment_of
from bench.core.labels import check_labels, check_recorded
from bench.study.curve import Curve
from tests.bench.study.test_cross import LEARNER, MECHANISMS, POINTS, study
from tests.conftest import node

LAPLACE = MECHANISMS["laplace"]
AUC = {"_target_": "bench.metrics.attack.AUC"}
PAIRS = [("a_b", "a-b"), ("a_b", "a b"), ("Ab", "aB"), ("a/b", "a_b"), ("\u00e9", "e\u0301")]


def refusal(call, *names):
    """Return the one line with which a study is refused; it names the offenders."""
    with pytest.raises(ValueError, match=r"\w") as found:
        call()
    line = str(found.value)
    assert "\n" not in line
    assert all(repr(name) in line for name in names), line
    return line


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("kind", ["scenarios", "mechanisms", "attacks", "metrics"])
def test_a_cross_refuses_labels_that_differ_in_spelling_only(kind, one, other):
    config = {"scenarios": POINTS, "mechanisms": LAPLACE, "attacks": LEARNER, "metrics": AUC}[kind]
    changed = study(**{kind: {one: config, other: config}})
    assert refusal(changed.cells, one, other).startswith(f"{kind[:-1]} labels")


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_curve_refuses_labels_that_differ_in_spelling_only(one, other):
    quantity = node("EpsilonOfDistance")
    refusal(Curve(quantities={one: quantity, other: quantity}, x=[1.0]).cells, one, other)


def composed(**changes):
    settings = {
        "name": "e", "title": "", "output": "o", "figures": {}, "list": None,
        "study": {"_target_": "bench.study.cross.Cross", "scenarios": {"points": POINTS},
                  "mechanisms": {"laplace": LAPLACE}, "grid": {"epsilon": [1.0]}},
    }  # fmt: skip
    return settings | changes


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_figures_of_one_file_are_refused(one, other):
    figure = {"_target_": "bench.figures.ledger.Ledger"}
    refusal(lambda: experiment_of(composed(figures={one: figure, other: figure}), None), one, other)


def test_a_figure_cannot_replace_the_table():
    line = refusal(lambda: experiment_of(composed(figures={"Table": {}}), None), "Table")
    assert "taken" in line


def test_a_further_scenario_cannot_replace_the_one_asked_for():
    settings = composed(scenario=node("SameEitherWay"))
    refusal(lambda: experiment_of(settings, "points"), "points")
    assert set(experiment_of(settings, "other").study.scenarios) == {"other", "points"}


def test_labels_that_say_something_else_pass():
    check_labels("mechanism", ["a_b", "a_bc", "ab", "x=1", "x=-1", "x<1", "x>1", "a.b"])
    with pytest.raises(ValueError, match="a mechanism needs a label, got ' '"):
        check_labels("mechanism", [" "])


@pytest.mark.parametrize(
    ("metrics", "attacks", "told"),
    [
        ({"a": ("acc", "scores"), "b": ("acc", "scores")}, ["lr"], ("metric 'a'", "metric 'b'")),
        ({"a": ("acc", "scores")}, ["x<", "x>"], ("attack 'x<'", "attack 'x>'")),
        ({"a": ("l1", "releases"), "b": ("l1_lo", "releases")}, [], ("metric 'a'", "metric 'b'")),
        ({"a": ("exact", "releases")}, [], ("ledger's 'exact'", "metric 'a'")),
        ({"a": ("certified", "scores")}, ["lr"], ("attack 'lr' in the ledger", "metric 'a'")),
        ({"a": ("epsilon", "releases")}, [], ("axis 'epsilon'", "metric 'a'")),
        ({"a": ("m/x", "releases"), "b": ("m", "scores")}, ["x"], ("metric 'a'", "metric 'b'")),
        ({"a": ("m" * 251, "releases"), "b": ("m" * 252, "releases")}, [], ("'a'", "'b'")),
    ],
)
def test_what_the_store_would_keep_under_one_name_is_refused(metrics, attacks, told):
    with pytest.raises(ValueError, match="are both recorded as") as found:
        check_recorded(["epsilon"], attacks, metrics)
    assert all(part in str(found.value) for part in told)
    check_recorded(["epsilon"], ["lr", "forest"], {"a": ("acc", "scores"), "b": ("l1", "releases")})


def test_two_metrics_of_one_name_are_refused_by_a_cross():
    refusal(study(metrics={"one": AUC, "two": AUC}).cells, "one", "two")


def test_two_cells_of_one_name_are_refused():
    values = study(grid={"epsilon": [1.0], "delta": [0.1], "digest": [1, 1.0]})
    assert "two cells would be called" in refusal(values.cells)
    named = study({"noiseless eps=1": MECHANISMS["noiseless"], "noiseless": LAPLACE},
                  grid={"epsilon": [1.0]})  # fmt: skip
    refusal(named.cells, "noiseless eps=1", "noiseless")


@pytest.mark.parametrize("axis", ["scenario", "mechanism", "rank"])
def test_an_axis_cannot_take_the_place_of_a_label(axis):
    refusal(study(grid={"epsilon": [1.0], axis: [1, 2]}).cells)


def test_both_mechanisms_stand_in_the_table_where_labels_differ(run):
    outcome, _ = run(study({"a_b": LAPLACE, "a_c": LAPLACE}, attacks={}, grid={"epsilon": [1.0]}))
    assert set(outcome.table["cell"]) == {"a-b eps=1", "a-c eps=1"}
