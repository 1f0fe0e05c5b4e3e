import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from mechanisms.laws.closeness import w_delta_closeness
from mechanisms.laws.finite import FiniteLaw

ATOMS = [1.0, 2.0, 3.0, 100.0]
MU = FiniteLaw(atoms=ATOMS, weights=[0.6, 0.2, 0.0, 0.2])
NU = FiniteLaw(atoms=ATOMS, weights=[0.4, 0.3, 0.2, 0.1])


def unmoved_by_linear_program(first, second, distance):
    x, y = (law.atoms.reshape(len(law.weights), -1) for law in (first, second))
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
        atoms=support if dimension > 1 else support[:, 0], weights=counts / counts.sum()
    )


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
    distance = w_delta_closeness(first, second, delta=delta)
    assert unmoved_by_linear_program(first, second, distance) <= delta + 1e-9
    if distance > 0:  # a mass of exactly delta may count as too much
        assert unmoved_by_linear_program(first, second, distance - 0.5) > max(delta - 1e-9, 1e-9)


def test_the_published_example():
    assert w_delta_closeness(MU, NU, delta=0.0) == 97.0
    assert w_delta_closeness(MU, NU, delta=0.1 + 1e-9) == 1.0
    assert w_delta_closeness(MU, NU, delta=0.3 + 1e-9) == 0.0


def test_what_is_left_counts_as_too_much_where_it_is_delta_up_to_rounding():
    assert w_delta_closeness(MU, NU, delta=0.1) == 97.0
    assert w_delta_closeness(MU, NU, delta=0.1 - 1e-9) == 97.0


@pytest.mark.parametrize("tiny", [5e-13, 1e-15, 1e-30])
@pytest.mark.parametrize("delta", [0.0, 1e-13, 1e-12])
@pytest.mark.parametrize("plane", [False, True])
def test_an_atom_counts_however_little_it_weighs(tiny, delta, plane):
    if plane:
        pytest.importorskip("ot")
    shape = (-1, 1) if plane else (-1,)
    axes = np.array([1.0, 0.0]) if plane else 1.0
    p = FiniteLaw(
        atoms=np.reshape([0.0, 1.0, 100.0], shape) * axes, weights=[0.5, 0.5 - tiny, tiny]
    )
    q = FiniteLaw(atoms=np.reshape([0.0, 1.0], shape) * axes, weights=[0.4, 0.6])
    assert w_delta_closeness(p, q, delta=delta) == w_delta_closeness(q, p, delta=delta) == 99.0
    assert w_delta_closeness(p, q, delta=2e-12) == 1.0


def test_a_rare_far_atom_is_dropped_once_delta_allows():
    p = FiniteLaw(atoms=[0.0, 1.0, 10.0], weights=[0.59, 0.4, 0.01])
    q = FiniteLaw(atoms=[0.0, 1.0, 10.0], weights=[0.6, 0.4 - 1e-9, 1e-9])
    assert w_delta_closeness(p, q, delta=0.0099) == 9  # .01 - 1e-9 must leave the far atom
    assert w_delta_closeness(p, q, delta=0.0101) == 0


def test_weights_that_sum_up_with_rounding_errors_move_completely():
    tenths = FiniteLaw(atoms=np.arange(10.0), weights=np.full(10, 0.1))
    moved = FiniteLaw(atoms=np.arange(10.0) + 0.1, weights=np.full(10, 0.1))
    assert w_delta_closeness(tenths, moved, delta=0.0) == pytest.approx(0.1)


def test_without_the_transport_library_vectors_are_refused_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    plane = random_law(0, 2)
    for delta in (0.0, 0.1):
        with pytest.raises(ImportError, match=r"needs POT: pip install .*\[transport\]$"):
            w_delta_closeness(plane, random_law(1, 2), delta=delta)
    assert w_delta_closeness(MU, NU, delta=0.0) == 97.0
