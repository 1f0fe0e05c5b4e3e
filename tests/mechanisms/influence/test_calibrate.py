"""Calibrations for chains: their scales, and claims that follow the noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.group_privacy import GroupLaplace
from mechanisms.influence.calibrate import (
    InfluenceExponential,
    InfluenceGeometric,
    InfluenceLaplace,
    InfluenceRandomisedResponse,
)
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.claim import InfluenceClaim, QuiltClaim
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.knowledge import (
    Candidates,
    ChainKnowledge,
    CurveKnowledge,
    EntryValues,
)
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.markov_quilt import approximate_composed_epsilon, composed_epsilon
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.influence.uncertainty import uncertain_curve, uncertainty_penalty
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.geometric import GeometricNoise
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.budget import Epsilon
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.sharing import calibrate as share

COUNT = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=100, dimension=1)
HISTOGRAM = Sensitivity(l1=2.0, l2=2**0.5, unit="entry", size=100, dimension=3)
BINARY = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
CHAIN = ChainKnowledge(chains=(BINARY,), lengths=(100,))
CURVE = CurveKnowledge(curve=chain_curve(BINARY, 100))
METHODS = st.sampled_from(["exact", "approximate"])


@pytest.mark.parametrize(
    ("epsilon", "exact", "rough"),
    [(0.5, 20.0994, 40.3623), (1, 7.9767, 17.2586), (2, 2.7372, 7.2418), (3, 1.2457, 4.2187)],
)
def test_quilt_scales_of_the_count_are_the_published_codes(epsilon, exact, rough):
    budget = Epsilon(epsilon=float(epsilon))
    for method, expected in (("exact", exact), ("approximate", rough)):
        mechanism = MarkovQuiltLaplace(method=method).calibrate(CHAIN, COUNT, budget=budget)
        assert mechanism.noise.scales == pytest.approx([expected], abs=5e-5)
        assert mechanism.guarantee.bound == pytest.approx(epsilon, abs=1e-9)
    laplace = InfluenceLaplace().calibrate(CURVE, COUNT, budget=budget)
    assert laplace.noise.scales == pytest.approx([exact], abs=5e-5)  # one pair is worst throughout


def test_histograms_pay_their_sensitivity():
    budget = Epsilon(epsilon=1.0)
    for calibration, known in ((MarkovQuiltLaplace(), CHAIN), (InfluenceGeometric(), CURVE)):
        one, three = (calibration.calibrate(known, s, budget=budget) for s in (COUNT, HISTOGRAM))
        assert three.noise.scales == pytest.approx(2 * one.noise.scales.repeat(3))
        assert three.guarantee.bound == pytest.approx(1.0)


@given(epsilon=st.floats(0.3, 6), releases=st.integers(1, 5), method=METHODS)
@settings(max_examples=30, deadline=None)
def test_shared_budgets_are_spent_by_all_releases_together_and_not_before(
    epsilon, releases, method
):
    nearest = Candidates(values=np.arange(3.0), utility="nearest", sensitivity=1.0)
    for calibration, knowledge in (
        (MarkovQuiltLaplace(method=method), (CHAIN, COUNT)),
        (InfluenceLaplace(), (CURVE, COUNT)),
        (InfluenceGeometric(), (CURVE, COUNT)),
        (InfluenceRandomisedResponse(), (CURVE, EntryValues(states=2), COUNT)),
        (InfluenceExponential(), (CURVE, nearest, COUNT)),
    ):
        mechanism = share(
            calibration, knowledge, budget=Epsilon(epsilon=epsilon), n_releases=releases,
            share="together",
        )  # fmt: skip
        spent = mechanism.repeated_guarantee(releases).bound
        assert spent == pytest.approx(epsilon, rel=1e-9)
        assert mechanism.repeated_guarantee(releases + 1).bound > epsilon * (1 + 1e-6)
        if releases > 1:
            assert mechanism.guarantee.bound < epsilon


def test_claims_follow_the_noise_and_not_the_budget():
    quilt = QuiltClaim(knowledge=CHAIN, sensitivity=COUNT)
    rough = QuiltClaim(knowledge=CHAIN, sensitivity=COUNT, method="approximate")
    curve = InfluenceClaim(knowledge=CURVE, sensitivity=COUNT)
    for noise in (LaplaceNoise(scales=np.array([2.0])), GeometricNoise(scales=np.array([2.0]))):
        assert curve.guarantee(noise, 1).bound == CURVE.curve.pufferfish_epsilon(0.5)
        assert quilt.guarantee(noise, 2).bound == composed_epsilon([BINARY], 100, 1.0)
        assert rough.guarantee(noise, 1).bound >= quilt.guarantee(noise, 1).bound
    records = Sensitivity(l1=1.0, l2=1.0, unit="record", size=100, dimension=1)
    with pytest.raises(NotApplicableError, match="for one record"):
        InfluenceClaim(knowledge=CURVE, sensitivity=records).guarantee(noise, 1)


@given(entry=st.floats(0, 3), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_approximate_composition_is_never_below_the_exact_one(entry, seed):
    rng = np.random.default_rng(seed)
    chain = MarkovChain(transition=rng.dirichlet(np.ones(3), 3))
    known = ChainKnowledge(chains=(chain,), lengths=(30,))
    sensitivity = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=30, dimension=1)
    exact, rough = (
        QuiltClaim(knowledge=known, sensitivity=sensitivity, method=m).of_entries(entry).bound
        for m in ("exact", "approximate")
    )
    assert exact <= rough + 1e-12
    assert rough <= 30 * entry + 1e-12
    assert approximate_composed_epsilon(0.0, 0.0, 30, entry) == pytest.approx(30 * entry)


@pytest.mark.parametrize("uncertainty_on", ["joint", "conditional"])
def test_quilt_and_curve_pay_the_same_uncertainty(uncertainty_on):
    t = 0.2
    chain = ChainKnowledge(
        chains=(BINARY,), lengths=(100,), uncertainty_penalty=uncertainty_penalty(t, uncertainty_on)
    )
    curve = CurveKnowledge(curve=uncertain_curve(CURVE.curve, t, uncertainty_on))
    for epsilon in (0.3, 0.9, 2.0):
        budget = Epsilon(epsilon=epsilon)
        quilt = MarkovQuiltLaplace().calibrate(chain, COUNT, budget=budget)
        laplace = InfluenceLaplace().calibrate(curve, COUNT, budget=budget)
        assert quilt.noise.scales == pytest.approx(laplace.noise.scales, rel=1e-6)
        certain = MarkovQuiltLaplace().calibrate(CHAIN, COUNT, budget=budget)
        assert quilt.noise.scales[0] > certain.noise.scales[0]


def test_below_the_floor_of_an_uncertain_curve_group_privacy_remains_and_is_said():
    budget = Epsilon(epsilon=0.5)
    curve = CurveKnowledge(curve=uncertain_curve(CURVE.curve, 0.2))
    mechanism = InfluenceLaplace().calibrate(curve, COUNT, budget=budget)
    group = GroupLaplace().calibrate(COUNT, budget=budget)
    assert mechanism.noise.scales == pytest.approx(group.noise.scales)
    notes = " ".join(mechanism.guarantee.notes)
    assert "does not exceed the curve's floor 0.81" in notes
    assert "group privacy of all 100 entries" in notes
    known = ChainKnowledge(
        chains=(BINARY,), lengths=(100,), uncertainty_penalty=uncertainty_penalty(0.2)
    )
    quilt = MarkovQuiltLaplace().calibrate(known, COUNT, budget=budget)
    assert quilt.noise.scales == pytest.approx([200.0])
    assert "the trivial quilt: group privacy of all entries" in quilt.guarantee.notes


def test_theta_of_all_initial_laws_and_of_several_chains_costs_more():
    budget = Epsilon(epsilon=1.0)
    # Rows of the golden table: P = [[.9, .1], [.1, .9]], 100 nodes, all initial laws 33.6293.
    sticky = np.array([[0.9, 0.1], [0.1, 0.9]])
    for initial, expected in (("stationary", 31.7378), ("free", 33.6293)):
        known = ChainKnowledge(
            chains=(MarkovChain(transition=sticky, initial=initial),), lengths=(100,)
        )
        scale = MarkovQuiltLaplace().calibrate(known, COUNT, budget=budget).noise.scales[0]
        assert scale == pytest.approx(expected, abs=5e-5)
    both = ChainKnowledge(chains=(BINARY, MarkovChain(transition=sticky)), lengths=(100,))
    scale = MarkovQuiltLaplace().calibrate(both, COUNT, budget=budget).noise.scales[0]
    assert scale == pytest.approx(31.7378, abs=5e-5)


def test_group_and_entry_privacy_reuse_their_baselines():
    budget = Epsilon(epsilon=1.0)
    assert GroupLaplace().calibrate(COUNT, budget=budget).guarantee.bound == pytest.approx(1.0)
    entry = GroupLaplace(group=1).calibrate(COUNT, budget=budget)
    assert isinstance(entry.guarantee, NoClaim)
    assert "1 of 100 entries" in entry.guarantee.reason


def test_what_cannot_be_calibrated_says_why():
    budget = Epsilon(epsilon=1.0)
    halves = Sensitivity(l1=0.5, l2=0.5, unit="entry", size=100, dimension=1)
    with pytest.raises(NotApplicableError, match="whole-number answers"):
        InfluenceGeometric().calibrate(CURVE, halves, budget=budget)
    certain = CurveKnowledge(curve=InfluenceCurve(values=np.zeros(2), entries=1, direction="exact"))
    with pytest.raises(NotApplicableError, match="no value of any entry is uncertain"):
        InfluenceLaplace().calibrate(certain, COUNT, budget=budget)
    alone = ChainKnowledge(chains=(MarkovChain(transition=np.eye(1)),), lengths=(5,))
    with pytest.raises(NotApplicableError, match="no Laplace noise is called for"):
        MarkovQuiltLaplace().calibrate(alone, COUNT, budget=budget)


def test_bad_knowledge_is_refused():
    with pytest.raises(ValueError, match="method must be"):
        MarkovQuiltLaplace(method="best")
    with pytest.raises(ValueError, match="must not be empty"):
        ChainKnowledge(chains=(), lengths=(1,))
    with pytest.raises(ValueError, match="lengths must be a whole number"):
        ChainKnowledge(chains=(BINARY,), lengths=(0,))
    with pytest.raises(ValueError, match="uncertainty_penalty must be in"):
        ChainKnowledge(chains=(BINARY,), lengths=(1,), uncertainty_penalty=math.inf)
    with pytest.raises(ValueError, match="states must be a whole number"):
        EntryValues(states=1)
