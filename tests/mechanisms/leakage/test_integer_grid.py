"""Noise on whole-number answers: the table against brute force and against the line's formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import (
    geometric_lattice,
    laplace_lattice,
    whole_numbers,
)
from mechanisms.leakage.noisy_scalar import NoisedPoints
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError

seeds = st.integers(0, 10**6)


def random_laws(rng, dimension):
    laws = []
    for _ in range(2):
        support = np.unique(rng.integers(-3, 4, size=(rng.integers(1, 5), dimension)), axis=0)
        laws.append(FiniteLaw(atoms=support, weights=rng.dirichlet(np.ones(len(support)))))
    return laws


def mixture(law, scales, points):
    distance = np.abs(points[:, None] - law.atoms[None]) / scales
    return np.exp(-distance.sum(axis=2)) @ law.weights


@given(seed=seeds, scale=st.floats(0.2, 5))
@settings(max_examples=30, deadline=None)
def test_on_the_line_laplace_numbers_agree_with_their_closed_forms(seed, scale):
    rng = np.random.default_rng(seed)
    laws = random_laws(rng, 1)
    found = laplace_lattice(*laws, np.array([scale]))
    exact = NoisedPoints(
        first=FiniteLaw(atoms=laws[0].atoms[:, 0], weights=laws[0].weights),
        second=FiniteLaw(atoms=laws[1].atoms[:, 0], weights=laws[1].weights),
        noise="laplace", scale=scale,
    )  # fmt: skip
    assert found.epsilon(0.0).hi == pytest.approx(exact.epsilon(0.0).hi, abs=1e-9)
    for bracket, value in (
        (found.accuracy(), exact.accuracy().hi),
        (found.delta(0.3), exact.delta(0.3).hi),
        (found.renyi(2.0), exact.renyi(2.0).hi),
        (found.epsilon(0.05), exact.epsilon(0.05).hi),
    ):
        assert bracket.lo - 1e-7 <= value <= bracket.hi + 1e-7


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_no_point_of_the_plane_shows_more_than_the_lattice(seed):
    rng = np.random.default_rng(seed)
    laws, scales = random_laws(rng, 2), rng.uniform(0.3, 3, 2)
    points = rng.uniform(-6, 6, size=(4000, 2))
    seen = np.log(mixture(laws[0], scales, points)) - np.log(mixture(laws[1], scales, points))
    found = laplace_lattice(*laws, scales).epsilon(0.0).hi
    assert np.abs(seen).max() <= found + 1e-9
    corners = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 2), axis=-1).reshape(-1, 2).astype(float)
    at = np.log(mixture(laws[0], scales, corners)) - np.log(mixture(laws[1], scales, corners))
    assert np.abs(at).max() == pytest.approx(found, abs=1e-9)


@given(seed=seeds, dimension=st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_geometric_numbers_are_those_of_a_long_list_of_outputs(seed, dimension):
    rng = np.random.default_rng(seed)
    laws, scales = random_laws(rng, dimension), rng.uniform(0.4, 1.0, dimension)
    axis = np.arange(-25, 26)
    points = np.stack(np.meshgrid(*[axis] * dimension), axis=-1).reshape(-1, dimension)
    norm = np.prod(np.tanh(0.5 / scales))
    listed = FinitePair(*(norm * mixture(law, scales, points.astype(float)) for law in laws))
    found = geometric_lattice(*laws, scales)
    assert found.first.sum() == pytest.approx(1)
    for ask in (lambda p: p.delta(0.2), lambda p: p.accuracy(), lambda p: p.renyi(3.0),
                lambda p: p.epsilon(0.0)):  # fmt: skip
        assert ask(found).hi == pytest.approx(ask(listed).hi, abs=1e-7)


@given(seed=seeds, scale=st.floats(0.05, 5))
@settings(max_examples=30, deadline=None)
def test_geometric_and_laplace_noise_of_one_scale_have_the_same_pure_loss(seed, scale):
    laws = random_laws(np.random.default_rng(seed), 1)
    scales = np.array([scale])
    assert geometric_lattice(*laws, scales).epsilon(0.0).hi == pytest.approx(
        laplace_lattice(*laws, scales).epsilon(0.0).hi, abs=1e-9
    )


def test_tiny_scales_do_not_underflow():
    first = FiniteLaw(atoms=np.array([[0], [100]]), weights=np.array([0.5, 0.5]))
    second = FiniteLaw(atoms=np.array([[0], [99]]), weights=np.array([0.5, 0.5]))
    for pair in (laplace_lattice(first, second, np.array([0.001])),
                 geometric_lattice(first, second, np.array([0.001]))):  # fmt: skip
        assert pair.epsilon(0.0).hi == pytest.approx(1000.0)
        assert pair.renyi(math.inf).hi == pytest.approx(1000.0)


def test_answers_beyond_reach_say_why():
    whole = FiniteLaw(atoms=np.array([[0, 0], [1, 2]]), weights=np.array([0.5, 0.5]))
    halves = FiniteLaw(atoms=np.array([[0.5, 0]]), weights=np.array([1.0]))
    far = FiniteLaw(atoms=np.array([[10**4, 10**4]]), weights=np.array([1.0]))
    bell = GaussianLaw(mean=np.zeros(2), covariance=np.eye(2))
    for other, reason in ((halves, "whole-number"), (far, "cells"), (bell, "finitely many")):
        with pytest.raises(NotComputableError, match=reason):
            laplace_lattice(whole, other, np.ones(2))
    with pytest.raises(ValueError, match=r"whole numbers for geometric noise, got 0\.5"):
        whole_numbers(np.array([1.0, 0.5]))


def test_equal_laws_show_nothing_and_disjoint_ones_all():
    logs = np.log(np.array([0.5, 0.5]))
    same = FinitePair.from_logs(first=logs, second=logs)
    assert (same.epsilon(0.0).hi, same.renyi(2.0).hi, same.accuracy().hi) == (0.0, 0.0, 0.5)
    with np.errstate(divide="ignore"):
        apart = FinitePair.from_logs(first=np.log([1.0, 0.0]), second=np.log([0.0, 1.0]))
    assert apart.epsilon(0.0).hi == math.inf
    assert apart.accuracy().hi == 1.0


@pytest.mark.parametrize("order", [0.5, 1, 1.5, 8.0, np.inf])
def test_renyi_of_log_probabilities_is_that_of_probabilities_and_survives_underflow(order):
    first, second = np.log([0.2, 0.3, 0.5]), np.log([0.6, 0.3, 0.1])
    plain = FinitePair(np.exp(first), np.exp(second)).renyi(order).hi
    assert FinitePair.from_logs(first=first, second=second).renyi(order).hi == pytest.approx(
        plain, rel=1e-12
    )
    tails = [np.append(logs, tail) for logs, tail in ((first, -900.0), (second, -np.inf))]
    found = FinitePair.from_logs(first=tails[0], second=tails[1]).renyi(order).hi
    assert found == (pytest.approx(plain, rel=1e-12) if order < 1 else np.inf)
