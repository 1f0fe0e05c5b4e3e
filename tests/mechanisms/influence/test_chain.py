import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import (
    MarkovChain,
    stationary_law,
    stationary_laws,
    transition_matrix,
)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6), st.floats(0, 0.7))
def test_stationary_laws_are_left_fixed_by_the_chain(size, seed, sparsity):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(size), size) * (rng.random((size, size)) >= sparsity)
    matrix += np.diag(matrix.sum(axis=1) == 0)
    matrix /= matrix.sum(axis=1, keepdims=True)
    laws = stationary_laws(matrix)
    np.testing.assert_allclose(laws @ matrix, laws, atol=1e-12)
    np.testing.assert_allclose(laws.sum(axis=1), 1, atol=1e-12)
    # As many as the dimension of the fixed space.
    fixed = np.sum(np.abs(np.linalg.eigvals(matrix) - 1) < 1e-8)
    assert len(laws) == fixed


def test_tiny_stationary_masses_keep_their_relative_accuracy():
    law = stationary_law(np.array([[1 - 1e-20, 1e-20], [0.5, 0.5]]))
    assert law[1] == pytest.approx(2e-20, rel=1e-12)


def test_the_stationary_law_of_the_three_state_chain():
    law = stationary_law(np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
    assert law.round(6).tolist() == [0.238095, 0.428571, 0.333333]


def test_many_stationary_laws_are_said_in_one_line_or_all_returned():
    assert stationary_laws(np.eye(3)).tolist() == np.eye(3).tolist()
    with pytest.raises(ValueError, match="one closed class of states, got 3") as error:
        stationary_law(np.eye(3))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], r"rows must sum to 1, got 0.9 in row 0"),
        ([[0.5, 0.5], [0.0, 0.0]], r"rows must sum to 1, got 0 in row 1"),
        ([[1.2, -0.2], [0.5, 0.5]], r"non-negative, got -0.2 in row 0, column 1"),
        ([[0.5, 0.5]], r"square matrix, got shape \(1, 2\)"),
        ([[np.nan, 1.0], [0.5, 0.5]], "finite"),
        ([], "empty"),
    ],
)
def test_bad_matrices_are_refused_in_one_line(matrix, message):
    with pytest.raises(ValueError, match=message):
        transition_matrix(matrix)


def test_bad_initial_laws_are_refused():
    matrix = np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match="initial must be 'stationary', 'free'"):
        MarkovChain(transition=matrix, initial="uniform")
    with pytest.raises(ValueError, match="one entry per state"):
        MarkovChain(transition=matrix, initial=np.ones(3) / 3)
    with pytest.raises(ValueError, match="sum to 1"):
        MarkovChain(transition=matrix, initial=np.array([0.5, 0.4]))
