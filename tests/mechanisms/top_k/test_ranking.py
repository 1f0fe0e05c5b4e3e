import numpy as np
import pytest

from mechanisms.base import NotApplicableError
from mechanisms.group_privacy import GroupLaplace
from mechanisms.influence.calibrate import InfluenceLaplace, InfluenceRandomisedResponse
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.knowledge import (
    Candidates,
    ChainKnowledge,
    CurveKnowledge,
    EntryValues,
)
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.quilt import MarkovQuiltLaplace
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.identity import Noiseless
from mechanisms.privacy.budget import Epsilon, NoBudget
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.top_k.ranking import TopK, largest
from mechanisms.top_k.training_majority import TrainingCounts, TrainingMajority

CHAIN = MarkovChain(transition=np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
KNOWN = CurveKnowledge(curve=chain_curve(CHAIN, 12))
SENSITIVITY = Sensitivity(l1=2.0, l2=2**0.5, unit="entry", size=12, dimension=3)
CANDIDATES = Candidates(values=np.arange(3.0), utility="largest", sensitivity=1.0)


def test_a_ranked_histogram_claims_what_the_histogram_claims_and_shows_only_the_ranking():
    ranked = TopK(of=InfluenceLaplace(), k=2)
    mechanism = ranked.calibrate(CANDIDATES, KNOWN, SENSITIVITY, budget=Epsilon(epsilon=2.0))
    plain = InfluenceLaplace().calibrate(KNOWN, SENSITIVITY, budget=Epsilon(epsilon=2.0))
    assert mechanism.guarantee == plain.guarantee
    assert mechanism.repeated_guarantee(3) == plain.repeated_guarantee(3)
    answers = np.random.default_rng(0).integers(0, 9, (5, 4, 3)).astype(float)
    shown = mechanism.release(answers, np.random.default_rng(1))
    noisy = plain.release(answers, np.random.default_rng(1))
    assert shown.dtype == np.int64
    assert (shown == largest(noisy, 2)).all()
    laws = [FiniteLaw(atoms=np.array([row]), weights=np.ones(1)) for row in answers[0, :2]]
    inner = plain.leakage(*laws, 1).epsilon(0).hi
    assert mechanism.leakage(*laws, 1).epsilon(0).hi == inner


def test_no_claim_passes_through():
    ranked = TopK(of=GroupLaplace(group=1), k=2)
    mechanism = ranked.calibrate(CANDIDATES, SENSITIVITY, budget=Epsilon(epsilon=1.0))
    assert isinstance(mechanism.guarantee, NoClaim)
    assert ranked.requires == (Candidates, Sensitivity)


def test_only_candidates_are_shown():
    some = Candidates(values=np.array([2.0, 0.0]), utility="largest", sensitivity=1.0)
    mechanism = TopK(of=Noiseless(), k=2).calibrate(some, budget=NoBudget())
    shown = mechanism.release(np.array([[1.0, 9.0, 5.0]]), np.random.default_rng(0))
    assert shown.tolist() == [[2, 0]]


def test_more_picks_than_categories_are_refused():
    with pytest.raises(NotApplicableError, match="k=4 exceeds the 3 categories"):
        TopK(of=Noiseless(), k=4).calibrate(CANDIDATES, budget=NoBudget())
    with pytest.raises(ValueError, match="k must be at most the 3 categories, got k=4"):
        largest(np.zeros(3), 4)
    with pytest.raises(ValueError, match="must not be NaN"):
        largest(np.array([1.0, np.nan]), 1)
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, got k=0"):
        TopK(of=Noiseless(), k=0)


def test_only_histograms_are_ranked():
    response = TopK(of=InfluenceRandomisedResponse(), k=2)
    with pytest.raises(NotApplicableError, match="releases histograms"):
        response.calibrate(
            CANDIDATES, KNOWN, EntryValues(states=3), SENSITIVITY, budget=Epsilon(epsilon=1.0)
        )
    scalar = Candidates(values=np.arange(3.0), utility="nearest", sensitivity=1.0)
    with pytest.raises(NotApplicableError, match="coordinates of the answer"):
        TopK(of=Noiseless(), k=2).calibrate(scalar, budget=NoBudget())


def test_the_training_majority_ignores_the_answer():
    training = TrainingCounts(counts=np.array([[5.0, 1.0, 1.0], [0.0, 1.0, 9.0]]))
    answers = np.zeros((4, 2, 3))
    rng = np.random.default_rng(0)
    together = TrainingMajority(k=2).calibrate(training, budget=NoBudget())
    assert together.release(answers, rng)[3].tolist() == [[2, 0], [2, 0]]
    own = TrainingMajority(k=2, scope="group").calibrate(training, budget=NoBudget())
    assert own.release(answers, rng)[3].tolist() == [[0, 1], [2, 1]]
    assert isinstance(own.guarantee, NoClaim)
    with pytest.raises(ValueError, match="scope must be 'all' or 'group', got scope='country'"):
        TrainingMajority(scope="country")
    with pytest.raises(NotApplicableError, match="k=4 exceeds the 3 categories"):
        TrainingMajority(k=4).calibrate(training, budget=NoBudget())


def test_a_histogram_paid_by_category_has_m_over_two_times_the_scale():
    known = ChainKnowledge(chains=(CHAIN,), lengths=(12,))
    made = {
        way: MarkovQuiltLaplace(histogram=way).calibrate(
            known, SENSITIVITY, budget=Epsilon(epsilon=2.0)
        )
        for way in ("joint", "per_category")
    }
    scales = {way: mechanism.noise.scales for way, mechanism in made.items()}
    np.testing.assert_allclose(scales["per_category"], 1.5 * scales["joint"])
    assert made["joint"].guarantee.bound == pytest.approx(2.0)
    assert made["per_category"].guarantee.bound < 2.0
    with pytest.raises(ValueError, match="histogram must be 'joint' or 'per_category', got"):
        MarkovQuiltLaplace(histogram="both")
