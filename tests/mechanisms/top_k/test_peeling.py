import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.claim import InfluenceClaim
from mechanisms.influence.curve import independence
from mechanisms.influence.knowledge import Candidates, CurveKnowledge
from mechanisms.influence.markov import chain_curve
from mechanisms.knowledge import Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.laws.visit_counts import histogram_law
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import Epsilon
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.top_k.calibrations import GroupTopK, InfluenceTopK
from mechanisms.top_k.peeling import PeeledRanking, all_rankings

few = settings(max_examples=40, deadline=None)
SELECTIONS = ["gumbel", "peeled", "permute_and_flip"]
COUNTS = np.array([3.0, 5.0, 4.0, 0.0])
MATRIX = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])


def sensitivity(m, size=12):
    return Sensitivity(l1=2.0, l2=2**0.5, unit="entry", size=size, dimension=m)


def ranking(selection, k=2, epsilon=1.0, m=4):
    known = CurveKnowledge(curve=independence(12))
    return PeeledRanking(
        selection=selection, k=k, epsilon=epsilon, candidates=np.arange(m), sensitivity=1.0,
        claim=InfluenceClaim(knowledge=known, sensitivity=sensitivity(m)),
    )  # fmt: skip


def exponential_law(counts, k, epsilon):
    """Every ranking's probability, pick by pick."""
    law = {}
    for picks in itertools.permutations(range(len(counts)), k):
        left, p = set(range(len(counts))), 1.0
        for c in picks:
            total = sum(math.exp(epsilon / k * counts[j] / 2) for j in left)
            p *= math.exp(epsilon / k * counts[c] / 2) / total
            left.remove(c)
        law[picks] = p
    return law


def permute_and_flip_law(counts, k, epsilon):
    """Every ranking's probability, permutation by permutation of every run."""

    def one_run(left):
        top = max(counts[j] for j in left)
        heads = {j: math.exp(epsilon / k * (counts[j] - top) / 2) for j in left}
        law = dict.fromkeys(left, 0.0)
        orders = list(itertools.permutations(left))
        for order in orders:
            reach = 1.0 / len(orders)
            for j in order:
                law[j] += reach * heads[j]
                reach *= 1 - heads[j]
        return law

    law = {(): 1.0}
    for _ in range(k):
        law = {
            (*picks, j): p * q
            for picks, p in law.items()
            for j, q in one_run([i for i in range(len(counts)) if i not in picks]).items()
        }
    return law


def brute(selection):
    return permute_and_flip_law if selection == "permute_and_flip" else exponential_law


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_law_of_rankings_equals_enumeration(selection, k):
    mechanism = ranking(selection, k=k, epsilon=2.0)
    expected = brute(selection)(COUNTS, k, 2.0)
    picks = all_rankings(4, k)
    assert {tuple(p) for p in picks.tolist()} == set(expected)
    logs = mechanism.channel(COUNTS[None], picks)[0]
    np.testing.assert_allclose(np.exp(logs), [expected[tuple(p)] for p in picks.tolist()])


@pytest.mark.parametrize("selection", SELECTIONS)
def test_releases_follow_that_law(selection):
    """One-shot Gumbel, draw by draw, and exponential noise: each against the listed law."""
    n = 60_000
    mechanism = ranking(selection)
    law = brute(selection)(COUNTS, 2, 1.0)
    drawn = mechanism.release(np.broadcast_to(COUNTS, (n // 3, 3, 4)), np.random.default_rng(0))
    assert drawn.shape == (n // 3, 3, 2)
    code = {picks: i for i, picks in enumerate(law)}
    seen = np.bincount([code[tuple(p)] for p in drawn.reshape(-1, 2).tolist()], minlength=len(law))
    assert chisquare(seen, n * np.array(list(law.values()))).pvalue > 1e-7
    # A test that could not fail would pass a budget that is a tenth off.
    wrong = brute(selection)(COUNTS, 2, 1.1)
    assert chisquare(seen, n * np.array(list(wrong.values()))).pvalue < 1e-7


@few
@given(st.integers(0, 10**6), st.sampled_from(SELECTIONS), st.integers(1, 3))
def test_replacing_one_entry_costs_at_most_the_total_epsilon(seed, selection, k):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, 4).astype(float)
    up, down = rng.permutation(4)[:2]
    other = counts.copy()
    other[up] += 1
    other[down] -= 1
    mechanism = ranking(selection, k=k, epsilon=1.5)
    logs = mechanism.channel(np.stack([counts, other]), all_rankings(4, k))
    assert np.abs(logs[0] - logs[1]).max() <= 1.5 + 1e-9


@pytest.mark.parametrize("selection", ["peeled", "permute_and_flip"])
def test_one_pick_needs_its_whole_budget(selection):
    """Counts are not monotone, so the factor 2 of the noise cannot be dropped."""
    mechanism = ranking(selection, k=1, epsilon=1.0, m=2)
    logs = mechanism.channel(np.array([[-40.0, 40.0], [-39.0, 39.0]]), all_rankings(2, 1))
    assert np.abs(logs[0] - logs[1]).max() == pytest.approx(1.0, abs=1e-6)


@few
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_permute_and_flip_is_better_at_every_pick(seed, k):
    """McKenna and Sheldon (2020), Theorem 2: never a larger expected error for one pick."""
    counts = np.random.default_rng(seed).integers(0, 8, 5).astype(float)
    picks = all_rankings(5, 1)
    error = counts.max() - counts
    mean = [
        np.exp(ranking(s, k=1, epsilon=float(k), m=5).channel(counts[None], picks)[0]) @ error
        for s in ("peeled", "permute_and_flip")
    ]
    assert mean[1] <= mean[0] + 1e-12


def test_large_counts_stay_in_log_space():
    huge = np.array([[1e9, 2e9, 0.0, 1e9 + 1]])
    for selection in SELECTIONS:
        mechanism = ranking(selection, epsilon=1e-3)
        drawn = mechanism.release(np.repeat(huge, 50, axis=0), np.random.default_rng(0))
        assert (drawn[:, 0] == 1).all()
        assert not np.isnan(mechanism.channel(huge, all_rankings(4, 2))).any()


def test_leakage_is_that_of_the_listed_rankings_under_the_chains_histograms():
    chain = MarkovChain(transition=MATRIX)
    laws = [
        histogram_law(
            SequenceLaw(
                transition=MATRIX, initial=chain.first_law, lengths=(5,), position=3, value=v
            )
        )
        for v in (0, 2)
    ]
    curve = chain_curve(chain, 5)
    for selection in SELECTIONS:
        mechanism = InfluenceTopK(k=2, selection=selection).calibrate(
            CurveKnowledge(curve=curve),
            Candidates(values=np.arange(3.0), utility="largest", sensitivity=1.0),
            sensitivity(3, 5),
            budget=Epsilon(epsilon=2.0),
        )
        assert mechanism.guarantee.bound <= 2.0
        assert mechanism.guarantee.bound > 1.999
        of = [
            {
                picks: sum(
                    w * brute(selection)(atom, 2, mechanism.epsilon)[picks]
                    for atom, w in zip(law.atoms, law.weights, strict=True)
                )
                for picks in itertools.permutations(range(3), 2)
            }
            for law in laws
        ]
        worst = max(abs(math.log(of[0][p] / of[1][p])) for p in of[0])
        exact = mechanism.leakage(*laws, 1).epsilon(0)
        assert exact.hi == pytest.approx(worst)
        assert 0 < exact.hi <= mechanism.guarantee.bound


def test_too_many_rankings_are_not_listed():
    law = FiniteLaw(atoms=np.zeros((1, 300)), weights=np.ones(1))
    mechanism = ranking("gumbel", k=3, m=300)
    with pytest.raises(NotComputableError, match="too many to list"):
        mechanism.leakage(law, law, 1)


def test_group_and_entry_privacy():
    candidates = Candidates(values=np.arange(4.0), utility="largest", sensitivity=1.0)
    group = GroupTopK(k=2).calibrate(candidates, sensitivity(4), budget=Epsilon(epsilon=3.0))
    assert group.epsilon == pytest.approx(3.0 / 12)
    assert group.guarantee.bound == pytest.approx(3.0)
    assert group.repeated_guarantee(2).bound == pytest.approx(6.0)
    entry = GroupTopK(k=2, group=1).calibrate(
        candidates, sensitivity(4), budget=Epsilon(epsilon=3.0)
    )
    assert entry.epsilon == 3.0
    assert entry.scale == 2 * 2 / 3.0
    assert isinstance(entry.guarantee, NoClaim)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"selection": "greedy"}, "selection must be 'gumbel', 'peeled' or 'permute_and_flip'"),
        ({"k": 5}, "k must be at most the 4 categories, got k=5"),
        ({"epsilon": 0.0}, "epsilon must be in"),
        ({"k": 0}, "k must be a whole number"),
    ],
)
def test_bad_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        ranking(**({"selection": "gumbel"} | wrong))


def moved_ratios(k, composition, counts, up, down, epsilon, selection="gumbel"):
    """Log ratios of all rankings when one entry moves from one category to another."""
    known = CurveKnowledge(curve=independence(1))
    m = len(counts)
    mechanism = PeeledRanking(
        selection=selection, k=k, epsilon=epsilon, candidates=np.arange(m), sensitivity=1.0,
        claim=InfluenceClaim(knowledge=known, sensitivity=sensitivity(m)), composition=composition,
    )  # fmt: skip
    moved = np.array(counts, dtype=float)
    moved[up] += 1
    moved[down] -= 1
    first, second = mechanism.channel(np.stack([counts, moved]), all_rankings(m, k))
    return np.abs(first - second)


@few
@given(
    counts=st.lists(st.integers(1, 12), min_size=3, max_size=5), data=st.data(),
    epsilon=st.floats(0.05, 8.0), selection=st.sampled_from(["gumbel", "permute_and_flip"]),
)  # fmt: skip
def test_a_ranking_accounted_as_a_whole_keeps_its_budget(counts, data, epsilon, selection):
    k = data.draw(st.integers(1, len(counts)))
    up, down = data.draw(st.permutations(range(len(counts))))[:2]
    whole = moved_ratios(k, "joint", counts, up, down, epsilon, selection)
    assert whole.max() <= epsilon * (1 + 1e-9)
    # The published scale leaves (k - 1) / (2 k) of the budget unused.
    picks = moved_ratios(k, "per_pick", counts, up, down, epsilon, selection)
    assert picks.max() <= epsilon * (k + 1) / (2 * k) * (1 + 1e-9)


@pytest.mark.parametrize("selection", ["gumbel", "permute_and_flip"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_budget_of_a_whole_ranking_is_nearly_reached(k, selection):
    """One category far above the others; the others, level, are shown without it."""
    counts = [60.0, 20.0, *[1.0] * (k - 1)]
    worst = moved_ratios(k, "joint", counts, 0, 1, 1.5, selection).max()
    assert worst > 1.5 * 0.95


def test_an_unknown_composition_is_refused():
    with pytest.raises(ValueError, match="composition must be 'per_pick' or 'joint', got"):
        InfluenceTopK(composition="all")
