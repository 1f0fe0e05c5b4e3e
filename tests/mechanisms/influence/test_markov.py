import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.binary_chain import binary_chain_curve, long_chain_influence
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import chain_curve
from tests.mechanisms.influence.brute_force import (
    chain_table,
    influence_curve,
    pair_curve,
    randomized_response_loss,
    secret_pairs,
)

SLOW = {"max_examples": 40, "deadline": None}
THREE_STATES = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])


def binary(p, q, initial="stationary"):
    return MarkovChain(transition=np.array([[p, 1 - p], [1 - q, q]]), initial=initial)


def random_chain(seed, size, sparsity):
    """A chain with zero transitions and an initial law with zero entries."""
    rng = np.random.default_rng(seed)

    def laws(n):
        rows = rng.dirichlet(np.ones(size), n) * (rng.random((n, size)) >= sparsity)
        rows[rows.sum(axis=1) == 0, rng.integers(size)] = 1.0
        return rows / rows.sum(axis=1, keepdims=True)

    return laws(size), laws(1)[0]


small_chains = st.tuples(
    st.integers(0, 10**6),
    st.sampled_from([(2, 7), (2, 6), (2, 5), (3, 5), (3, 4)]),
    st.sampled_from([0.0, 0.2, 0.5]),
)


@settings(**SLOW)
@given(small_chains)
def test_the_curve_is_what_enumeration_of_all_sets_finds(case):
    seed, (size, length), sparsity = case
    transition, initial = random_chain(seed, size, sparsity)
    curve = chain_curve(MarkovChain(transition=transition, initial=initial), length)
    brute = influence_curve([chain_table(transition, initial, length)])
    assert not np.isnan(curve.values).any()
    np.testing.assert_allclose(curve.values, brute, rtol=1e-8, atol=1e-8)


@settings(**SLOW)
@given(small_chains)
def test_the_stationary_curve_is_what_enumeration_of_all_sets_finds(case):
    seed, (size, length), sparsity = case
    transition, _ = random_chain(seed, size, sparsity)
    chain = MarkovChain(transition=transition)
    brute = influence_curve([chain_table(transition, chain.first_law, length)])
    np.testing.assert_allclose(chain_curve(chain, length).values, brute, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_seven_cells_of_three_states_agree_with_enumeration(seed):
    transition, initial = random_chain(seed, 3, 0.2)
    curve = chain_curve(MarkovChain(transition=transition, initial=initial), 7)
    brute = influence_curve([chain_table(transition, initial, 7)])
    np.testing.assert_allclose(curve.values, brute, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_every_row_of_pairs_is_the_worst_position_of_its_value_pair(seed):
    transition, initial = random_chain(seed, 3, 0.0)
    table = chain_table(transition, initial, 4)
    curve = chain_curve(MarkovChain(transition=transition, initial=initial), 4)
    for row, (s, t) in zip(curve.pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        expected = np.max(
            [pair_curve([table], *pair) for pair in secret_pairs(table) if pair[1:] == (s, t)],
            axis=0,
        )
        np.testing.assert_allclose(row, expected, rtol=1e-8, atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(2, 5), (3, 4)]))
def test_the_free_curve_is_the_supremum_over_initial_laws(seed, shape):
    size, length = shape
    transition, some_law = random_chain(seed, size, 0.0)
    near_points = [(1 - 1e-9) * point + 1e-9 / size for point in np.eye(size)]
    tables = [chain_table(transition, law, length) for law in [*near_points, some_law]]
    curve = chain_curve(MarkovChain(transition=transition, initial="free"), length)
    brute = influence_curve(tables)
    np.testing.assert_allclose(curve.values, brute, rtol=1e-5, atol=1e-5)
    assert (curve.values >= brute - 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(2, 5), (3, 4)]))
def test_the_free_curve_with_zero_transitions_is_infinite_where_the_supremum_is(seed, shape):
    size, length = shape
    transition, _ = random_chain(seed, size, 0.4)
    tiny = 1e-9
    near_points = [(1 - tiny) * point + tiny / size for point in np.eye(size)]
    brute = influence_curve([chain_table(transition, law, length) for law in near_points])
    values = chain_curve(MarkovChain(transition=transition, initial="free"), length).values
    unbounded = brute > 15  # log(1 / tiny) = 20.7 stands for infinity
    assert np.isinf(values[unbounded]).all()
    np.testing.assert_allclose(values[~unbounded], brute[~unbounded], rtol=1e-4, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(["stationary", "free"]))
def test_a_longer_chain_has_at_least_the_influence_so_the_longest_decides(seed, length, initial):
    transition, _ = random_chain(seed, 3, 0.2)
    chain = MarkovChain(transition=transition, initial=initial)
    short = chain_curve(chain, length)
    long = chain_curve(chain, [length, length + 3, 1])
    assert long.entries == length + 3
    assert all(short.at(b) <= long.at(b) + 1e-9 for b in range(length + 4))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(10, 40))
def test_grouping_nodes_loses_at_most_its_tolerance(seed, length):
    transition, initial = random_chain(seed, 3, 0.1)
    chain = MarkovChain(transition=transition, initial=initial)
    fine = chain_curve(chain, length, b_max=length, tolerance=0.0)
    coarse = chain_curve(chain, length, b_max=length, tolerance=0.05)
    finite = np.isfinite(fine.values)
    assert (coarse.values[finite] >= fine.values[finite] - 1e-12).all()
    assert (coarse.values[finite] <= fine.values[finite] + 0.05 + 1e-12).all()
    assert coarse.direction == "upper bound"


LONG = {
    (0.6, 0.8): [2.197225, 1.550597, 0.903970, 0.638571, 0.373172, 0.262452, 0.151732, 0.106432],
    (0.9, 0.9): [4.394449, 3.713572, 3.032695, 2.647221, 2.261746, 2.001134, 1.740522, 1.550715],
}


@pytest.mark.parametrize("pq", LONG)
def test_long_binary_chains_have_the_closed_form_values(pq):
    closed = [long_chain_influence(*pq, b) for b in range(1, 9)]
    assert closed == pytest.approx(LONG[pq], abs=1e-6)
    assert chain_curve(binary(*pq), 200, b_max=8).values[1:] == pytest.approx(LONG[pq], abs=1e-6)
    assert long_chain_influence(0.6, 0.8, 1) == pytest.approx(2 * np.log(3))


@pytest.mark.parametrize(
    ("pq", "expected"),
    [
        ((0.6, 0.8), [2.197225, 1.550597, 0.903970, 0.638571, 0.373172, 0.186586, 0]),
        ((0.7, 0.7), [1.6946, 1.1701, 0.6455, 0.4509, 0.2564, 0.1282, 0]),
    ],
)
def test_short_binary_chains_have_the_published_values(pq, expected):
    assert binary_chain_curve(*pq, 7).values[1:] == pytest.approx(expected, abs=5e-5)
    assert chain_curve(binary(*pq), 7).values[1:] == pytest.approx(expected, abs=5e-5)


def test_the_three_state_chain_has_the_published_values():
    expected = [2.8622, 1.91606, 1.16407, 0.80109, 0.46499, 0.33626]
    expected += [0.18459, 0.13682, 0.07544, 0.05426, 0.03063, 0.02155]
    values = chain_curve(MarkovChain(transition=THREE_STATES), 20).values
    assert values[1:13] == pytest.approx(expected, abs=5e-5)


@settings(**SLOW)
@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.integers(1, 25))
def test_the_binary_closed_form_is_exact_or_above(p, q, length):
    closed = binary_chain_curve(p, q, length)
    exact = chain_curve(binary(p, q), length).values
    assert (closed.values[1:] >= exact[1:] - 1e-7).all()
    if p + q >= 1:
        np.testing.assert_allclose(closed.values, exact, rtol=1e-6, atol=1e-7)


def test_alternating_chains_lie_strictly_below_the_closed_form():
    exact = chain_curve(binary(0.2, 0.3), 60, b_max=2).at(2)
    assert exact == pytest.approx(1.7383, abs=5e-5)
    assert long_chain_influence(0.2, 0.3, 2) == pytest.approx(1.7918, abs=5e-5)
    assert binary_chain_curve(0.2, 0.3, 60).direction == "upper bound"


@pytest.mark.parametrize(
    ("epsilon", "total", "b", "split_first"),
    [(0.5, 0.0498, 7, 0.0388), (1.0, 0.1254, 5, 0.0907), (3.0, 0.8028, 1, 0.3761)],
)
def test_budgets_pay_the_influence_once(epsilon, total, b, split_first):
    curve = chain_curve(binary(0.6, 0.8), 60)
    budget = curve.budget(epsilon)
    assert budget.total == pytest.approx(total, abs=5e-5)
    assert budget.high_influence == b
    assert 3 * curve.budget(epsilon / 3).total == pytest.approx(split_first, abs=5e-5)


@pytest.mark.parametrize(
    ("pq", "bound", "loss"),
    [((0.6, 0.8), 1.1866, 0.4444), ((0.5, 0.55), 0.4107, 0.2211), ((0.9, 0.9), 1.2, 0.8733)],
)
def test_the_exact_loss_of_randomised_response_is_below_theorem_three(pq, bound, loss):
    chain = binary(*pq)
    table = chain_table(chain.transition, chain.first_law, 6)
    assert chain_curve(chain, 6).pufferfish_epsilon(0.2) == pytest.approx(bound, abs=5e-5)
    assert randomized_response_loss(table, 0.2) == pytest.approx(loss, abs=5e-5)


@settings(max_examples=30, deadline=None)
@given(small_chains, st.floats(0.05, 2))
def test_theorem_three_covers_the_exact_loss_of_randomised_response(case, epsilon):
    seed, (size, length), sparsity = case
    transition, initial = random_chain(seed, size, sparsity)
    table = chain_table(transition, initial, length)
    if not list(secret_pairs(table)):
        return
    curve = chain_curve(MarkovChain(transition=transition, initial=initial), length)
    loss = randomized_response_loss(table, epsilon)
    assert loss <= curve.pufferfish_epsilon(epsilon) + 1e-9


def test_theorem_three_is_tight_where_the_chain_never_moves():
    table = chain_table(np.eye(2), np.array([0.5, 0.5]), 5)
    curve = chain_curve(MarkovChain(transition=np.eye(2)), 5)
    assert curve.values.tolist() == [np.inf] * 5 + [0.0]
    assert curve.pufferfish_epsilon(0.3) == pytest.approx(1.5)
    assert randomized_response_loss(table, 0.3) == pytest.approx(1.5)


def test_independent_cells_have_no_influence_beyond_themselves():
    curve = chain_curve(MarkovChain(transition=np.tile([0.2, 0.5, 0.3], (3, 1))), 12)
    assert curve.values[0] == np.inf
    assert curve.values[1:] == pytest.approx(np.zeros(12), abs=1e-12)


def test_the_trivial_cases_are_values_and_not_errors():
    assert chain_curve(MarkovChain(transition=np.ones((1, 1))), 4).values.tolist() == [0.0] * 5
    assert chain_curve(binary(0.6, 0.8), 1).values.tolist() == [np.inf, 0.0]
    cycle = MarkovChain(transition=np.roll(np.eye(3), 1, axis=1))
    assert chain_curve(cycle, 6).values.tolist() == [np.inf] * 6 + [0.0]


def test_a_chain_that_starts_in_a_known_state_has_no_secret_in_its_first_cell():
    chain = binary(0.6, 0.8, initial=np.array([1.0, 0.0]))
    table = chain_table(chain.transition, chain.first_law, 2)
    np.testing.assert_allclose(chain_curve(chain, 2).values, influence_curve([table]), atol=1e-12)


def test_underflowing_powers_err_towards_more_influence():
    # Two steps pass through 1e-200 twice: the product underflows, the event is possible.
    matrix = np.array([[1 - 1e-200, 1e-200, 0], [0, 1 - 1e-200, 1e-200], [0.5, 0, 0.5]])
    curve = chain_curve(MarkovChain(transition=matrix, initial="free"), 9)
    assert not np.isnan(curve.values).any()
    assert curve.at(3) == np.inf


def test_bad_lengths_are_refused():
    with pytest.raises(ValueError, match="lengths must be a whole number"):
        chain_curve(binary(0.6, 0.8), [3, 0])
    with pytest.raises(ValueError, match="lengths must not be empty"):
        chain_curve(binary(0.6, 0.8), [])


@pytest.mark.parametrize(("stay", "length"), [(0.995, 1500), (0.9, 200), (0.6, 200)])
def test_the_curve_is_tabulated_as_far_as_it_matters(stay, length):
    chain = binary(stay, stay)
    curve, whole = chain_curve(chain, length), chain_curve(chain, length, b_max=length)
    for epsilon in (0.05, 0.3, 1.0):
        assert curve.budget(epsilon).total == pytest.approx(whole.budget(epsilon).total, rel=1e-9)
    assert curve.values.size == (length + 1 if stay == 0.995 else 2 * 64 + 1 if stay == 0.9 else 33)
