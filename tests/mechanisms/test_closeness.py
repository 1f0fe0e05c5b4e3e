import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from mechanisms.closeness import smallest_delta, smallest_distance
from mechanisms.laws import FiniteLaw

ATOMS = np.array([1.0, 2.0, 3.0, 100.0])
MU = FiniteLaw(support=ATOMS, weights=np.array([0.6, 0.2, 0.0, 0.2]))
NU = FiniteLaw(support=ATOMS, weights=np.array([0.4, 0.3, 0.2, 0.1]))


def unmoved_by_linear_program(first, second, distance):
    x, y = (
        np.asarray(law.support, dtype=float).reshape(len(law.weights), -1)
        for law in (first, second)
    )
    near = np.abs(x[:, None] - y[None]).sum(axis=-1) <= distance + 1e-12
    n, m = near.shape
    rows = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    result = linprog(
        -near.ravel().astype(float),
        A_eq=np.vstack(rows),
        b_eq=np.concatenate([first.weights, second.weights]),
    )
    assert result.status == 0
    return 1 + result.fun


def random_law(seed, dimension):
    rng = np.random.default_rng(seed)
    support = rng.integers(0, 6, size=(5, dimension)).astype(float)
    counts = rng.integers(0, 5, size=5) + (np.arange(5) == seed % 5)
    return FiniteLaw(
        support=support if dimension > 1 else support[:, 0], weights=counts / counts.sum()
    )


@given(seed=st.integers(0, 10**6), distance=st.integers(0, 8), dimension=st.sampled_from([1, 2]))
@settings(max_examples=50, deadline=None)
def test_the_unmoved_mass_is_that_of_the_linear_program(seed, distance, dimension):
    if dimension > 1:
        pytest.importorskip("ot")
    first, second = random_law(seed, dimension), random_law(seed + 1, dimension)
    expected = unmoved_by_linear_program(first, second, distance)
    assert smallest_delta(first, second, distance) == pytest.approx(expected, abs=1e-9)


@given(
    seed=st.integers(0, 10**6),
    delta=st.sampled_from([0.0, 0.05, 0.2, 0.6]),
    dimension=st.sampled_from([1, 2]),
)
@settings(max_examples=50, deadline=None)
def test_the_distance_suffices_and_no_shorter_one_does(seed, delta, dimension):
    if dimension > 1:
        pytest.importorskip("ot")
    first, second = random_law(seed, dimension), random_law(seed + 1, dimension)
    distance = smallest_distance(first, second, delta)
    assert unmoved_by_linear_program(first, second, distance) <= delta + 1e-9
    if distance > 0:
        assert unmoved_by_linear_program(first, second, distance - 0.5) > delta + 1e-9


def test_the_published_example():
    assert smallest_distance(MU, NU, 0.0) == 97.0
    assert smallest_distance(MU, NU, 0.1) == 1.0
    assert smallest_delta(MU, NU, 1.0) == pytest.approx(0.1)
    assert smallest_delta(MU, NU, 0.0) == pytest.approx(0.3)
    assert smallest_delta(MU, NU, 97.0) == pytest.approx(0.0, abs=1e-12)


def test_weights_that_sum_up_with_rounding_errors_move_completely():
    tenths = FiniteLaw(support=np.arange(10.0), weights=np.full(10, 0.1))
    moved = FiniteLaw(support=np.arange(10.0) + 0.1, weights=np.full(10, 0.1))
    assert smallest_distance(tenths, moved, 0.0) == pytest.approx(0.1)


def test_without_the_transport_library_vectors_are_refused_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    plane = random_law(0, 2)
    with pytest.raises(ImportError, match=r"needs POT: pip install .*\[transport\]$"):
        smallest_delta(plane, plane, 1.0)
    assert smallest_delta(MU, NU, 1.0) == pytest.approx(0.1)
