"""Releases accounted by the law of their loss: against closed forms and finite pairs."""

import builtins
import math

import numpy as np
import pytest

from mechanisms.group_privacy import GroupGaussian, GroupLaplace
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import geometric_lattice
from mechanisms.leakage.pair import GaussianShift
from mechanisms.privacy.accounting import laplace_epsilon
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.conversions import convert
from mechanisms.privacy.indistinguishability import (
    PURE,
    Approximate,
    DeltaApproximateRenyi,
    Probabilistic,
    Renyi,
)

RECORDS = Sensitivity(l1=1.0, l2=1.0, unit="record", size=4, dimension=1)
DELTA = Approximate(delta=1e-3)


@pytest.mark.parametrize("shift", [0.05, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-2, 0.2])
def test_one_release_has_its_closed_form(shift, delta):
    """``delta(eps) = 1 - e^((eps - shift)/2)``, so ``eps = shift + 2 log(1 - delta)``."""
    pytest.importorskip("dp_accounting")
    found = laplace_epsilon(shift, delta)
    exact = max(0.0, shift + 2 * math.log1p(-delta))
    assert exact <= found + 1e-12
    assert found == pytest.approx(exact, abs=1e-3 * shift)


@pytest.mark.parametrize("k", [2, 3])
def test_several_releases_agree_with_the_discrete_law_in_the_limit(k):
    """Two-sided geometric noise on a fine lattice, release by release."""
    pytest.importorskip("dp_accounting")
    steps, scale = 40, 40 / 0.8
    points = [FiniteLaw(atoms=[[float(x)] * k], weights=[1.0]) for x in (0, steps)]
    exact = geometric_lattice(*points, np.full(k, scale)).epsilon(0.05).hi
    found = laplace_epsilon(0.8, 0.05, k)
    assert found == pytest.approx(exact, rel=0.02)
    assert found < k * 0.8


@pytest.mark.parametrize("moved", [(1, 39), (13, 27), (20, 20)])
def test_a_move_along_one_coordinate_is_worst(moved):
    steps, scale = sum(moved), np.full(2, 40 / 0.8)
    at = [FiniteLaw(atoms=[[float(x) for x in y]], weights=[1.0]) for y in ((0, 0), moved)]
    one = [FiniteLaw(atoms=[[float(x)]], weights=[1.0]) for x in (0, steps)]
    spread, along = geometric_lattice(*at, scale), geometric_lattice(*one, scale[:1])
    for epsilon in (0.0, 0.2, 0.5, 0.7):
        assert spread.delta(epsilon).lo <= along.delta(epsilon).hi + 1e-12
    assert spread.delta(0.5).hi < along.delta(0.5).lo


def test_many_releases_cost_far_less_than_their_sum():
    pytest.importorskip("dp_accounting")
    once = GroupLaplace().calibrate(RECORDS, budget=Epsilon(epsilon=0.1))
    found = once.guarantee_in(DELTA, 100)
    assert "dp-accounting" in found.theorem
    basic = convert(once.repeated_guarantee(100), DELTA)
    assert found.bound < 0.5 * basic.bound
    # Never below the Gaussian limit of the loss (Dong, Roth and Su, 2022, Theorem 3.4), roughly.
    limit = GaussianShift(0.1 * 10).epsilon(1e-3).hi
    assert found.bound == pytest.approx(limit, rel=0.05)


def test_gaussian_noise_is_known_in_every_notion():
    budget = EpsilonDelta(epsilon=0.8, delta=1e-3)
    mechanism = GroupGaussian(calibration="analytic").calibrate(RECORDS, budget=budget)
    pair = GaussianShift(4 / float(np.sqrt(mechanism.variances()[0])) * math.sqrt(3))
    for notion in (Approximate(delta=1e-6), Renyi(order=4.0), Probabilistic(delta=0.01)):
        found = mechanism.guarantee_in(notion, 3)
        assert found.bound == pytest.approx(notion.of_pair(pair).hi, rel=1e-9)
    assert mechanism.guarantee_in(PURE, 1).unbounded
    assert mechanism.guarantee_in(DeltaApproximateRenyi(order=2.0, delta=0.1), 1) is None
    record = GroupGaussian(group=1).calibrate(RECORDS, budget=budget)
    assert record.guarantee_in(DELTA, 1) is None


def test_without_the_extra_basic_composition_remains_and_says_so(monkeypatch):
    original = builtins.__import__

    def missing(name, *arguments, **keywords):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return original(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", missing)
    mechanism = GroupLaplace().calibrate(RECORDS, budget=Epsilon(epsilon=0.1))
    found = mechanism.guarantee_in(DELTA, 5)
    once = convert(mechanism.repeated_guarantee(5), DELTA).bound
    assert found.bound == pytest.approx(once, rel=1e-9)
    assert "privacy-notions-bench[accounting]" in found.notes[0]
    assert mechanism.guarantee_in(PURE, 5).bound == pytest.approx(0.5)
    assert mechanism.guarantee_in(Renyi(order=2.0), 5) is None
