"""What adds up over releases, and what does not."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mechanisms.group_privacy import replaced_units
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.noisy_scalar import NoisedPoints
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.assumptions import Assumptions, Condition, Priors
from mechanisms.privacy.composition import compose, repeat
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.indistinguishability import (
    PURE,
    Approximate,
    DeltaApproximateRenyi,
    Renyi,
)

RECORD = replaced_units("record", 1)


def said(notion, bound, assumptions=RECORD):
    return Guarantee(notion=notion, bound=bound, theorem="t", assumptions=assumptions)


def test_renyi_epsilons_do_not_add_between_laws():
    """{0, 2} half and half against {1}, Gaussian sd 5, order 2: .00080 once, .00320 twice."""
    spread = FiniteLaw(atoms=[0.0, 2.0], weights=[0.5, 0.5])
    point = FiniteLaw(atoms=[1.0], weights=[1.0])

    def divergence(k):
        scale = 5 / math.sqrt(k)
        pair = NoisedPoints(first=spread, second=point, noise="gaussian", scale=scale)
        return pair.renyi(2.0).hi

    once, twice = divergence(1), divergence(2)
    assert once == pytest.approx(0.00080, abs=5e-6)
    assert twice == pytest.approx(0.00320, abs=5e-6)
    assert twice > 2 * once
    claims = [said(Renyi(order=2.0), once, Assumptions())] * 2
    refused = compose(claims)
    assert isinstance(refused, NotComparable)
    assert "single databases only" in refused.reason
    assert repeat(claims[0], 2).unbounded


def test_renyi_epsilons_add_between_points():
    points = [FiniteLaw(atoms=[x], weights=[1.0]) for x in (0.0, 1.0)]

    def divergence(k):
        scale = 5 / math.sqrt(k)
        pair = NoisedPoints(first=points[0], second=points[1], noise="gaussian", scale=scale)
        return pair.renyi(2.0).hi

    claims = [said(Renyi(order=2.0), divergence(1), Assumptions())] * 3
    found = compose(claims, point_masses=True)
    assert found.bound == pytest.approx(divergence(3), rel=1e-9)
    assert compose([said(Renyi(order=2.0), 0.1)] * 3).bound == pytest.approx(0.3)


def test_databases_compose_by_adding():
    rng = np.random.default_rng(0)
    for _ in range(50):
        pairs = [FinitePair(*rng.dirichlet(np.ones(3), size=2)) for _ in range(2)]
        joint = FinitePair(
            np.outer(pairs[0].first, pairs[1].first).ravel(),
            np.outer(pairs[0].second, pairs[1].second).ravel(),
        )
        for delta in (0.0, 0.02):
            notion = Approximate(delta=delta)
            found = compose([said(notion, pair.epsilon(delta).hi) for pair in pairs])
            assert found.notion.delta == pytest.approx(2 * delta)
            assert joint.delta(found.bound).hi <= 2 * delta + 1e-9


def test_pure_pufferfish_does_not_add_either():
    """Bai et al. (2026), Example 1: one run leaks nothing, two runs may leak all."""
    assert isinstance(compose([said(PURE, 0.0, Assumptions())] * 2), NotComparable)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ([said(PURE, 1.0), said(PURE, 1.0, replaced_units("record", 2))], "or priors differ"),
        ([said(PURE, 1.0), said(PURE, 1.0, replace(RECORD, priors=Priors.LAWS))], "priors differ"),
        ([said(Renyi(order=2.0), 1.0), said(Renyi(order=3.0), 1.0)], "no theorem"),
        ([said(PURE, 1.0), said(Renyi(order=2.0), 1.0)], "no theorem"),
        ([said(Approximate(delta=0.6), 1.0)] * 2, "vacuous"),
        ([said(DeltaApproximateRenyi(order=2.0, delta=0.1), 1.0)] * 2, "no theorem"),
    ],
)
def test_what_does_not_add_is_refused(claims, reason):
    assert reason in compose(claims).reason


def test_the_joint_release_assumes_what_any_of_its_releases_does():
    first = replace(RECORD, public=("a list of labels",), conditions=(Condition.SMALL_EPSILON,))
    found = compose([said(PURE, 1.0, first), said(PURE, 1.0)])
    assert set(found.assumptions.public) == {"a list of labels", *RECORD.public}
    assert found.assumptions.conditions == (Condition.SMALL_EPSILON,)


def test_repeating_a_silent_mechanism_stays_silent():
    assert repeat(NoClaim(reason="none"), 5) == NoClaim(reason="none")
    assert repeat(said(PURE, 0.5), 4).bound == pytest.approx(2.0)
    unbounded = repeat(said(PURE, 0.5, Assumptions()), 2)
    assert unbounded.unbounded
    assert unbounded.theorem.startswith("none: ")
