"""Complements: every protection is checked by the attack, and integer programs by enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.interval.cell_limits import suppressed_cells
from attacks.interval.feasible_intervals import interval_attack
from mechanisms.deterministic.count_table import Margin
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.deterministic.marks import PRIMARY, SECONDARY, SUPPRESSED
from mechanisms.deterministic.optimal_suppression import OptimalSuppression
from mechanisms.deterministic.protection import ProtectionProblem

SEEDS = st.integers(0, 2**32 - 1)
ROWS_COLUMNS = ((0,), (1,))


def problem_of(table, threshold=3, **options):
    table = np.asarray(table)
    zeros = options.get("publish_zeros", False)
    primary = (table < threshold) & (table >= int(zeros))
    if (structural := options.get("structural")) is not None:
        primary &= ~structural
    return ProtectionProblem(
        table=table,
        primary=primary,
        margins=options.pop("margins", ROWS_COLUMNS),
        threshold=threshold,
        **options,
    )


def intervals(problem, complements):
    """What the attack finds, by network flow or integer programming: another route than moves."""
    one = problem.marks == "one"
    release = problem.table.copy()
    release[complements] = SUPPRESSED if one else SECONDARY
    release[problem.primary] = SUPPRESSED if one else PRIMARY
    cells = suppressed_cells(
        release, threshold=problem.threshold, publish_zeros=problem.publish_zeros
    )
    margins = [Margin.of(problem.table, axes) for axes in problem.margins]
    return interval_attack(cells, margins)


def met(problem, complements, short=()):
    """Whether every demand is met, or as far as suppressing everything would."""
    found = intervals(problem, complements)
    lowered = {s.demand: s.attainable for s in short}
    for demand in problem.demands():
        end = (found.upper if demand.up else found.lower).ravel()[demand.cell]
        count = lowered.get(demand, demand.count)
        if (end < count) if demand.up else (end > count):
            return False
    return True


@given(seed=SEEDS, marks=st.sampled_from(["one", "two"]), zeros=st.booleans())
@settings(max_examples=30, deadline=None)
def test_greedy_meets_every_demand_that_totals_allow(seed, marks, zeros):
    rng = np.random.default_rng(seed)
    table = rng.poisson(4.0, (4, 4))
    problem = problem_of(table, marks=marks, publish_zeros=zeros)
    chosen = GreedySuppression().suppress(problem)
    assert met(problem, chosen.complements, chosen.short)
    assert not (chosen.complements & problem.primary).any()
    assert chosen.cost == chosen.complements.sum()
    # What falls short does so even when everything is suppressed.
    everything = intervals(problem, ~problem.primary)
    for shortfall in chosen.short:
        side = everything.upper if shortfall.demand.up else everything.lower
        assert side.ravel()[shortfall.demand.cell] == shortfall.attainable


@given(seed=SEEDS, weight=st.sampled_from(["cells", "counts"]))
@settings(max_examples=12, deadline=None)
def test_integer_programming_is_optimal_and_never_suppresses_more_than_greedy(seed, weight):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng.poisson(4.0, (3, 3)), weight=weight)
    greedy = GreedySuppression().suppress(problem)
    best = OptimalSuppression().suppress(problem)
    assert best.optimal
    assert best.cost <= greedy.cost
    assert met(problem, best.complements, greedy.short)
    # By enumeration of all choices of complements.
    costs = problem.costs()
    candidates = np.flatnonzero(problem.candidates())
    cheapest = np.inf
    for size in range(candidates.size + 1):
        for choice in itertools.combinations(candidates, size):
            cost = costs[list(choice)].sum()
            if cost >= cheapest:
                continue
            complements = np.zeros(9, dtype=bool)
            complements[list(choice)] = True
            if met(problem, complements.reshape(3, 3), greedy.short):
                cheapest = cost
    assert best.cost == cheapest


def test_a_range_of_its_own_for_each_cell():
    """[[1, 5, 7], [9, 1, 6], [8, 9, 4]]: wider ranges take more complements."""
    table = np.array([[1, 5, 7], [9, 1, 6], [8, 9, 4]])
    plain = GreedySuppression().suppress(problem_of(table))
    assert plain.complements.astype(int).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert not plain.short
    trivial = problem_of(table, least=table, most=table)
    assert not GreedySuppression().suppress(trivial).complements.any()
    assert OptimalSuppression().suppress(trivial).optimal
    only_up = problem_of(table, least=table, most=np.full((3, 3), 2))
    assert met(only_up, GreedySuppression().suppress(only_up).complements)
    # With one mark a range may reach beyond the threshold, and may be had for more cells.
    wide = problem_of(table, marks="one", most=np.full((3, 3), 12), least=np.zeros((3, 3)))
    chosen = GreedySuppression().suppress(wide)
    assert chosen.complements.sum() > 2
    assert met(wide, chosen.complements, chosen.short)


def test_what_no_suppression_can_protect_is_told():
    """Column A holds 1 and 1: whatever else is suppressed, neither can be 0."""
    table = np.array([[1, 1, 7, 1, 0], [1, 0, 0, 2, 8]])
    chosen = GreedySuppression().suppress(problem_of(table, threshold=2))
    assert [(s.demand.cell, s.demand.up, s.attainable) for s in chosen.short] == [
        (0, False, 1),
        (5, False, 1),
    ]
    assert met(problem_of(table, threshold=2), chosen.complements, chosen.short)
    assert OptimalSuppression().suppress(problem_of(table, threshold=2)).cost == 3.0


def test_three_way_tables_are_protected_in_whole_numbers():
    table = np.random.default_rng(3).poisson(4.0, (2, 3, 2))
    problem = problem_of(table, margins=((0, 1), (0, 2), (1, 2)))
    chosen = GreedySuppression().suppress(problem)
    assert met(problem, chosen.complements, chosen.short)
    best = OptimalSuppression(time_limit=60).suppress(problem)
    assert best.cost <= chosen.cost
    assert met(problem, best.complements, chosen.short)


def test_structural_cells_are_never_complements_and_no_totals_need_none():
    table = np.array([[1, 9, 0], [9, 9, 9], [9, 9, 9]])
    structural = np.zeros((3, 3), dtype=bool)
    structural[0, 2] = True
    chosen = GreedySuppression().suppress(problem_of(table, structural=structural))
    assert chosen.complements.any()
    assert not chosen.complements[0, 2]
    alone = GreedySuppression().suppress(problem_of(table, margins=()))
    assert not alone.complements.any()
    assert not alone.short


def test_out_of_time_the_gap_is_stated_and_greedy_is_the_floor():
    table = np.random.default_rng(4).poisson(5.0, (8, 7))
    problem = problem_of(table)
    greedy = GreedySuppression().suppress(problem)
    hurried = OptimalSuppression(time_limit=1e-3).suppress(problem)
    assert hurried.cost <= greedy.cost
    assert 0 < hurried.gap <= 1
    assert not hurried.optimal
    assert not greedy.optimal
    assert met(problem, hurried.complements, greedy.short)


def test_thinning_out_publishes_needless_complements_and_reports_progress():
    table = np.random.default_rng(5).poisson(4.0, (8, 8))
    problem = problem_of(table)
    seen = []
    thin = GreedySuppression().suppress(problem, lambda done, total: seen.append((done, total)))
    thick = GreedySuppression(thin_out=False).suppress(problem)
    assert thin.cost < thick.cost
    assert met(problem, thin.complements, thin.short)
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: OptimalSuppression(max_candidates=3).suppress(problem_of([[1, 9], [9, 9]] * 2)),
            "up to 3 candidates, got 6",
        ),
        (lambda: problem_of([[1, 9]], weight="mass"), "weight must be"),
        (lambda: problem_of([[1, 9]], most=np.zeros((1, 2))).demands(), "contain the cell's own"),
        (lambda: problem_of([[1, 9]], most=np.zeros(3)).demands(), "must have shape"),
        (lambda: problem_of([[1.5, 9]]), "whole numbers"),
        (lambda: problem_of([[1, 9]], margins=((4,),)), "axes must be among"),
    ],
)
def test_bad_input_is_told_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
