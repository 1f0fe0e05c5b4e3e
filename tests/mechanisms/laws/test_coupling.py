"""Couplings on the line, against scipy and POT's exact linear program."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.coupling import (
    comonotone,
    comonotone_of_samples,
    largest_over_pairs,
    transport_length,
    wasserstein,
)
from mechanisms.laws.finite import FiniteLaw

SETTINGS = settings(max_examples=50, deadline=None)
samples = st.lists(st.integers(-8, 8).map(lambda k: k / 2), min_size=1, max_size=9)


def exact_w_infinity(x, y):
    """Largest difference of quantile functions, in rational arithmetic."""
    x, y = sorted(x), sorted(y)
    grid = {Fraction(i, len(x)) for i in range(len(x))} | {
        Fraction(j, len(y)) for j in range(len(y))
    }
    return max(abs(x[int(u * len(x))] - y[int(u * len(y))]) for u in grid)


def test_values_and_weights_cannot_be_confused():
    first, second = [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]
    as_values = FiniteLaw.of_sample(first), FiniteLaw.of_sample(second)
    as_weights = [FiniteLaw(atoms=[0, 1, 2, 3], weights=w) for w in (first, second)]
    assert wasserstein(*as_values, order=1) == 0
    assert wasserstein(*as_weights, order=1) == 2
    with pytest.raises(TypeError):
        FiniteLaw(first, second)


@pytest.mark.parametrize(
    "bad",
    [
        {"atoms": [0.0, math.nan], "weights": [0.5, 0.5]},
        {"atoms": [0.0, math.inf], "weights": [0.5, 0.5]},
        {"atoms": [], "weights": []},
        {"atoms": [0.0, 1.0], "weights": [0.0, 0.0]},
        {"atoms": [0.0, 1.0], "weights": [1.5, -0.5]},
        {"atoms": [0.0, 1.0], "weights": [math.nan, 1.0]},
        {"atoms": [0.0, 1.0, 2.0], "weights": [0.5, 0.5]},
    ],
)
def test_bad_laws_are_refused_in_one_line(bad):
    with pytest.raises(ValueError, match=r"^\w.*\.$") as error:
        FiniteLaw(**bad)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("values", [[], [math.nan], [1.0, -math.inf], [[1.0, 2.0]]])
def test_bad_samples_are_refused(values):
    with pytest.raises(ValueError, match="first"):
        comonotone_of_samples(values, [0.0])


@pytest.mark.parametrize("counts", [[0, 0], [-1, 2], [0.5, 0.5]])
def test_counts_must_be_whole_and_not_all_zero(counts):
    with pytest.raises(ValueError, match="counts must be whole"):
        FiniteLaw.of_counts(atoms=[0.0, 1.0], counts=counts)


def test_w2_is_a_distance_and_not_its_square():
    points = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 25.0)]
    assert wasserstein(*points, order=2) == 25


@SETTINGS
@given(samples, samples)
def test_w_infinity_of_samples_is_exact(x, y):
    expected = exact_w_infinity(x, y)
    laws = FiniteLaw.of_sample(x), FiniteLaw.of_sample(y)
    assert wasserstein(*laws, order=math.inf) == expected
    assert comonotone_of_samples(x, y).distances().max() == expected


@SETTINGS
@given(samples, samples)
def test_marginals_are_kept_and_w1_agrees_with_scipy(x, y):
    laws = FiniteLaw.of_sample(x), FiniteLaw.of_sample(y)
    for plan in (comonotone(*laws), comonotone_of_samples(x, y)):
        assert plan.weights.min() > 0
        for law, side in zip(laws, (plan.left, plan.right), strict=True):
            mass = [plan.weights[side == atom].sum() for atom in law.atoms]
            assert mass == pytest.approx(law.weights, abs=1e-14)
        expected = scipy.stats.wasserstein_distance(x, y)
        assert transport_length(plan, order=1) == pytest.approx(expected, abs=1e-12)


@SETTINGS
@given(samples, samples, st.sampled_from([1.0, 1.5, 2.0, 4.0]))
def test_comonotone_coupling_reaches_the_linear_programs_optimum(x, y, order):
    ot = pytest.importorskip("ot")
    p, q = FiniteLaw.of_sample(x), FiniteLaw.of_sample(y)
    costs = np.abs(np.subtract.outer(p.atoms, q.atoms)) ** order
    best = ot.emd2(p.weights, q.weights, costs) ** (1 / order)
    assert wasserstein(p, q, order=order) == pytest.approx(best, abs=1e-7)


@SETTINGS
@given(samples, st.randoms())
def test_a_law_does_not_depend_on_order_splitting_or_empty_atoms(x, random):
    weights = [random.randint(0, 4) for _ in x]
    weights[0] += 1
    scaled = np.array(weights) / sum(weights)
    law = FiniteLaw(atoms=x, weights=scaled)
    order = list(range(len(x)))
    random.shuffle(order)
    again = FiniteLaw(
        atoms=[*(x[k] for k in order), 99.0], weights=[*(scaled[k] for k in order), 0.0]
    )
    assert np.array_equal(law.atoms, again.atoms)
    assert np.array_equal(law.weights, again.weights)


def test_rounding_of_cumulative_weights_moves_no_mass():
    p = FiniteLaw(atoms=[0.0, 1.0, 50.0], weights=[0.1, 0.2, 0.7])
    q = FiniteLaw(atoms=[0.5, 50.0], weights=[0.3, 0.7])
    assert 0.1 + 0.2 != 0.3
    assert wasserstein(p, q, order=math.inf) == 0.5


@pytest.mark.parametrize("tiny", [1e-9, 1e-15, 1e-20, 1e-300])
def test_an_atom_of_tiny_weight_still_counts_for_w_infinity(tiny):
    p = FiniteLaw(atoms=[0.0, 1000.0], weights=[1 - tiny, tiny])
    q = FiniteLaw(atoms=[0.0], weights=[1.0])
    assert wasserstein(p, q, order=math.inf) == 1000
    assert wasserstein(q, p, order=math.inf) == 1000
    inner = FiniteLaw(atoms=[0.0, 1.0, 2.0], weights=[0.5, tiny, 0.5 - tiny])
    outer = FiniteLaw(atoms=[0.0, 2.0], weights=[0.5, 0.5])
    assert wasserstein(inner, outer, order=math.inf) >= 1


def test_lengths_do_not_overflow_at_large_orders_and_scales():
    p = FiniteLaw(atoms=[0.0, 1e8], weights=[0.5, 0.5])
    q = FiniteLaw(atoms=[1e8, 3e8], weights=[0.5, 0.5])
    assert wasserstein(p, q, order=1e4) == pytest.approx(2e8, rel=1e-4)


def test_several_pairs_take_the_largest_scale():
    assert largest_over_pairs([0.0, 3.0, 1.0]) == 3.0
    with pytest.raises(ValueError, match="scales must not be empty"):
        largest_over_pairs([])
