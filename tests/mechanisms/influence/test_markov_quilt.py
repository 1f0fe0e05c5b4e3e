import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.markov_quilt import (
    approximate_scale,
    composed_epsilon,
    exact_scale,
    node_scales,
)
from mechanisms.influence.mixing import smallest_stationary_mass, spectral_gap
from mechanisms.influence.uncertainty import uncertainty_penalty
from tests.mechanisms.influence.brute_force import (
    chain_table,
    conditional,
    laplace_count_loss,
    secret_pairs,
)

THREE_STATES = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
# Rows q, p of P = [[1-q, q], [1-p, p]], 100 nodes, epsilon 1; scales printed by the public code
# of Song, Wang, Chaudhuri (2017). q = p is an independent sequence.
PUBLISHED = [
    (0.1, 0.1, 1.0000, 12.9223),
    (0.1, 0.9, 31.7378, 49.2202),
    (0.2, 0.8, 13.0751, 23.9791),
    (0.5, 0.6, 1.8060, 10.2975),
    (0.8, 0.7, 3.2353, 11.7338),
]


def binary(p, q, initial="stationary"):
    return MarkovChain(transition=np.array([[p, 1 - p], [1 - q, q]]), initial=initial)


def approximate(matrix, length, epsilon):
    return approximate_scale(
        smallest_stationary_mass(matrix), spectral_gap(matrix), length, epsilon
    )


@pytest.mark.parametrize(("q", "p", "exact", "rough"), PUBLISHED)
def test_scales_equal_those_of_the_authors_code(q, p, exact, rough):
    chain = binary(1 - q, p)
    assert exact_scale([chain], 100, 1.0) == pytest.approx(exact, abs=5e-5)
    assert approximate(chain.transition, 100, 1.0) == pytest.approx(rough, abs=5e-5)


def test_all_initial_laws_cost_what_the_authors_code_says():
    assert exact_scale([binary(0.9, 0.9, "free")], 100, 1.0) == pytest.approx(33.6293, abs=5e-5)


@pytest.mark.parametrize(
    ("epsilon", "exact", "rough"),
    [(0.5, 20.0994, 40.3623), (1, 7.9767, 17.2586), (2, 2.7372, 7.2418), (3, 1.2457, 4.2187)],
)
def test_scales_of_the_binary_chain(epsilon, exact, rough):
    chain = binary(0.6, 0.8)
    assert exact_scale([chain], 100, epsilon) == pytest.approx(exact, abs=5e-5)
    assert approximate(chain.transition, 100, epsilon) == pytest.approx(rough, abs=5e-5)
    assert spectral_gap(chain.transition) == pytest.approx(1.2)
    assert smallest_stationary_mass(chain.transition) == pytest.approx(1 / 3)


def test_scales_of_other_binary_chains():
    assert exact_scale([binary(0.6, 0.8)], 10, 1.0) == pytest.approx(7.9767, abs=5e-5)
    assert approximate(binary(0.6, 0.8).transition, 10, 1.0) == pytest.approx(10)
    assert exact_scale([binary(0.5, 0.55)], 100, 1.0) == pytest.approx(1.2670, abs=5e-5)
    assert approximate(binary(0.5, 0.55).transition, 100, 1.0) == pytest.approx(9.6107, abs=5e-5)


@pytest.mark.parametrize(
    ("epsilon", "exact", "rough"), [(1, 8.5847, 20), (2, 3.2573, 10), (5, 0.4678, 3.5630)]
)
def test_scales_of_the_three_state_chain_that_is_not_reversible(epsilon, exact, rough):
    assert exact_scale([MarkovChain(transition=THREE_STATES)], 20, epsilon) == pytest.approx(
        exact, abs=5e-5
    )
    assert approximate(THREE_STATES, 20, epsilon) == pytest.approx(rough, abs=5e-5)
    assert spectral_gap(THREE_STATES) == pytest.approx(0.827458, abs=1e-6)
    assert smallest_stationary_mass(THREE_STATES) == pytest.approx(0.238095, abs=1e-6)


def quilts_by_definition(tables, epsilon):
    """Scale from the definition: each quilt's influence from the joint laws."""
    n = tables[0].ndim
    scales = []
    for i in range(n):
        best = n / epsilon
        lefts = [*range(i), None]
        rights = [*range(i + 1, n), None]
        for left in lefts:
            for right in rights:
                quilt = [j for j in (left, right) if j is not None]
                if not quilt:
                    continue
                card = (n if right is None else right) - (-1 if left is None else left) - 1
                others = tuple(j for j in range(n) if j not in quilt)
                influence = 0.0
                for table in tables:
                    for node, s, t in secret_pairs(table):
                        if node != i:
                            continue
                        p = conditional(table, i, s).sum(axis=others)
                        q = conditional(table, i, t).sum(axis=others)
                        shown = (p > 0) | (q > 0)
                        with np.errstate(divide="ignore"):
                            ratio = np.abs(np.log(p[shown]) - np.log(q[shown]))
                        influence = max(influence, ratio.max())
                if influence < epsilon:
                    best = min(best, card / (epsilon - influence))
        scales.append(best)
    return np.array(scales)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(2, 6), (3, 5), (3, 4)]),
    st.floats(0.3, 6),
    st.integers(1, 2),
    st.sampled_from([0.0, 0.3]),
)
def test_every_nodes_scale_is_that_of_the_definition(seed, shape, epsilon, n_chains, sparsity):
    size, length = shape
    rng = np.random.default_rng(seed)
    chains = []
    for _ in range(n_chains):
        rows = rng.dirichlet(np.ones(size), size + 1) * (rng.random((size + 1, size)) >= sparsity)
        rows[rows.sum(axis=1) == 0, 0] = 1.0
        rows /= rows.sum(axis=1, keepdims=True)
        rows[-1] = (rows[-1] + 0.1) / (1 + 0.1 * size)
        chains.append(MarkovChain(transition=rows[:-1], initial=rows[-1]))
    tables = [chain_table(c.transition, c.first_law, length) for c in chains]
    if not all({i for i, _, _ in secret_pairs(x)} == set(range(length)) for x in tables):
        return  # a node that is known for sure has no secret
    expected = quilts_by_definition(tables, epsilon)
    np.testing.assert_allclose(node_scales(chains, length, epsilon), expected, rtol=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 60), st.floats(0.2, 8))
def test_the_approximate_scale_is_never_below_the_exact_one(seed, size, length, epsilon):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(size), size)
    for initial in ("stationary", "free"):
        chain = MarkovChain(transition=matrix, initial=initial)
        exact = exact_scale([chain], length, epsilon)
        assert approximate(matrix, length, epsilon) >= exact * (1 - 1e-9)
        assert exact <= length / epsilon


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.integers(1, 40), st.floats(0.2, 5))
def test_a_stationary_binary_chain_pays_what_its_curve_says(p, q, length, epsilon):
    curve = chain_curve(binary(p, q), length)
    scale = exact_scale([binary(p, q)], length, epsilon)
    # One value pair, and the middle node is the worst for every b.
    assert scale == pytest.approx(1 / curve.budget(epsilon).total, rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.floats(0.3, 4))
def test_the_longest_sequence_decides(seed, length, epsilon):
    chain = MarkovChain(transition=np.random.default_rng(seed).dirichlet(np.ones(3), 3))
    short = exact_scale([chain], length, epsilon)
    assert short <= exact_scale([chain], [length, length + 5], epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("pq", "epsilon", "loss"),
    [
        ((0.6, 0.8), 1.0, 0.2942),
        ((0.6, 0.8), 3.0, 1.8807),
        ((0.5, 0.55), 1.0, 0.8693),
        ((0.5, 0.55), 3.0, 2.9766),
    ],
)
def test_the_exact_loss_of_the_noisy_count_is_below_the_claim(pq, epsilon, loss):
    chain = binary(*pq)
    table = chain_table(chain.transition, chain.first_law, 10)
    scale = exact_scale([chain], 10, epsilon)
    assert laplace_count_loss(table, scale) == pytest.approx(loss, abs=2e-4)
    assert loss < epsilon


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.2, 4))
def test_the_noisy_count_never_loses_more_than_its_claim(p, q, first, epsilon):
    chain = binary(p, q, np.array([first, 1 - first]))
    table = chain_table(chain.transition, chain.first_law, 6)
    assert laplace_count_loss(table, exact_scale([chain], 6, epsilon)) <= epsilon + 1e-9


def test_half_the_scale_breaks_the_claim_where_the_chain_never_moves():
    chain = binary(1, 1, np.array([0.5, 0.5]))
    table = chain_table(chain.transition, chain.first_law, 6)
    scale = exact_scale([chain], 6, 1.0)
    assert laplace_count_loss(table, scale) == pytest.approx(1.0)
    assert laplace_count_loss(table, scale / 2) == pytest.approx(2.0)


@pytest.mark.parametrize("initial", ["stationary", "free", np.array([0.3, 0.7])])
def test_a_chain_that_never_moves_falls_back_to_the_trivial_quilt(initial):
    chain = MarkovChain(transition=np.eye(2), initial=initial)
    assert exact_scale([chain], 100, 2.0) == pytest.approx(50)
    assert approximate(np.eye(2), 100, 2.0) == pytest.approx(50)


def test_zero_transitions_give_the_trivial_quilt_and_never_nan():
    cycle = np.roll(np.eye(3), 1, axis=1)
    assert exact_scale([MarkovChain(transition=cycle)], 30, 1.0) == pytest.approx(30)
    assert approximate(cycle, 30, 1.0) == pytest.approx(30)


def test_several_chains_cost_at_least_the_worst_of_them():
    chains = [binary(0.9, 0.9), binary(0.6, 0.8)]
    together = exact_scale(chains, 100, 1.0)
    assert together >= max(exact_scale([chain], 100, 1.0) for chain in chains) * (1 - 1e-12)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(0.3, 3), st.integers(1, 5))
def test_joint_releases_pay_the_influence_once(p, q, epsilon, releases):
    chain = binary(p, q)
    scale = exact_scale([chain], 30, epsilon)
    joint = composed_epsilon([chain], 30, releases / scale)
    assert joint <= releases * epsilon * (1 + 1e-9)
    curve = chain_curve(chain, 30)
    assert joint == pytest.approx(curve.pufferfish_epsilon(releases / scale), rel=1e-7)


def test_three_equal_releases_cost_less_than_three_budgets():
    chain = binary(0.6, 0.8)
    scale = exact_scale([chain], 100, 1.0)
    joint = composed_epsilon([chain], 100, 3 / scale)
    assert joint < 3 - 2 * 0.3731  # the quilt of card 5, its influence .3732 paid once
    assert joint > 1.0


@pytest.mark.parametrize("uncertainty_on", ["joint", "conditional"])
def test_an_uncertain_prior_raises_every_quilt_but_the_trivial_one(uncertainty_on):
    chain = binary(0.6, 0.8)
    extra = uncertainty_penalty(0.2, uncertainty_on)
    assert exact_scale([chain], 100, extra + 1.0, uncertainty_penalty=extra) == pytest.approx(
        exact_scale([chain], 100, 1.0)
    )
    # At or below the floor only group privacy of all entries remains.
    assert exact_scale([chain], 100, extra, uncertainty_penalty=extra) == pytest.approx(100 / extra)


@pytest.mark.parametrize("epsilon", [0, np.nan, np.inf, -1.0])
def test_a_scale_needs_a_positive_finite_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon must be in"):
        exact_scale([binary(0.6, 0.8)], 10, epsilon)


def test_chains_of_different_states_are_refused():
    with pytest.raises(ValueError, match="share their states"):
        exact_scale([binary(0.6, 0.8), MarkovChain(transition=THREE_STATES)], 10, 1.0)
