"""How many releases a budget is for: each has it, or all of them share it."""

import math

import numpy as np
import pytest

from mechanisms.base import NotApplicableError, guarantee_of
from mechanisms.distribution.directional import DirectionalLaplace
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.distribution.minimum_noise import MinimumNoiseGaussian
from mechanisms.distribution.orthonormal_directions import OrthonormalDirectionsLaplace
from mechanisms.distribution.relaxed import NearbyModel
from mechanisms.distribution.unequal_pair import UnequalPairGaussian
from mechanisms.group_privacy import GroupGaussian, GroupLaplace
from mechanisms.influence.calibrate import (
    InfluenceGeometric,
    InfluenceLaplace,
    InfluenceRandomisedResponse,
)
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.knowledge import Candidates, ChainKnowledge, CurveKnowledge, EntryValues
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.knowledge import GaussianAnswers, ScalarAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import laplace_lattice
from mechanisms.privacy.budget import Epsilon, EpsilonDelta, RenyiEpsilon
from mechanisms.privacy.sharing import calibrate, check_share
from mechanisms.renyi.alpha_wasserstein import AlphaWassersteinGaussian, AlphaWassersteinLaplace
from mechanisms.renyi.power_noise import WassersteinExponential
from mechanisms.renyi.tight_noise import TightNoise
from mechanisms.renyi.tight_pure_laplace import TightPureLaplace
from mechanisms.top_k.calibrations import InfluenceTopK
from mechanisms.top_k.ranking import TopK

CHAIN = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
CURVE = CurveKnowledge(curve=chain_curve(CHAIN, 60))
CHAINS = ChainKnowledge(chains=(CHAIN,), lengths=(60,))
COUNT = Sensitivity(l1=1.0, l2=1.0, unit="entry", size=60, dimension=1)
VECTOR = Sensitivity(l1=2.0, l2=2**0.5, unit="entry", size=60, dimension=3)
LARGEST = Candidates(values=np.arange(3.0), utility="largest", sensitivity=1.0)
GAUSSIAN = GaussianAnswers(
    means=np.array([[0.0, 0.0], [1.0, 2.0]]), covariances=np.stack([np.eye(2)] * 2), pairs=((0, 1),)
)
SCALAR = ScalarAnswers(
    laws=(FiniteLaw.of_sample([0, 0, 1, 3]), FiniteLaw.of_sample([0, 1, 1, 4])), pairs=((0, 1),)
)
PURE, DELTA = Epsilon(epsilon=1.0), EpsilonDelta(epsilon=0.8, delta=1e-3)
RENYI = RenyiEpsilon(order=2.0, epsilon=0.3)
SHARED = {
    "group_laplace": (GroupLaplace(), (COUNT,), PURE),
    "group_gaussian": (GroupGaussian(), (COUNT,), DELTA),
    "expected_laplace": (ExpectedValueLaplace(), (GAUSSIAN,), PURE),
    "expected_gaussian": (ExpectedValueGaussian(), (GAUSSIAN,), DELTA),
    "directional": (DirectionalLaplace(), (GAUSSIAN,), PURE),
    "orthonormal": (OrthonormalDirectionsLaplace(), (GAUSSIAN,), PURE),
    "minimum": (MinimumNoiseGaussian(), (GAUSSIAN,), DELTA),
    "unequal": (UnequalPairGaussian(), (GAUSSIAN,), DELTA),
    "nearby": (
        NearbyModel(calibration=ExpectedValueGaussian(), distance=0.1, divergence=0.2),
        (GAUSSIAN,),
        DELTA,
    ),
    "influence_laplace": (InfluenceLaplace(), (CURVE, COUNT), PURE),
    "influence_geometric": (InfluenceGeometric(), (CURVE, COUNT), PURE),
    "influence_response": (
        InfluenceRandomisedResponse(),
        (CURVE, EntryValues(states=2), COUNT),
        PURE,
    ),
    "quilt": (MarkovQuiltLaplace(), (CHAINS, COUNT), PURE),
    "top_k": (InfluenceTopK(k=2), (CURVE, LARGEST, VECTOR), PURE),
    "ranked": (TopK(of=InfluenceLaplace(), k=2), (LARGEST, CURVE, VECTOR), PURE),
    "w_alpha_laplace": (AlphaWassersteinLaplace(), (SCALAR,), RENYI),
    "w_alpha_gaussian": (AlphaWassersteinGaussian(), (SCALAR,), RENYI),
    "w_alpha_exponential": (WassersteinExponential(power=0.5), (SCALAR,), RENYI),
    "tight_gaussian": (TightNoise(noise="gaussian"), (SCALAR,), RENYI),
    "tight_pure": (TightPureLaplace(), (SCALAR,), PURE),
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("k", [2, 3])
def test_releases_that_share_a_budget_claim_what_one_release_claims(name, k):
    calibration, knowledge, budget = SHARED[name]
    once = calibrate(calibration, knowledge, budget=budget, n_releases=k, share="each")
    shared = calibrate(calibration, knowledge, budget=budget, n_releases=k, share="together")
    assert guarantee_of(shared, k).bound == pytest.approx(once.guarantee.bound, rel=1e-6)
    # Each of them alone promises more, and without sharing k of them promise less.
    assert shared.guarantee.bound < once.guarantee.bound
    assert guarantee_of(once, k).bound > once.guarantee.bound * 1.05


def test_the_influence_is_paid_once_not_once_a_release():
    """THEORY 1.2: per-entry totals .0498, .1254, .8028; splitting first gives .0907 at 1."""
    for epsilon, total in ((0.5, 0.0498), (1.0, 0.1254), (3.0, 0.8028)):
        budget = Epsilon(epsilon=epsilon)
        shared = calibrate(
            InfluenceLaplace(), (CURVE, COUNT), budget=budget, n_releases=3, share="together"
        )
        assert 3 / shared.noise.scales[0] == pytest.approx(total, abs=6e-5)


def test_a_tight_scale_is_solved_anew_for_several_releases():
    once = TightPureLaplace().calibrate(SCALAR, budget=PURE)
    twice = TightPureLaplace().calibrate_together(SCALAR, budget=PURE, n_releases=2)
    one, two = (float(m.noise.scales[0]) for m in (once, twice))
    assert one < two <= 2 * one * (1 + 1e-9)
    assert guarantee_of(twice, 2).bound == pytest.approx(1.0, rel=1e-9)
    # Independent route: the largest log ratio over all whole-number pairs of releases.
    p, q = SCALAR.laws
    grid = np.arange(0.0, 4.01)
    y1, y2 = np.meshgrid(grid, grid, indexing="ij")

    def density(law):
        shifts = np.abs(y1[..., None] - law.atoms) + np.abs(y2[..., None] - law.atoms)
        return np.log(np.exp(-shifts / two) @ law.weights)

    assert np.abs(density(p) - density(q)).max() == pytest.approx(1.0, abs=1e-9)
    # Finer releases in between tell no more.
    fine = np.linspace(-2, 6, 81)
    y1, y2 = np.meshgrid(fine, fine, indexing="ij")
    assert np.abs(density(p) - density(q)).max() <= 1 + 1e-9


def test_the_exact_leakage_of_repeated_laplace_noise_is_that_of_a_repeated_answer():
    once = TightPureLaplace().calibrate(SCALAR, budget=PURE)
    twice = once.leakage(*SCALAR.laws, 2).epsilon(0.0)
    vectors = [
        FiniteLaw(atoms=np.stack([law.atoms] * 2, axis=1), weights=law.weights)
        for law in SCALAR.laws
    ]
    scales = np.full(2, float(once.noise.scales[0]))
    boxed = laplace_lattice(*vectors, scales).epsilon(0.0).hi
    assert boxed <= twice.hi <= boxed * (1 + 2e-10)
    assert twice.exact
    assert twice.hi == pytest.approx(guarantee_of(once, 2).bound)


def test_where_no_composition_exists_together_is_not_applicable():
    for calibration, knowledge, budget in (
        (TightNoise(noise="laplace"), (SCALAR,), RENYI),
        (Lonely(), (), PURE),
    ):
        once = calibrate(calibration, knowledge, budget=budget, n_releases=2, share="each")
        assert guarantee_of(once, 2).unbounded
        with pytest.raises(NotApplicableError):
            calibrate(calibration, knowledge, budget=budget, n_releases=2, share="together")


def test_releases_of_answers_that_are_not_whole_share_a_budget_too():
    laws = (FiniteLaw.of_sample([0.0, 0.5]), FiniteLaw.of_sample([0.25, 1.0]))
    answers = ScalarAnswers(laws=laws, pairs=((0, 1),))
    shared = calibrate(TightPureLaplace(), (answers,), budget=PURE, n_releases=2, share="together")
    scale = float(shared.noise.scales[0])
    fine = np.linspace(-1, 2, 241)  # holds every value
    y1, y2 = np.meshgrid(fine, fine, indexing="ij")
    logs = [
        np.log(np.exp(-sum(np.abs(y[..., None] - p.atoms) for y in (y1, y2)) / scale) @ p.weights)
        for p in laws
    ]
    assert np.abs(logs[0] - logs[1]).max() == pytest.approx(1.0, abs=1e-8)
    assert guarantee_of(shared, 2).bound == pytest.approx(1.0, abs=1e-8)


class Lonely:
    """A calibration whose mechanism knows nothing about a second release."""

    requires = ()
    accepts = Epsilon

    def calibrate(self, *, budget):
        from mechanisms.privacy.guarantee import Guarantee
        from mechanisms.privacy.indistinguishability import PURE as PURE_NOTION

        class Release:
            sees = "answers"
            guarantee = Guarantee(notion=PURE_NOTION, bound=budget.epsilon, theorem="t")

            def release(self, x, rng):
                return x

        return Release()


def test_one_release_has_nothing_to_share():
    for share in ("each", "together"):
        found = calibrate(Lonely(), (), budget=PURE, n_releases=1, share=share)
        assert guarantee_of(found, 1).bound == 1.0


def test_a_way_of_sharing_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="share must be one of each, together, got share='half'"):
        check_share("half")


def test_record_privacy_composes_over_releases():
    records = Sensitivity(l1=1.0, l2=1.0, unit="record", size=10, dimension=1)
    whole = GroupLaplace().calibrate(records, budget=PURE)
    assert guarantee_of(whole, 5).bound == pytest.approx(5.0)
    assert not math.isinf(guarantee_of(whole, 5).bound)
