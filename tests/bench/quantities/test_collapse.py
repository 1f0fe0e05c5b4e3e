"""Curves of collapse and of the cost of a run."""

import math

import numpy as np
import pytest

from attacks.reconstruction.collapse import UnchangedComponent
from bench.quantities.collapse import ExpectedRuns, LeakageOfRuns, ProbabilityOfReveal
from bench.quantities.collapse_example import CollapseExample
from bench.quantities.nfc import CostOfRun
from mechanisms.base import NotApplicableError
from mechanisms.collapse.decoy import DecoyDatabase

CHANNEL = [[0.7, 0.2, 0.1], [0.1, 0.4, 0.5], [0.5, 0.2, 0.3], [0.3, 0.4, 0.3]]


def decoy(prior=(0.3, 0.2, 0.3, 0.2), secret=(0, 0, 1, 1)):
    rows = [[i] for i in range(len(prior))]
    return CollapseExample(
        mechanism=DecoyDatabase(databases=rows, prior=prior, secret=secret),
        attack=UnchangedComponent(), databases=rows, prior=prior,
    )  # fmt: skip


EXAMPLES = {"decoy": decoy()}
POINT = {"decoy": decoy((0.5, 0.3, 0.2), (0, 1, 1))}


def drawn(kind, examples=EXAMPLES, **changes):
    quantity = kind(examples=examples, example="decoy", **changes)
    return quantity.curve(np.asarray(quantity.x, dtype=float))


def cost(**changes):
    given = {"channel": CHANNEL, "secret": [0, 0, 1, 1], "prior": [0.25] * 4, "n_releases": [1, 8]}
    return CostOfRun(**(given | changes))


def test_nothing_leaks_once_and_everything_twice():
    assert [e.value for e in drawn(LeakageOfRuns, n_releases=[1, 2])] == [0.0, math.inf]


def test_simulated_runs_and_reveals_hold_the_closed_forms():
    exact = drawn(ExpectedRuns, n_trials=[400, 4000])
    assert [e.value for e in exact] == pytest.approx([3.1667, 3.1667], abs=5e-5)
    for e, true in zip(drawn(ExpectedRuns, n_trials=[400, 4000], form="simulated"), exact,
                       strict=True):  # fmt: skip
        assert e.lower <= true.value <= e.upper
        assert e.upper - e.lower < 0.6
    runs = [1, 2, 4]
    for e, true in zip(drawn(ProbabilityOfReveal, n_releases=runs, form="simulated"),
                       drawn(ProbabilityOfReveal, n_releases=runs), strict=True):  # fmt: skip
        assert e.lower <= true.value <= e.upper
        assert (e.n, true.n) == (2000, 0)
    assert true.value == pytest.approx(1 - 0.6**4 - 0.4**4)


@pytest.mark.parametrize("form", ["closed", "simulated"])
def test_a_point_mass_makes_the_expectation_infinite_in_words(form):
    with pytest.raises(NotApplicableError, match=r"number of runs is infinite: .* point mass"):
        drawn(ExpectedRuns, POINT, n_trials=[10], form=form)


def test_a_cap_that_is_too_small_leaves_no_mean():
    with pytest.raises(NotApplicableError, match="are not revealed within 2 runs"):
        drawn(ExpectedRuns, n_trials=[100], form="simulated", cap=2)


def test_the_cost_of_a_run_lies_between_zero_and_its_bounds():
    x = np.array([1.0, 8.0])
    exact, limit, bound = ([b.hi for b in cost(form=f).curve(x)] for f in
                           ("exact", "limit", "bound"))  # fmt: skip
    assert exact == pytest.approx([0, 0.4242], abs=5e-5)
    assert limit == pytest.approx([0.5108] * 2, abs=5e-5)
    assert (np.array(exact) <= np.array(bound)).all()
    assert bound[0] > bound[1] > limit[1]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: drawn(LeakageOfRuns, n_releases=[0]), "n_releases must be a whole number of at"),
        (lambda: drawn(LeakageOfRuns, n_releases=0), r"must be a list of numbers, n_releases=\[1"),
        (lambda: drawn(ProbabilityOfReveal, n_releases=[]), "n_releases must be a list"),
        (lambda: drawn(ExpectedRuns, n_trials=[1]), "n_trials must be a whole number of at least"),
        (lambda: decoy(prior=(0.3, 0.2, 0.3, 0.3)), "prior must be non-negative and sum to 1"),
        (lambda: cost(prior=[0.5, 0.5]), "prior and secret must have one entry a row"),
        (lambda: cost(n_releases=[0]), "n_releases must be a whole number"),
        (lambda: cost(form="x"), "form must be 'exact', 'limit' or 'bound'"),
        (
            lambda: LeakageOfRuns(examples=EXAMPLES, example="decoi", n_releases=[1]),
            "unknown example 'decoi'; did you mean decoy",
        ),
    ],
)
def test_bad_input_is_one_clear_line(build, message):
    with pytest.raises(ValueError, match=message) as found:
        build()
    assert "\n" not in str(found.value)
