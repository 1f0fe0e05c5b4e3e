import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.reconstruction.chain_counts import ChainCountPosterior
from attacks.reconstruction.posterior import (
    entry_posterior,
    log_likelihood,
    secret_posterior,
)
from tests.attacks.reconstruction.noises import gaussian, geometric, laplace

few = settings(max_examples=60, deadline=None)
STICKY = np.array([[0.6, 0.4], [0.2, 0.8]])


def listed(attack, length):
    """Return all sequences of a length and their probabilities, by multiplication."""
    k = len(attack.transition)
    rows = np.array(list(product(range(k), repeat=length)))
    mass = attack.initial[rows[:, 0]]
    for t in range(1, length):
        mass = mass * attack.transition[rows[:, t - 1], rows[:, t]]
    return rows, mass


@st.composite
def chains(draw, longest=10):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    states = draw(st.integers(2, 3))
    transition = rng.dirichlet(np.full(states, draw(st.sampled_from([0.2, 1.0]))), states)
    if draw(st.booleans()):
        transition[0] = np.eye(states)[-1]
    return ChainCountPosterior(
        transition=transition,
        initial=rng.dirichlet(np.ones(states)),
        length=draw(st.integers(1, longest if states == 2 else 7)),
        state=draw(st.integers(0, states - 1)),
        other_lengths=tuple(draw(st.lists(st.integers(1, 3), max_size=2))) if longest < 10 else (),
    )


NOISES = [laplace(1.5), gaussian(2**0.5), geometric(1.0)]


@few
@given(chains(), st.sampled_from(NOISES), st.integers(1, 4), st.integers(0, 2**31))
def test_the_posterior_is_that_of_all_sequences_listed(attack, mechanism, releases, seed):
    rows, mass = listed(attack, attack.length)
    rng = np.random.default_rng(seed)
    truth = rows[rng.choice(len(rows), 3, p=mass / mass.sum())]
    counts = (truth == attack.state).sum(axis=1)[:, None].astype(float)
    seen = np.stack([mechanism.release(counts, rng) for _ in range(releases)], axis=1)
    answers = (rows == attack.state).sum(axis=1)[:, None].astype(float)
    posterior = secret_posterior(log_likelihood(mechanism, seen, answers), mass / mass.sum())
    slow = entry_posterior(posterior, rows, len(attack.transition))
    assert attack.entries(mechanism, seen) == pytest.approx(slow, abs=1e-9)


@few
@given(chains(longest=5), st.integers(0, 2**31))
def test_several_users_are_the_posterior_of_all_their_sequences_listed(attack, seed):
    rows, mass = listed(attack, attack.length)
    answers = (rows == attack.state).sum(axis=1).astype(float)
    for length in attack.other_lengths:
        other, other_mass = listed(attack, length)
        visits = (other == attack.state).sum(axis=1)
        rows = np.repeat(rows, len(other), axis=0)
        mass = np.outer(mass, other_mass).ravel()
        answers = np.add.outer(answers, visits).ravel()
    rng = np.random.default_rng(seed)
    mechanism = laplace(1.0)
    chosen = rng.choice(len(rows), 2, p=mass / mass.sum())
    seen = np.stack([mechanism.release(answers[chosen][:, None], rng) for _ in range(2)], axis=1)
    logs = log_likelihood(mechanism, seen, answers[:, None])
    slow = entry_posterior(secret_posterior(logs, mass / mass.sum()), rows, len(attack.transition))
    assert attack.entries(mechanism, seen) == pytest.approx(slow, abs=1e-9)


def sticky(length, **changes):
    return ChainCountPosterior(
        transition=STICKY, initial=np.array([1, 2]) / 3, length=length, state=1, **changes
    )


def drawn(size, length, rng):
    chain = np.empty((size, length), dtype=int)
    chain[:, 0] = rng.random(size) < 2 / 3
    for t in range(1, length):
        chain[:, t] = rng.random(size) < STICKY[chain[:, t - 1], 1]
    return chain


def test_useless_noise_leaves_the_prior():
    """Null control."""
    attack = sticky(50)
    seen = laplace(1e9).release(np.full((4, 3, 1), 20.0), np.random.default_rng(0))
    found = attack.entries(laplace(1e9), seen)
    assert found == pytest.approx(np.broadcast_to(attack.prior(), found.shape), abs=1e-6)


def test_a_count_without_noise_at_an_end_reveals_every_entry():
    """Power control."""
    attack = sticky(50)
    found = attack.entries(laplace(0.01), np.array([0.0, 50.0]).reshape(2, 1, 1))
    assert found[0, :, 0] == pytest.approx(np.ones(50), abs=1e-9)
    assert found[1, :, 1] == pytest.approx(np.ones(50), abs=1e-9)


def test_entries_are_guessed_as_often_as_the_posterior_promises():
    rng = np.random.default_rng(5)
    truth = drawn(400, 12, rng)
    counts = truth.sum(axis=1)[:, None].astype(float)
    mechanism = laplace(2.0)
    correct = []
    for k in (1, 30):
        seen = np.stack([mechanism.release(counts, rng) for _ in range(k)], axis=1)
        found = sticky(12).entries(mechanism, seen)
        hits = found.argmax(axis=-1) == truth
        # A calibrated posterior: hits minus promised probabilities have mean 0, by sequence.
        excess = (hits - found.max(axis=-1)).mean(axis=1)
        assert abs(excess.mean()) < 4 * excess.std() / np.sqrt(len(excess))
        correct.append(hits.mean())
    prior = (truth == 1).mean()
    assert correct[1] > correct[0] > prior


def test_other_users_hide_the_attacked_one():
    seen = np.full((1, 5, 1), 10.0)
    alone = sticky(10).entries(laplace(0.5), seen)
    among = sticky(10, other_lengths=(10,) * 20).entries(laplace(0.5), seen + 20 * 20 / 3)
    prior = sticky(10).prior()
    assert np.abs(among[0] - prior).max() < np.abs(alone[0] - prior).max()


def test_improbable_counts_are_computed_under_a_tilt():
    """A sequence that the model all but excludes: 1,500 times state 0, probability 1e-333."""
    attack = sticky(1500)
    seen = np.zeros((1, 200, 1))
    found = attack.entries(laplace(0.01), seen)
    assert found[0, :, 0] == pytest.approx(np.ones(1500), abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"initial": [0.5, 0.6]}, "initial must be non-negative and sum to 1"),
        ({"initial": [1.0]}, "initial must have one entry a state"),
        ({"transition": [[0.5, 0.6], [0.5, 0.5]]}, "transition rows must sum to 1"),
        ({"state": 2}, "state must be below 2"),
        ({"length": 0}, "length must be a whole number"),
        ({"other_lengths": (0,)}, "length must be a whole number"),
    ],
)
def test_bad_chains_are_refused_in_one_line(changes, message):
    settings_ = {"transition": STICKY, "initial": [0.5, 0.5], "length": 3, "state": 1}
    with pytest.raises(ValueError, match=message):
        ChainCountPosterior(**(settings_ | changes))


def test_a_release_that_no_count_explains_is_refused():
    with pytest.raises(ValueError, match="possible under the chain"):
        sticky(3).counts(NOISES[2], np.full((1, 1, 1), 0.5))


def test_two_thousand_entries_and_a_hundred_releases_fit_in_half_a_gibibyte():
    rng = np.random.default_rng(2)
    truth = drawn(1, 2000, rng)
    mechanism = laplace(20.0)
    seen = mechanism.release(np.full((100, 1), float(truth.sum())), rng)[None]
    tracemalloc.start()
    found = sticky(2000).entries(mechanism, seen)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 512 * 2**20
    assert found.shape == (1, 2000, 2)
    # The entries' expected number of visits is the count that the releases name.
    assert found[0, :, 1].sum() == pytest.approx(truth.sum(), abs=4 * 20 * np.sqrt(2 / 100))
