"""Couplings of laws whose tails are far below the rounding of 1."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.coupling import comonotone, wasserstein
from mechanisms.laws.finite import FiniteLaw


def binomial(n, share, shift=0):
    p = Fraction(share)
    exact = [Fraction(math.comb(n, k)) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    law = FiniteLaw(atoms=np.arange(n + 1.0) + shift, weights=[float(w) for w in exact])
    return law, exact


def largest_move(first, second, shift):
    """The infinity-Wasserstein distance by exact fractions."""
    ends = [np.cumsum(np.array(w, dtype=object)) for w in (first, second)]
    levels = sorted(set(ends[0]) | set(ends[1]))
    starts = [Fraction(0), *levels[:-1]]
    worst = 0
    for low, high in zip(starts, levels, strict=True):
        middle = (low + high) / 2
        i, j = (next(k for k, end in enumerate(e) if end > middle) for e in ends)
        worst = max(worst, abs(i - j - shift))
    return worst


@given(n=st.integers(2, 60), shares=st.tuples(st.integers(1, 15), st.integers(1, 15)),
       shift=st.integers(0, 2))  # fmt: skip
@settings(max_examples=30, deadline=None)
def test_the_largest_move_is_that_of_exact_fractions(n, shares, shift):
    first, exact_first = binomial(n, Fraction(shares[0], 16))
    second, exact_second = binomial(n, Fraction(shares[1], 16), shift)
    found = wasserstein(first, second, order=math.inf)
    assert found == largest_move(exact_first, exact_second, shift)
    coupled = comonotone(first, second)
    assert coupled.weights.sum() == pytest.approx(1)
    assert (coupled.weights > 0).all()


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_both_margins_are_kept_relative_to_their_tails(seed, n):
    rng = np.random.default_rng(seed)
    laws = []
    for _ in range(2):
        weights = np.exp(-rng.exponential(12, n))
        laws.append(FiniteLaw(atoms=np.arange(float(n)), weights=weights / weights.sum()))
    coupled = comonotone(*laws)
    for side, law in zip((coupled.left, coupled.right), laws, strict=True):
        mass = np.array([coupled.weights[side == atom].sum() for atom in law.atoms])
        # Both ends of an atom may move by the slack, relative to the tail that they lie in.
        tail = np.minimum(np.cumsum(law.weights), np.cumsum(law.weights[::-1])[::-1])
        assert (np.abs(mass - law.weights) <= 2 * (2 * n) * 2.0**-50 * tail).all()


def test_reversing_the_line_changes_nothing():
    first, _ = binomial(80, Fraction(1, 3))
    second, _ = binomial(80, Fraction(2, 5))
    mirrored = [FiniteLaw(atoms=-law.atoms, weights=law.weights) for law in (first, second)]
    assert wasserstein(first, second, order=math.inf) == wasserstein(*mirrored, order=math.inf)
