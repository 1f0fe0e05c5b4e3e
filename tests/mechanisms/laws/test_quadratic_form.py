import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.quadratic_form import quadratic_form


@given(seed=st.integers(0, 10**6), m=st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_it_is_the_inverse_form_in_any_units(seed, m):
    rng = np.random.default_rng(seed)
    root, vector = rng.standard_normal((m, m + 2)), rng.standard_normal(m)
    covariance = root @ root.T
    expected = vector @ np.linalg.solve(covariance, vector)
    units = 10.0 ** rng.uniform(-8, 8, size=m)
    for unit in (np.ones(m), units):
        got = quadratic_form(unit * vector, covariance * np.outer(unit, unit))
        assert got == pytest.approx(expected, rel=1e-8)


@given(seed=st.integers(0, 10**6), m=st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_a_singular_covariance_measures_its_range_and_is_infinite_off_it(seed, m):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((m, m - 1))
    inside, outside = root @ rng.standard_normal(m - 1), rng.standard_normal(m)
    expected = inside @ np.linalg.pinv(root @ root.T) @ inside
    assert quadratic_form(inside, root @ root.T) == pytest.approx(expected, rel=1e-6)
    assert quadratic_form(outside, root @ root.T) == math.inf


def test_a_small_variance_is_not_mistaken_for_none():
    assert quadratic_form(np.array([1.0, 1e-8]), np.diag([1.0, 1e-20])) == pytest.approx(1e4 + 1)


def test_without_variance_only_zero_is_close():
    assert quadratic_form(np.zeros(2), np.zeros((2, 2))) == 0.0
    assert quadratic_form(np.array([0.0, 1e-300]), np.zeros((2, 2))) == math.inf
