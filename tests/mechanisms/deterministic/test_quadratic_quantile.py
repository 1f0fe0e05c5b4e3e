"""Quantiles of quadratic forms against simulation and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, ncx2

from mechanisms.deterministic.quadratic_quantile import quadratic_quantile


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5), delta=st.sampled_from([0.3, 0.01]))
@settings(max_examples=25, deadline=None)
def test_the_tail_beyond_it_is_delta(seed, k, delta):
    rng = np.random.default_rng(seed)
    factor, offset, draws = rng.normal(size=(k, k)), rng.normal(0, 2, k), 100_000
    q = quadratic_quantile(offset, factor @ factor.T, delta=delta)
    lengths = ((offset + rng.normal(size=(draws, k)) @ factor.T) ** 2).sum(axis=1)
    share, noise = (lengths > q).mean(), 6 * math.sqrt(delta / draws)
    assert share <= delta + noise
    # Sharp, unless one direction is so thin that the mixture is cut off.
    if np.linalg.cond(factor) < 10:
        assert share >= delta - noise


def test_closed_forms():
    assert quadratic_quantile(np.zeros(3), np.eye(3), delta=0.01) == pytest.approx(
        chi2.isf(0.01, 3)
    )
    shifted = quadratic_quantile(np.array([2.0]), np.array([[4.0]]), delta=0.01)
    assert shifted == pytest.approx(4 * ncx2.ppf(0.99, 1, 1.0))
    assert quadratic_quantile(np.array([3.0, 4.0]), np.zeros((2, 2)), delta=0.0) == 25.0
    assert quadratic_quantile(np.array([3.0, 4.0]), np.diag([1.0, 0]), delta=0.0) == math.inf
    # Two exponentials: scales a, b, each twice: P(Q > q) is a difference of exponentials.
    a, b = 2.0, 1.0
    q = quadratic_quantile(np.zeros(4), np.diag([a, a, b, b]), delta=1e-3)
    tail = (a * math.exp(-q / (2 * a)) - b * math.exp(-q / (2 * b))) / (a - b)
    assert tail == pytest.approx(1e-3, rel=1e-6)
    assert tail <= 1e-3


def test_a_thin_direction_falls_back_to_an_upper_bound():
    covariance, offset = np.diag([1.0, 1e-7]), np.array([1.0, 2.0])
    q = quadratic_quantile(offset, covariance, delta=0.01)
    nearly = 4.0 + ncx2.ppf(0.99, 1, 1.0)
    assert nearly <= q <= 1.5 * nearly


@pytest.mark.parametrize("unit", [1e-5, 1e-3, 1e3])
def test_units_change_nothing(unit):
    """Two scales, tiny or large: the quantile is that of unit scale, times the unit squared."""
    at_one = quadratic_quantile(np.array([0.5, 0.2]), np.diag([2.0, 1.0]), delta=0.9)
    found = quadratic_quantile(
        np.array([0.5, 0.2]) * unit, np.diag([2.0, 1.0]) * unit**2, delta=0.9
    )
    assert found == pytest.approx(at_one * unit**2, rel=1e-9)
