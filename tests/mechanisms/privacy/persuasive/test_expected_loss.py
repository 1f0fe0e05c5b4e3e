"""The expectation version against divergences computed on their own."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from mechanisms.privacy.persuasive.expected_loss import (
    chi_squared_loss,
    f_divergence_loss,
    kullback_leibler_loss,
    renyi_loss,
)

SEEDS = st.integers(0, 2**32 - 1)


def pair(seed):
    rng = np.random.default_rng(seed)
    row, other = rng.dirichlet(np.ones(5), size=2)
    row = np.where(rng.random(5) < 0.3, 0.0, row)
    return (row / row.sum() if row.any() else np.full(5, 0.2)), other


@given(seed=SEEDS, order=st.sampled_from([0.5, 1.0, 2.0, 7.5, math.inf]))
@settings(max_examples=80, deadline=None)
def test_the_limit_is_the_divergence(seed, order):
    p, q = pair(seed)
    seen = p > 0
    if order == 1:
        expected = rel_entr(p, q).sum()
    elif math.isinf(order):
        expected = math.log((p[seen] / q[seen]).max())
    else:
        expected = math.log((p[seen] ** order * q[seen] ** (1 - order)).sum()) / (order - 1)
    assert renyi_loss(p, q, q=0.0, order=order) == pytest.approx(expected, abs=1e-9)
    assert kullback_leibler_loss(p, q, q=0.0) == pytest.approx(rel_entr(p, q).sum(), abs=1e-9)
    # Outputs that the truth rules out count in the chi-squared divergence, though never seen.
    assert chi_squared_loss(p, q, q=0.0) == pytest.approx(((p - q) ** 2 / q).sum(), abs=1e-9)
    hellinger = f_divergence_loss(p, q, q=0.0, f=lambda t: (np.sqrt(t) - 1) ** 2, slope=1.0)
    assert hellinger == pytest.approx(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(), abs=1e-9)


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_the_loss_is_largest_in_the_limit(seed):
    row, other = pair(seed)
    masses = np.linspace(0, 1, 12)
    for loss in (
        lambda q: kullback_leibler_loss(row, other, q=q),
        lambda q: chi_squared_loss(row, other, q=q),
        lambda q: renyi_loss(row, other, q=q, order=3.0),
    ):
        values = np.array([loss(q) for q in masses])
        assert (np.diff(values) <= 1e-12).all()
        assert values[-1] == pytest.approx(0.0, abs=1e-12)


def test_mass_that_the_alternative_misses_is_infinite_or_the_recession_slope():
    row, other = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    assert renyi_loss(row, other, q=0.0, order=2.0) == math.inf
    assert renyi_loss(row, other, q=0.0, order=1.0) == math.inf
    assert kullback_leibler_loss(row, other, q=0.0) == math.inf
    assert chi_squared_loss(row, other, q=0.0) == math.inf
    half = f_divergence_loss(row, other, q=0.0, f=lambda t: np.abs(t - 1) / 2, slope=0.5)
    assert half == pytest.approx(0.5)  # total variation
    assert math.isfinite(renyi_loss(row, other, q=1e-6, order=2.0))


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="q must be"):
        renyi_loss(np.ones(1), np.ones(1), q=-0.1, order=2.0)
    with pytest.raises(ValueError, match="order must be"):
        renyi_loss(np.ones(1), np.ones(1), q=0.1, order=0.0)
