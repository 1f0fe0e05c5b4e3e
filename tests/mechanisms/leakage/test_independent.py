import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.leakage.independent import IndependentReleases
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.composition import repeat_on_new_data
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import Approximate, Renyi

few = settings(max_examples=40, deadline=None)
laws = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(lambda w: np.array(w) / sum(w))


@few
@given(laws, laws, st.integers(1, 4))
def test_numbers_are_or_hold_those_of_the_product_laws(first, second, k):
    products = [first, second]
    for _ in range(k - 1):
        products = [
            np.outer(p, law).ravel() for p, law in zip(products, (first, second), strict=True)
        ]
    whole = FinitePair(*products)
    found = IndependentReleases(FinitePair(first, second), k)
    for order in (0.5, 1.0, 3.0, math.inf):
        assert found.renyi(order).hi == pytest.approx(whole.renyi(order).hi, abs=1e-9)
    for number in (lambda p: p.delta(0.3), lambda p: p.epsilon(0.1), lambda p: p.accuracy()):
        assert number(found).lo - 1e-9 <= number(whole).hi <= number(found).hi + 1e-9
    assert found.epsilon(0.0).hi == pytest.approx(whole.epsilon(0.0).hi, abs=1e-9)


def claim(notion, bound):
    return Guarantee(notion=notion, bound=bound, theorem="t", assumptions=Assumptions())


def test_epsilons_and_deltas_add_up_on_new_data_whatever_the_prior():
    twice = repeat_on_new_data(claim(Approximate(delta=0.1), 0.5), 2)
    assert (twice.bound, twice.notion.delta) == (1.0, 0.2)
    assert repeat_on_new_data(claim(Renyi(order=2.0), 0.5), 3).bound == 1.5
    assert repeat_on_new_data(claim(Approximate(delta=0.5), 0.5), 2).bound == math.inf
    assert repeat_on_new_data(claim(Approximate(delta=0.5), 0.5), 1).bound == 0.5
