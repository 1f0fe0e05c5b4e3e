"""A claim under a true curve other than the assumed one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.datasets.sequences.chains import GivenChain
from bench.quantities.misspecified import MisspecifiedChain
from mechanisms.influence.markov import chain_curve

X = np.array([0.5, 1.0, 3.0])


def source(p, q):
    return GivenChain(transition=[[p, 1 - p], [1 - q, q]])


def worth(assumed, true, x=X, length=60):
    quantity = MisspecifiedChain(assumed=source(*assumed), actual=source(*true), length=length)
    return [b.hi for b in quantity.curve(np.asarray(x, dtype=float))]


def test_the_true_chain_itself_keeps_the_budget():
    assert worth((0.6, 0.8), (0.6, 0.8)) == pytest.approx(X)


def test_a_stronger_chain_costs_and_a_weaker_one_pays_back():
    stronger, weaker = worth((0.6, 0.8), (0.9, 0.9)), worth((0.6, 0.8), (0.5, 0.55))
    assert all(s > x > w for s, x, w in zip(stronger, X, weaker, strict=True))


chances = st.tuples(st.floats(0.1, 0.9), st.floats(0.1, 0.9))


@given(assumed=chances, true=chances, epsilon=st.floats(0.3, 6))
@settings(max_examples=25, deadline=None)
def test_the_formula_and_its_upper_bound(assumed, true, epsilon):
    """``inf_b a2(b) + b (eps - a1(b*)) / b*``, at most ``eps + a2(b*) - a1(b*)``."""
    first, second = (chain_curve(source(*c).chain, 20, b_max=20) for c in (assumed, true))
    sizes = range(1, 21)
    share, star = max(((epsilon - first.at(b)) / b, b) for b in sizes)
    expected = min(second.at(b) + b * share for b in sizes)
    (found,) = worth(assumed, true, [epsilon], length=20)
    assert found == pytest.approx(expected, rel=1e-6)
    assert found <= epsilon + second.at(star) - first.at(star) + 1e-6


def test_bad_parameters_are_one_line():
    with pytest.raises(ValueError, match="length must be a whole number"):
        MisspecifiedChain(assumed=source(0.6, 0.8), actual=source(0.6, 0.8), length=0)
    with pytest.raises(ValueError, match="epsilon must be in"):
        worth((0.6, 0.8), (0.6, 0.8), [0.0])
