import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from mechanisms.base import Mechanism, guarantee_of
from mechanisms.collapse.case_pair import CasePair
from mechanisms.collapse.decoy import DecoyDatabase
from mechanisms.collapse.listed import worst_epsilon
from mechanisms.collapse.nfc import nfc_cost, repeated_epsilon
from mechanisms.collapse.parity import ParityRelease
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.sequence import SequenceLaw
from mechanisms.leakage.finite_channel import channel_pair
from mechanisms.privacy.bracket import NotComputableError
from tests.attacks.reconstruction.examples import CASES, DECOY, EXAMPLES

few = settings(max_examples=40, deadline=None)


def decoy(first, second):
    m = len(first) + len(second)
    return DecoyDatabase(
        databases=np.arange(m)[:, None],
        prior=np.concatenate([np.array(first), np.array(second)]) / 2,
        secret=np.repeat([0, 1], [len(first), len(second)]),
    )


def laws(size):
    return st.lists(st.floats(0.01, 1), min_size=1, max_size=size).map(
        lambda w: np.array(w) / sum(w)
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_releases_have_the_law_that_the_density_states(name):
    mechanism, _, (rows, _) = EXAMPLES[name]
    outputs = mechanism.outputs()
    channel = np.exp(mechanism.log_density(outputs[:, None], rows[None])).T
    assert channel.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    rng = np.random.default_rng(3)
    for row, law in zip(rows, channel, strict=True):
        drawn = mechanism.release(np.tile(row, (2000, 1)), rng)
        same = (drawn[:, None] == outputs[None]).reshape(2000, len(outputs), -1).all(axis=-1)
        assert (same.sum(axis=1) == 1).all()
        counts = same.sum(axis=0)
        assert (counts[law == 0] == 0).all()
        if (law > 0).sum() > 1:
            assert chisquare(counts[law > 0], 2000 * law[law > 0]).pvalue > 1e-5


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_claimed_is_the_exact_leakage_and_two_runs_leak_without_bound(name):
    mechanism = EXAMPLES[name][0]
    assert worst_epsilon(mechanism, 1) == pytest.approx(mechanism.guarantee.bound, abs=1e-12)
    for k in (2, 3):
        assert worst_epsilon(mechanism, k) == math.inf == guarantee_of(mechanism, k).bound
    kept: Mechanism = mechanism
    assert kept.sees == "database"


@few
@given(laws(4), laws(4))
def test_a_decoy_leaks_nothing_once_whatever_the_prior(first, second):
    assert worst_epsilon(decoy(first, second), 1) == pytest.approx(0, abs=1e-12)


@few
@given(laws(3), laws(3))
def test_several_runs_beside_a_decoy_leak_without_bound_unless_nothing_can_change(first, second):
    mechanism = decoy(first, second)
    assert worst_epsilon(mechanism, 2) == pytest.approx(mechanism.repeated_guarantee(2).bound)
    assert (mechanism.repeated_guarantee(2).bound == 0) == (first.size == 1 == second.size)


def test_the_decoys_expected_runs_have_their_reference_values():
    mechanism = decoy([0.6, 0.4], [0.6, 0.4])
    assert mechanism.expected_runs() == pytest.approx(3.1667, abs=5e-5)
    assert mechanism.expected_runs(0) == mechanism.expected_runs(1)
    uneven = decoy([0.5, 0.5], [0.9, 0.1])
    assert uneven.expected_runs(1) == pytest.approx(3)
    assert uneven.expected_runs(0) == pytest.approx(1 + 9 + 1 / 9)


@few
@given(laws(5).filter(lambda p: p.size > 1), laws(5).filter(lambda p: p.size > 1))
def test_expected_runs_are_the_sum_of_tails_and_below_the_papers_bound(first, second):
    mechanism = decoy(first, second)
    largest = max(first.max(), second.max())
    runs = math.ceil(math.log(1e-12) / math.log(largest))
    tails = sum(1 - mechanism.revealed_within(k) for k in range(1, runs + 1))
    assert mechanism.expected_runs() == pytest.approx(1 + tails, rel=1e-6)
    assert mechanism.expected_runs() <= (1 + 1 / (1 - largest)) * (1 + 1e-12)


def test_a_point_mass_is_said_in_words():
    mechanism = decoy([1.0], [0.5, 0.5])
    assert mechanism.expected_runs(1) == math.inf == mechanism.expected_runs()
    assert mechanism.expected_runs(0) == pytest.approx(3)
    assert mechanism.revealed_within(100, 1) == 0
    (note,) = mechanism.notes
    assert "under secret 1 the decoy never changes" in note
    assert "expected number of runs is infinite" in note
    assert note in mechanism.guarantee.notes


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_uniform_bits_leak_nothing_once(n):
    assert worst_epsilon(ParityRelease(n_bits=n), 1) == pytest.approx(0, abs=1e-12)
    assert ParityRelease(n_bits=n).guarantee.bound == 0


def test_a_biased_prior_leaks_what_listing_says():
    assert ParityRelease(n_bits=3, share=0.7).guarantee.bound == pytest.approx(1.6946, abs=5e-5)
    rows = np.array(list(product((0, 1), repeat=3)))
    weights = np.where(rows == 1, 0.7, 0.3).prod(axis=1)
    # By hand: the law of both kinds of output given the first bit.
    worst = 0.0
    for bit in range(3):
        for output in (lambda x: (x[1] ^ x[0], x[2] ^ x[0]), lambda x: (x[0] ^ x[1] ^ x[2],)):
            seen = {}
            for row, weight in zip(rows, weights, strict=True):
                table = seen.setdefault(output(row), [0.0, 0.0])
                table[row[bit]] += weight / (0.7 if row[bit] else 0.3)
            worst = max(worst, *(abs(math.log(a / b)) for a, b in seen.values()))
    assert ParityRelease(n_bits=3, share=0.7).guarantee.bound == pytest.approx(worst)


def test_two_bits_are_refused_unless_asked_for():
    with pytest.raises(ValueError, match="n_bits must be at least 3: of 2 bits the parity is the"):
        ParityRelease(n_bits=2)
    assert ParityRelease(n_bits=2, allow_two_bits=True).guarantee.bound == math.inf


@pytest.mark.parametrize(
    ("true", "false", "epsilon"),
    [
        ((0.3, 0.6), (0.4, 0.7), 0.8473),
        ((0.05, 0.2), (0.8, 0.95), 2.9444),
        ((0.1, 0.1), (0.5, 0.5), 1.6094),
    ],
)
def test_case_pairs_leak_their_reference_values(true, false, epsilon):
    pair = CasePair(share_if_true=true, share_if_false=false)
    assert pair.guarantee.bound == pytest.approx(epsilon, abs=5e-5)


ends = st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)).map(lambda e: (min(e), max(e)))


@few
@given(ends, ends, st.floats(0, 1), st.floats(0, 1))
def test_the_eight_terms_with_bars_outside_the_log_are_the_worst_of_all_priors(t, f, u, v):
    pair = CasePair(share_if_true=t, share_if_false=f)
    (lt, ut), (lf, uf) = t, f
    eight = [
        ut / lf, lt / uf, (1 - ut) / uf, (1 - lt) / lf,
        lt / (1 - lf), ut / (1 - uf), (1 - ut) / (1 - lf), (1 - lt) / (1 - uf),
    ]  # fmt: skip
    claimed = pair.guarantee.bound
    assert claimed == pytest.approx(max(abs(math.log(r)) for r in eight))
    assert worst_epsilon(pair, 1) == pytest.approx(claimed)
    inside = pair.law(1, lt + u * (ut - lt)), pair.law(0, lf + v * (uf - lf))
    assert pair.leakage(*inside, 1).epsilon(0.0).hi <= claimed + 1e-9


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_probability_of_reveal_starts_at_none_and_rises_to_one(name):
    mechanism = EXAMPLES[name][0]
    reveal = [mechanism.revealed_within(k) for k in range(1, 60)]
    assert reveal[0] == pytest.approx(0, abs=1e-12)
    assert (np.diff(reveal) >= 0).all()
    assert reveal[-1] == pytest.approx(1, abs=1e-9)
    tails = sum(1 - r for r in reveal)
    assert mechanism.expected_runs() == pytest.approx(1 + tails)


def test_the_constraints_necessary_for_composition_are_infinite_with_a_decoy():
    mechanism = decoy([0.5, 0.5], [0.5, 0.5])
    outputs = mechanism.outputs()
    logs = mechanism.log_density(outputs[:, None], mechanism.databases[None]).T
    channel, prior = np.exp(logs), mechanism.prior
    assert repeated_epsilon(channel, mechanism.secret, prior, 1) == pytest.approx(0, abs=1e-12)
    assert nfc_cost(channel, mechanism.secret).value == math.inf
    assert repeated_epsilon(channel, mechanism.secret, prior, 2) == math.inf


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: decoy([0.6, 0.5], [0.5, 0.5]), "prior must be non-negative and sum to 1"),
        (lambda: decoy([0.0, 0.0], [1.0, 1.0]), "prior must give both secrets mass"),
        (lambda: DecoyDatabase(databases=[[0], [0]], prior=[0.5, 0.5], secret=[0, 1]), "different"),
        (lambda: DecoyDatabase(databases=[[0], [1]], prior=[0.5, 0.5], secret=[0, 2]), "0 or 1"),
        (lambda: DecoyDatabase(databases=[0, 1], prior=[0.5, 0.5], secret=[0, 1]), "shape"),
        (lambda: DECOY.expected_runs(2), "secret must be 0 or 1, got secret=2"),
        (lambda: DECOY.release(np.array([[9, 9]]), np.random.default_rng(0)), r"got \[9, 9\]"),
        (lambda: DECOY.release(np.array([9]), np.random.default_rng(0)), "shape"),
        (lambda: ParityRelease(n_bits=12), "n_bits must be at most 11"),
        (lambda: ParityRelease(n_bits=3, share=1.0), r"share must be in \(0, 1\)"),
        (
            lambda: ParityRelease(n_bits=3).release(np.array([[0, 1, 2]]), None),
            "databases must be bits",
        ),
        (
            lambda: CasePair(share_if_true=(0.6, 0.3), share_if_false=(0.4, 0.7)),
            r"share_if_true must be \(low, high\) in order, got \(0.6, 0.3\)",
        ),
        (
            lambda: CasePair(share_if_true=(0.3, 0.6), share_if_false=(0.0, 0.7)),
            "the lower end of share_if_false must be in",
        ),
        (lambda: CASES.release(np.array([[0, 1, 1]]), np.random.default_rng(0)), "secret, member"),
        (lambda: CASES.repeated_guarantee(0), "n_releases must be a whole number of at least 1"),
        (lambda: DECOY.revealed_within(0), "n_releases must be a whole number of at least 1"),
        (lambda: worst_epsilon(DECOY, 0), "n_releases must be a whole number of at least 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(build, message):
    with pytest.raises(ValueError, match=message) as refused:
        build()
    assert "\n" not in str(refused.value)


def test_leakage_says_what_it_cannot_list():
    normal = GaussianLaw(mean=np.zeros(1), covariance=np.eye(1))
    point = FiniteLaw(atoms=np.array([[0, 5]]), weights=np.ones(1))
    with pytest.raises(NotComputableError, match="finitely many databases"):
        DECOY.leakage(normal, point, 1)
    chain = SequenceLaw(
        transition=np.full((2, 2), 0.5), initial=np.full(2, 0.5), lengths=(11,), position=1, value=0
    )
    with pytest.raises(NotComputableError, match="2\\^11 sequences are too many to list"):
        DECOY.leakage(chain, point, 1)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_few_runs_leak_what_listing_all_their_outputs_says(name, k):
    mechanism = EXAMPLES[name][0]
    outputs = mechanism.outputs()[:, None]
    for first, second in mechanism.law_pairs():
        listed = channel_pair(
            *((p, mechanism.log_density(outputs, p.atoms[None]).T) for p in (first, second)), k
        )
        reduced = mechanism.leakage(first, second, k)
        for number in (lambda p: p.epsilon(0.0), lambda p: p.epsilon(0.3), lambda p: p.renyi(0.5),
                       lambda p: p.delta(0.1), lambda p: p.accuracy()):  # fmt: skip
            assert number(reduced).hi == pytest.approx(number(listed).hi, abs=1e-10)


def test_a_hundred_runs_tell_the_secret_but_for_the_probability_of_no_change():
    first, second = DECOY.law(0), DECOY.law(1)
    for k in (5, 100):
        kept = 1 - min(DECOY.revealed_within(k, 0), DECOY.revealed_within(k, 1))
        missed = 1 - DECOY.leakage(first, second, k).accuracy().hi
        assert missed <= kept / 2 + 1e-12
        assert DECOY.leakage(first, second, k).epsilon(0.0).hi == math.inf
