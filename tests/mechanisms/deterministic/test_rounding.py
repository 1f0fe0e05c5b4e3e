"""Rounded counts: what is released, what is claimed, and what one release excludes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.deterministic.rounding import RandomRounding, Rounding
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel
from mechanisms.privacy.persuasive.kappa_claim import compose
from mechanisms.privacy.persuasive.scores import LogScore

UNUSED = np.random.default_rng(0)


@given(base=st.integers(2, 9))
@settings(max_examples=8, deadline=None)
def test_limits_are_exactly_the_counts_that_round_so(base):
    counts = np.arange(60)
    rule = Rounding(base=base)
    released = rule.release(counts[None], UNUSED)[0]
    assert (np.abs(released - counts) * 2 <= base).all()
    low, high = rule.limits(released)
    for value in np.unique(released)[:-1]:
        at = released == value
        assert (low[at] == counts[at].min()).all()
        assert (high[at] == counts[at].max()).all()


def test_random_rounding_is_unbiased_within_its_limits():
    rule, counts = RandomRounding(base=5), np.arange(11)
    drawn = rule.release(np.tile(counts, (40_000, 1)), np.random.default_rng(1))
    # The widest spread is 2.5: 11 means within 5.5 standard errors.
    assert np.abs(drawn.mean(axis=0) - counts).max() < 5.5 * 2.5 / 200
    low, high = rule.limits(drawn)
    assert (low <= counts).all()
    assert (counts <= high).all()
    assert (drawn[:, ::5] == counts[::5]).all()
    assert (low[:, 1].min(), high[:, 1].max()) == (0, 9)
    assert isinstance(rule.guarantee, NoClaim)


def test_the_claim_of_deterministic_rounding_is_tight_and_composes():
    rng = np.random.default_rng(2)
    pmf = rng.dirichlet(np.ones(10))
    values = np.arange(10)
    released = Rounding(base=3).release(values[:, None], UNUSED)[:, 0]
    kernel = FiniteKernel(
        points=values[:, None].astype(float),
        probabilities=(released[:, None] == np.unique(released)).astype(float),
    )
    alpha = min(pmf[released == v].sum() for v in np.unique(released))
    claim = Rounding(base=3, alpha=alpha).guarantee
    assert kernel.kappa([LogScore()], pmf, delta=0.0) == pytest.approx(claim.bound)
    assert claim.bound == pytest.approx(-math.log(alpha))
    assert compose(claim, kernel, claim).bound == pytest.approx(2 * claim.bound)
    assert isinstance(Rounding(base=3).guarantee, NoClaim)
    assert "totals" in Rounding(base=3, alpha=0.5, margins=((0,),)).guarantee.reason


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Rounding(base=1), "base must be a whole number of at least 2"),
        (lambda: RandomRounding(base=0), "base must be"),
        (lambda: Rounding(base=3, alpha=2.0), "alpha must be"),
        (lambda: Rounding(base=3).release(np.array([[-1]]), UNUSED), "negative"),
        (lambda: RandomRounding(base=3).release(np.array([[0.5]]), UNUSED), "whole"),
    ],
)
def test_bad_input_is_told(build, message):
    with pytest.raises(ValueError, match=message):
        build()
