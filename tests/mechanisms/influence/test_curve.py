import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.combination import pointwise_max
from mechanisms.influence.curve import (
    InfluenceCurve,
    dependent_items,
    group_privacy,
    independence,
)
from mechanisms.influence.network import BayesianNetwork, ConditionalTable

influences = st.one_of(st.floats(0, 8), st.just(np.inf))
epsilons = st.floats(0.01, 10)


@st.composite
def curves(draw, entries=6, with_pairs=True):
    n_rows = draw(st.integers(1, 3))
    width = draw(st.integers(1, entries + 1))
    rows = np.array(
        draw(
            st.lists(
                st.lists(influences, min_size=width, max_size=width),
                min_size=n_rows,
                max_size=n_rows,
            )
        )
    )
    rows = np.minimum.accumulate(rows, axis=1)
    pairs = rows if with_pairs else None
    return InfluenceCurve(values=rows.max(axis=0), entries=entries, direction="exact", pairs=pairs)


def by_definition(rows, entries, epsilon):
    """Largest total budget, point by point."""
    best = []
    for row in rows:
        points = [*enumerate(row), (entries, 0.0)]
        options = [0.0]
        for b, a in points:
            if b == 0 and a <= epsilon:
                options.append(np.inf)
            elif b > 0 and a < epsilon:
                options.append((epsilon - a) / b)
        best.append(max(options))
    return min(best)


@settings(max_examples=60, deadline=None)
@given(curves(), epsilons)
def test_a_budget_spent_in_full_costs_its_epsilon_and_no_more(curve, epsilon):
    total = curve.budget(epsilon).total
    assert curve.pufferfish_epsilon(total) <= epsilon
    assert total == pytest.approx(by_definition(curve.pairs, 6, epsilon), rel=1e-12)
    if np.isfinite(total):  # and a slightly larger total would exceed it
        assert curve.pufferfish_epsilon(total * 1.001) > epsilon


@settings(max_examples=60, deadline=None)
@given(curves(), epsilons)
def test_a_curve_per_pair_never_buys_less(curve, epsilon):
    pooled = InfluenceCurve(values=curve.values, entries=6, direction="exact")
    assert curve.budget(epsilon).total >= pooled.budget(epsilon).total * (1 - 1e-12)


@settings(max_examples=40, deadline=None)
@given(curves(), st.lists(st.floats(0.01, 2), min_size=2, max_size=5), st.data())
def test_the_joint_statement_is_never_above_theorem_four(curve, per_entry, data):
    sizes = [data.draw(st.integers(1, 6)) for _ in per_entry]
    penalties = [curve.at(b) for b in sizes]
    theorem_four = max(penalties) + sum(b * e for b, e in zip(sizes, per_entry, strict=True))
    assert curve.pufferfish_epsilon(sum(per_entry)) <= theorem_four + 1e-12


@settings(max_examples=40, deadline=None)
@given(curves(with_pairs=False), curves(with_pairs=False), epsilons)
def test_a_misspecified_curve_costs_at_most_the_gap_at_the_chosen_size(used, true, epsilon):
    budget = used.budget(epsilon)
    if budget.high_influence == 0:
        return
    b = budget.high_influence
    bound = epsilon + true.at(b) - used.at(b)
    assert true.pufferfish_epsilon(budget.total) <= bound + 1e-9
    assert used.pufferfish_epsilon(budget.total) <= epsilon


@settings(max_examples=40, deadline=None)
@given(curves(), curves(entries=4), st.integers(0, 7))
def test_pointwise_max_is_the_max_at_every_size(one, other, b):
    assert pointwise_max([one, other]).at(b) == max(one.at(b), other.at(b))


def test_a_rising_table_is_lowered_to_its_running_minimum():
    curve = InfluenceCurve(values=np.array([np.inf, 1.0, 2.0, 0.5]), entries=9, direction="exact")
    assert curve.values.tolist() == [np.inf, 1.0, 1.0, 0.5]
    assert curve.at(8) == 0.5
    assert curve.at(9) == 0


def test_below_the_floor_group_privacy_of_all_cells_remains_and_is_said():
    curve = InfluenceCurve(values=np.array([np.inf, 0.7, 0.4]), entries=100, direction="exact")
    budget = curve.budget(0.3)
    assert budget.total == pytest.approx(0.003)
    assert (budget.high_influence, budget.penalty) == (100, 0)
    assert budget.note == (
        "epsilon=0.3 does not exceed the curve's floor 0.4: what remains is group privacy of all "
        "100 entries."
    )
    assert curve.budget(0.41).note == ""


def test_independence_makes_per_entry_privacy_pufferfish_privacy():
    assert independence(50).pufferfish_epsilon(0.7) == pytest.approx(0.7)
    assert independence(50).budget(0.7).total == pytest.approx(0.7)


def test_dependent_items_and_group_privacy_divide_the_budget_by_the_group():
    assert dependent_items(5, 50).budget(2.0).total == pytest.approx(0.4)
    assert group_privacy(2, 3, 50).budget(2.0).total == pytest.approx(2 / 6)
    assert dependent_items(5, 50).at(4) == np.inf
    assert dependent_items(5, 50).at(5) == 0
    assert dependent_items(5, 5).pufferfish_epsilon(0.4) == pytest.approx(2.0)


def test_infinite_budgets_are_handled_without_nan():
    curve = dependent_items(3, 10)
    assert curve.budget(np.inf).total == np.inf
    assert curve.pufferfish_epsilon(np.inf) == np.inf
    assert curve.pufferfish_epsilon(0.0) == 0.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([np.inf, np.nan], "values must be in"),
        ([np.inf, -1.0], "values must be in"),
        ([np.inf, 1.0, 0.5, 0.1], "b_max <= entries=2"),
        ([], "got shape"),
    ],
)
def test_bad_tables_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        InfluenceCurve(values=np.array(values), entries=2, direction="exact")


def test_a_pair_above_the_curve_is_refused():
    with pytest.raises(ValueError, match="on or below values"):
        InfluenceCurve(
            values=np.array([np.inf, 1.0]),
            entries=3,
            direction="exact",
            pairs=np.array([[np.inf, 1.5]]),
        )


def test_no_curves_have_no_pointwise_max():
    with pytest.raises(ValueError, match="empty"):
        pointwise_max([])


@pytest.mark.parametrize("epsilon", [0, -1.0, np.nan])
def test_a_budget_needs_a_positive_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon must be in"):
        independence(3).budget(epsilon)


def test_curves_and_chains_travel_between_processes():
    curve = pointwise_max([independence(3), dependent_items(2, 4)])
    copy = pickle.loads(pickle.dumps(curve))
    assert copy.values.tolist() == curve.values.tolist()
    chain = MarkovChain(transition=np.full((2, 2), 0.5), initial="free")
    assert pickle.loads(pickle.dumps(chain)).start == "free"
    coin = ConditionalTable(variable="A", parents=(), table=np.array([0.5, 0.5]))
    network = BayesianNetwork(tables=(coin,))
    assert pickle.loads(pickle.dumps(network)).sizes == {"A": 2}
