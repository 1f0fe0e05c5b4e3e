"""Interval attack: worked tables, enumeration, hypothesis properties, controls and bad input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from attacks.interval.cell_limits import CellLimits, rounded_cells, suppressed_cells
from attacks.interval.feasible_intervals import interval_attack
from attacks.interval.integer_bounds import integer_intervals
from attacks.interval.propagation import propagate
from attacks.interval.two_way import two_way_intervals
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.count_table import Margin, margin_matrix
from mechanisms.deterministic.greedy_suppression import GreedySuppression
from mechanisms.deterministic.marks import with_one_mark
from mechanisms.deterministic.rounding import RandomRounding, Rounding

ROWS_COLUMNS = ((0,), (1,))
SEEDS = st.integers(0, 2**32 - 1)
UNUSED = np.random.default_rng(0)


def attacked(mechanism, table, *, one_mark=False):
    release = mechanism.release(table[None], UNUSED)[0]
    cells = suppressed_cells(
        with_one_mark(release) if one_mark else release,
        threshold=mechanism.threshold,
        publish_zeros=mechanism.publish_zeros,
        structural=mechanism.structural,
    )
    return cells, interval_attack(cells, mechanism.public_margins(table))


def counts_to_try(cells, margins):
    """Each hidden cell's counts: no count exceeds a total that it adds to."""
    high = cells.upper.copy()
    for margin in margins:
        kept = [n if a in margin.axes else 1 for a, n in enumerate(high.shape)]
        high = np.minimum(high, margin.upper.reshape(kept))
    return [range(a, b + 1) for a, b in zip(cells.lower.ravel(), high.ravel(), strict=True)]


def enumerated(cells, margins):
    """Intervals by trying every table of whole counts."""
    tables = np.array(list(itertools.product(*counts_to_try(cells, margins))))
    tables = tables.reshape(-1, *cells.lower.shape)
    fits = np.ones(len(tables), dtype=bool)
    for margin in margins:
        others = tuple(1 + a for a in range(cells.lower.ndim) if a not in margin.axes)
        sums = tables.sum(axis=others)
        inside = (sums >= margin.lower) & (sums <= margin.upper)
        fits &= inside.reshape(len(tables), -1).all(axis=1)
    return tables[fits].min(axis=0), tables[fits].max(axis=0)


def test_all_seven_small_cells_are_recovered_from_margins():
    table = np.array([[1, 1, 7, 1, 0], [1, 0, 0, 2, 8]])
    _, found = attacked(CellSuppression(threshold=2, margins=ROWS_COLUMNS), table)
    assert found.hidden.sum() == 7
    assert (found.revealed == found.hidden).all()
    assert (found.lower == table).all()
    # Without totals nothing is revealed: each is 0 or 1.
    _, alone = attacked(CellSuppression(threshold=2), table)
    assert not alone.revealed.any()
    assert (alone.lower[alone.hidden] == 0).all()
    assert (alone.upper[alone.hidden] == 1).all()


@pytest.mark.parametrize(
    ("one_mark", "expected"),
    [
        (True, [(0, 6), (0, 6), (4, 10), (0, 6)]),
        (False, [(0, 2), (4, 6), (8, 10), (0, 2)]),
    ],
)
def test_marks_tell_which_cells_are_small(one_mark, expected):
    table = np.array([[1, 5, 7], [9, 1, 6], [8, 9, 4]])
    mechanism = CellSuppression(threshold=3, margins=ROWS_COLUMNS, secondary=GreedySuppression())
    release = mechanism.release(table[None], UNUSED)[0]
    assert release.tolist() == [[-1, -2, 7], [-2, -1, 6], [8, 9, 4]]
    _, found = attacked(mechanism, table, one_mark=one_mark)
    at = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [(found.lower[c], found.upper[c]) for c in at] == expected


@given(seed=SEEDS, one_mark=st.booleans(), zeros=st.booleans(), secondary=st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_interval_holds_the_count_and_is_the_enumerated_one(seed, one_mark, zeros, secondary):
    rng = np.random.default_rng(seed)
    table = rng.poisson(2.0, (3, 3))
    margins = [((0,), (1,)), ((0,), (1,), ()), ((1,),), ((),), ()][rng.integers(5)]
    mechanism = CellSuppression(
        threshold=int(rng.integers(2, 4)),
        margins=margins,
        publish_zeros=zeros,
        secondary=GreedySuppression() if secondary and len(margins) > 1 else None,
    )
    cells, found = attacked(mechanism, table, one_mark=one_mark)
    assert (found.lower <= table).all()
    assert (table <= found.upper).all()
    assert found.exact.all()
    public = mechanism.public_margins(table)
    if margins and math.prod(map(len, counts_to_try(cells, public))) <= 100_000:
        low, high = enumerated(cells, public)
        assert (found.lower == low).all()
        assert (found.upper == high).all()


@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_three_way_tables_are_exact_in_whole_numbers(seed):
    rng = np.random.default_rng(seed)
    table = rng.poisson(1.5, (2, 2, 2))
    mechanism = CellSuppression(threshold=3, margins=((0, 1), (0, 2), (1, 2)))
    cells, found = attacked(mechanism, table)
    low, high = enumerated(cells, mechanism.public_margins(table))
    assert (found.lower == low).all()
    assert (found.upper == high).all()
    assert found.exact.all()


def test_a_three_way_table_whose_relaxation_has_fractional_corners():
    """Some corners of its relaxation hold halves (found by search); ends must be whole tables'."""
    table = np.array(
        [
            [[0, 1, 1], [1, 0, 1], [0, 1, 1]],
            [[1, 0, 0], [1, 1, 0], [1, 0, 0]],
            [[0, 1, 1], [0, 1, 0], [1, 1, 0]],
        ]
    )
    axes = ((0, 1), (0, 2), (1, 2))
    _, found = attacked(CellSuppression(threshold=3, margins=axes), table)
    sums = margin_matrix(table.shape, axes)
    totals = sums @ table.ravel()
    for cell in (0, 2, 13):
        for end, sign in ((found.lower, 1.0), (found.upper, -1.0)):
            price = sign * np.eye(27)[cell]
            relaxed = linprog(price, A_eq=sums, b_eq=totals, bounds=(0, 2)).fun
            assert sign * end.ravel()[cell] >= relaxed - 1e-9
            # The end is attained: fixing the cell there leaves a whole table.
            fixed = np.stack([np.zeros(27), np.full(27, 2.0)], axis=1)
            fixed[cell] = end.ravel()[cell]
            assert (
                linprog(np.zeros(27), A_eq=sums, b_eq=totals, bounds=fixed, integrality=1).status
                == 0
            )


@given(seed=SEEDS, base=st.integers(2, 5), random=st.booleans(), rounded=st.booleans())
@settings(max_examples=40, deadline=None)
def test_rounded_tables(seed, base, random, rounded):
    """Exact and rounded totals beside rounded cells; intervals are the enumerated ones."""
    rng = np.random.default_rng(seed)
    table = rng.poisson(3.0, (2, 2))
    rule = RandomRounding(base=base) if random else Rounding(base=base)
    cells = rounded_cells(rule.release(table[None], rng)[0], rule)
    margins = []
    for axes in ROWS_COLUMNS:
        exact = Margin.of(table, axes)
        low, high = rule.limits(rule.release(exact.lower[None], rng)[0])
        margins.append(Margin(axes=axes, lower=low, upper=high) if rounded else exact)
    found = interval_attack(cells, margins)
    low, high = enumerated(cells, margins)
    assert (found.lower == low).all()
    assert (found.upper == high).all()
    assert (found.lower <= table).all()
    assert (table <= found.upper).all()


@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_flows_and_integer_programs_agree(seed):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.gamma(1.0, 3.0, (6, 1)) * np.ones((1, 5)))
    margins = [Margin.of(table, (0,)), Margin.of(table, (1,)), Margin.of(table, ())]
    low, high = np.zeros_like(table), table + rng.integers(0, 4, table.shape)
    low = np.maximum(table - rng.integers(0, 4, table.shape), 0)
    start = propagate(low, high, margins)
    by_flow = two_way_intervals(*start, margins)
    by_program = integer_intervals(*start, margins)
    assert (by_flow[0] == by_program[0]).all()
    assert (by_flow[1] == by_program[1]).all()
    assert by_program[2].all()


def test_progress_ends_with_everything_settled():
    table = np.random.default_rng(1).poisson(3.0, (12, 9))
    margins = (Margin.of(table, (0,)), Margin.of(table, (1,)))
    cells = suppressed_cells(np.where(table < 4, -1, table), threshold=4)
    seen = []
    interval_attack(cells, margins, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    assert all(a <= b for (a, _), (b, _) in itertools.pairwise(seen))


def test_a_program_out_of_time_leaves_a_wider_interval_and_says_so():
    table = np.random.default_rng(2).poisson(2.0, (4, 4, 4))
    margins = [Margin.of(table, axes) for axes in ((0, 1), (0, 2), (1, 2))]
    cells = suppressed_cells(np.where(table < 5, -1, table), threshold=5)
    hurried = interval_attack(cells, margins, time_limit=1e-9)
    assert (hurried.lower <= table).all()
    assert (table <= hurried.upper).all()
    assert not hurried.exact.all()


def test_null_and_power():
    table = np.array([[1, 20, 30], [40, 50, 60], [70, 80, 90]])
    # Power: one suppressed cell in its row is the total less the others.
    _, found = attacked(CellSuppression(threshold=5, margins=((0,),)), table)
    assert found.revealed[0, 0]
    assert found.lower[0, 0] == 1
    # Null: no totals, no knowledge beyond the rule; complements widen what is open.
    _, alone = attacked(CellSuppression(threshold=5), table)
    assert (alone.lower[0, 0], alone.upper[0, 0]) == (0, 4)
    # At threshold 2 with zeros published the rule itself says 1.
    table[0, 0] = 1
    _, ones = attacked(CellSuppression(threshold=2, publish_zeros=True), table)
    assert ones.revealed[0, 0]


def test_approximately_revealed_and_dominated_cells():
    table = np.array([[100, 3], [50, 60]])
    cells = CellLimits(
        lower=np.array([[98, 0], [50, 60]]),
        upper=np.array([[102, 4], [50, 60]]),
        hidden=np.array([[True, True], [False, False]]),
    )
    found = interval_attack(cells)
    assert found.approximately_revealed(0.05, table).tolist() == [[True, False], [False, False]]
    assert found.approximately_revealed(0.03, table).sum() == 0
    # From the attacker's side the lower end stands in for the count.
    assert found.approximately_revealed(0.05).tolist() == [[True, False], [False, False]]
    assert not found.revealed.any()
    largest = np.array([[90, 3], [45, 10]])
    assert found.dominated(table, largest).tolist() == [[False, False], [True, False]]
    with pytest.raises(ValueError, match="share must be"):
        found.approximately_revealed(1.5)
    with pytest.raises(ValueError, match="largest must"):
        found.dominated(table, table + 1)


def test_structural_zeros_are_known_and_true_zeros_are_not():
    table = np.array([[0, 0, 9], [8, 9, 9]])
    structural = np.array([[True, False, False], [False, False, False]])
    _, found = attacked(CellSuppression(threshold=3, structural=structural), table)
    assert not found.hidden[0, 0]
    assert found.hidden[0, 1]
    assert (found.lower[0, 1], found.upper[0, 1]) == (0, 2)
