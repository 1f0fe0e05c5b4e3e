"""Many noisy releases of one number: against enumeration, the box of whole points, and draws."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.finite_channel import _by_count, _by_sequence
from mechanisms.leakage.integer_grid import geometric_lattice, laplace_lattice, repeated
from mechanisms.leakage.noisy_scalar import NoisedPoints
from mechanisms.leakage.repeated_line import geometric_line, laplace_line, largest_ratio
from mechanisms.privacy.bracket import NotComputableError

seeds = st.integers(0, 10**6)
NUMBERS = (lambda p: p.epsilon(0.0), lambda p: p.epsilon(0.1), lambda p: p.delta(0.2),
           lambda p: p.renyi(3.0), lambda p: p.accuracy())  # fmt: skip


def laws_of(rng, span=5, most=4):
    return [
        FiniteLaw(atoms=atoms.astype(float), weights=rng.dirichlet(np.ones(len(atoms))))
        for atoms in (rng.choice(span, rng.integers(1, most + 1), replace=False) for _ in range(2))
    ]


def log_ratio(laws, scale, releases):
    """The log likelihood ratio of releases (n, k), by definition."""
    logs = []
    for law in laws:
        far = np.abs(releases[:, :, None] - law.atoms).sum(axis=1) / scale
        logs.append(logsumexp(np.log(law.weights) - far, axis=1))
    return logs[0] - logs[1]


@given(seed=seeds, scale=st.floats(0.1, 5), k=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_the_largest_ratio_is_that_of_all_tables_of_values(seed, scale, k):
    rng = np.random.default_rng(seed)
    laws = laws_of(rng)
    values = np.unique(np.concatenate([law.atoms for law in laws]))
    tables = np.array(list(combinations_with_replacement(values, k)))
    listed = np.abs(log_ratio(laws, scale, tables)).max()
    assert largest_ratio(*laws, scale, k) == pytest.approx(listed, rel=1e-9, abs=2e-10)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_no_releases_show_more_also_far_apart_and_off_whole_numbers(seed):
    rng = np.random.default_rng(seed)
    scale, k = rng.uniform(0.3, 3), 30
    spread = [FiniteLaw(atoms=law.atoms * 1.7, weights=law.weights) for law in laws_of(rng)]
    releases = rng.uniform(-4, 12, (400, k))
    found = largest_ratio(*spread, scale, k)
    assert np.abs(log_ratio(spread, scale, releases)).max() <= found + 1e-9


def test_ratios_beyond_the_range_of_floats_are_exact():
    zero, one = (FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0))
    assert largest_ratio(zero, one, 0.01, 100) == pytest.approx(1e4, rel=1e-9)
    # A mixture that holds the other's value: the ratio never exceeds 1 / weight one way.
    both = FiniteLaw(atoms=[0.0, 1.0], weights=[0.25, 0.75])
    assert largest_ratio(zero, both, 0.01, 100) == pytest.approx(1e4 + math.log(0.75), rel=2e-10)


@given(seed=seeds, scale=st.floats(0.2, 4), k=st.integers(2, 3))
@settings(max_examples=20, deadline=None)
def test_few_releases_agree_with_the_box_of_whole_points(seed, scale, k):
    laws = laws_of(np.random.default_rng(seed))
    boxed = [repeated(law, k) for law in laws]
    scales = np.full(k, scale)
    found, exact = geometric_line(*laws, scale, k), geometric_lattice(*boxed, scales)
    for number in NUMBERS:
        assert number(found).hi == pytest.approx(number(exact).hi, abs=1e-8)
    line, box = laplace_line(*laws, scale, k), laplace_lattice(*boxed, scales)
    assert 0 <= line.ratio - box.ratio + 1e-11 <= 2e-10 * max(1.0, box.ratio)
    for number in NUMBERS[1:]:  # two post-processings: each one's lower end is below both tops
        assert number(line).lo <= number(box).hi + 1e-9
        assert number(box).lo <= number(line).hi + 1e-9


@given(seed=seeds, scale=st.floats(0.2, 4))
@settings(max_examples=20, deadline=None)
def test_brackets_of_one_release_hold_the_closed_forms(seed, scale):
    laws = laws_of(np.random.default_rng(seed))
    found = laplace_line(*laws, scale, 1)
    exact = NoisedPoints(first=laws[0], second=laws[1], noise="laplace", scale=scale)
    for number in NUMBERS:
        assert number(found).lo - 1e-7 <= number(exact).hi <= number(found).hi + 1e-7


def test_more_releases_never_show_less():
    laws = laws_of(np.random.default_rng(3), span=9, most=6)
    for compare in (laplace_line, geometric_line):
        pairs = [compare(*laws, 2.0, k) for k in (1, 2, 5, 20, 100)]
        for number in (NUMBERS[0], NUMBERS[4]):
            assert np.all(np.diff([number(pair).hi for pair in pairs]) >= -1e-12)


def test_lower_ends_of_many_releases_come_near_certainty():
    zero = FiniteLaw(atoms=[0.0, 1.0], weights=[0.9, 0.1])
    one = FiniteLaw(atoms=[1.0, 2.0], weights=[0.1, 0.9])
    lows = [laplace_line(zero, one, 3.0, k).accuracy().lo for k in (1, 10, 100, 1000)]
    assert np.all(np.diff(lows) > 0)
    assert lows[-1] > 0.94
    assert laplace_line(zero, one, 3.0, 1000).accuracy().hi <= 1


@given(seed=seeds, n=st.integers(2, 4), k=st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_tables_by_count_are_those_by_sequence(seed, n, k):
    rng = np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        channel = np.log(rng.dirichlet(np.ones(n), 3) * (rng.random((3, n)) < 0.8))
    found = []
    for listing in (_by_count, _by_sequence):
        joint, orders = listing(n, k)
        found.append(np.sort(joint(channel) + orders, axis=1))
    assert np.exp(found[0]) == pytest.approx(np.exp(found[1]), abs=1e-12)


def test_too_many_values_are_said():
    wide = FiniteLaw(atoms=np.arange(3000.0), weights=np.full(3000, 1 / 3000))
    with pytest.raises(NotComputableError, match="3000 values in 100 releases are more than"):
        laplace_line(wide, wide, 1.0, 100)


def test_a_hundred_values_in_a_hundred_releases_take_the_ratio_of_the_ends():
    """Two bells: the ratio of densities rises with every release, up to that of all at an end."""
    x = np.arange(101.0)
    bells = [np.exp(-0.5 * ((x - middle) / 10) ** 2) for middle in (50, 51)]
    laws = [FiniteLaw(atoms=x, weights=bell / bell.sum()) for bell in bells]
    ends = np.array([[x[0]] * 100, [x[-1]] * 100])
    expected = np.abs(log_ratio(laws, 8.0, ends)).max()
    assert largest_ratio(*laws, 8.0, 100) == pytest.approx(expected, rel=1e-9)
