import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.collapse.nfc import constraint_value, nfc_cost, repeated_epsilon

ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.4, 0.5], [0.5, 0.2, 0.3], [0.3, 0.4, 0.3]])
SECRET = np.array([0, 0, 1, 1])
UNIFORM = np.full(4, 0.25)
few = settings(max_examples=60, deadline=None)
fewer = settings(max_examples=12, deadline=None)


def random_channel(seed, databases=4, outputs=3, *, zeros=False):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(outputs, 0.7), databases)
    if zeros:
        rows = rows * (rng.random(rows.shape) < 0.8)
        rows[:, 0] += 1e-3
    return rows / rows.sum(axis=1, keepdims=True)


def test_the_reference_channel_leaks_nothing_once_and_half_a_nat_a_run():
    assert repeated_epsilon(ROWS, SECRET, UNIFORM, 1) == pytest.approx(0, abs=1e-12)
    assert nfc_cost(ROWS, SECRET).value == pytest.approx(0.5108, abs=5e-5)


@pytest.mark.parametrize(("runs", "a_run"), [(2, 0.3466), (8, 0.4242), (32, 0.4892), (64, 0.5000)])
def test_the_cost_a_run_of_the_reference_channel_rises_to_that_of_the_linear_program(runs, a_run):
    assert repeated_epsilon(ROWS, SECRET, UNIFORM, runs) / runs == pytest.approx(a_run, abs=5e-5)


@fewer
@given(st.integers(0, 2**31), st.sampled_from([1, 2, 5, 20]), st.booleans())
def test_repeated_runs_cost_at_most_the_linear_program_and_one_constant(seed, runs, zeros):
    channel = random_channel(seed, zeros=zeros)
    prior = np.random.default_rng(seed + 1).dirichlet(np.full(4, 2.0)) * 0.99 + 0.0025
    cost = nfc_cost(channel, SECRET)
    exact = repeated_epsilon(channel, SECRET, prior, runs)
    assert exact <= runs * cost.value + cost.constant(prior) + 1e-9


@fewer
@given(st.integers(0, 2**31))
def test_the_cost_a_run_tends_to_the_linear_program(seed):
    """From below as well: by duality a type of outputs exists that no mixture explains better."""
    channel = random_channel(seed)
    runs = 60
    a_run = repeated_epsilon(channel, SECRET, UNIFORM, runs) / runs
    # log 2 for the two databases a side; tables of counts are 1/60 apart from the best type.
    slack = (math.log(2) + 3 * np.abs(np.log(channel)).max()) / runs
    assert a_run >= nfc_cost(channel, SECRET).value - slack


@fewer
@given(st.integers(0, 2**31))
def test_no_law_on_a_grid_beats_the_weights_found(seed):
    channel = random_channel(seed)
    cost = nfc_cost(channel, SECRET)
    grid = np.linspace(0, 1, 101)
    worst = 0.0
    for d in range(4):
        others = channel[SECRET[d] != SECRET]
        worst = max(
            worst, min(constraint_value(channel[d], others, np.array([b, 1 - b])) for b in grid)
        )
    steepest = np.abs(np.log(channel)).max() * 2 * 0.005
    assert cost.value <= worst + 1e-9
    assert cost.value >= worst - steepest


@few
@given(st.integers(0, 2**31), st.integers(1, 5))
def test_random_post_processing_never_raises_a_constraint_of_fixed_weights(seed, outputs):
    """The "only if" of Theorem 2 contradicts this: no test is built on it."""
    rng = np.random.default_rng(seed)
    channel = random_channel(seed, databases=5, outputs=4, zeros=True)
    beta = rng.dirichlet(np.full(4, 0.5))
    kernel = rng.dirichlet(np.full(outputs, 0.5), 4)
    before = constraint_value(channel[0], channel[1:], beta)
    after = constraint_value(channel[0] @ kernel, channel[1:] @ kernel, beta)
    assert after <= before + 1e-9


@fewer
@given(st.integers(0, 2**31))
def test_random_post_processing_never_raises_the_value_of_the_linear_program(seed):
    channel = random_channel(seed)
    kernel = np.random.default_rng(seed).dirichlet(np.ones(3), 3)
    assert nfc_cost(channel @ kernel, SECRET).value <= nfc_cost(channel, SECRET).value + 1e-9


def test_a_pure_differentially_private_mechanism_meets_the_constraints_at_its_epsilon():
    flip = 1 / (1 + math.exp(0.8))
    channel = np.array([[1 - flip, flip], [flip, 1 - flip]])
    cost = nfc_cost(channel, np.array([0, 1]))
    assert cost.value == pytest.approx(0.8)
    assert cost.constant(np.array([0.3, 0.7])) == pytest.approx(0, abs=1e-12)
    assert repeated_epsilon(channel, np.array([0, 1]), np.array([0.3, 0.7]), 7) == pytest.approx(
        7 * 0.8
    )


def test_several_mechanisms_share_their_weights():
    """Alone each meets its constraints with weights of its own; together none serve both."""
    one = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])
    other = np.array([[0.5, 0.5], [0.9, 0.1], [0.5, 0.5]])
    secret = np.array([0, 1, 1])
    alone = [nfc_cost(c, secret).value for c in (one, other)]
    together = nfc_cost([one, other], secret, budgets=[1.0, 1.0]).value
    assert together > max(alone) + 0.2
    halved = nfc_cost([one, other], secret, budgets=[2.0, 2.0]).value
    assert halved == pytest.approx(together / 2)


def test_an_output_that_no_single_database_explains_makes_the_cost_infinite():
    channel = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    secret = np.array([0, 1, 1])
    cost = nfc_cost(channel, secret)
    assert cost.value == math.inf == cost.constant(np.full(3, 1 / 3))
    assert repeated_epsilon(channel, secret, np.array([0.5, 0.25, 0.25]), 1) == pytest.approx(0)
    assert repeated_epsilon(channel, secret, np.array([0.5, 0.25, 0.25]), 2) == math.inf


@pytest.mark.parametrize(
    ("channel", "secret", "prior", "runs", "message"),
    [
        (ROWS, SECRET, UNIFORM, 0, "n_releases must be a whole number of at least 1, got"),
        (ROWS, SECRET, UNIFORM * 2, 1, "prior must be non-negative and sum to 1"),
    ],
)
def test_bad_repetitions_are_refused_in_one_line(channel, secret, prior, runs, message):
    with pytest.raises(ValueError, match=message):
        repeated_epsilon(channel, secret, prior, runs)


@pytest.mark.parametrize(
    ("channel", "secret", "budgets", "message"),
    [
        (ROWS * 2, SECRET, (1.0,), "channel rows must be non-negative and sum to 1"),
        (ROWS, np.zeros(4, int), (1.0,), "secret must hold 0 and 1"),
        (ROWS, SECRET, (1.0, 2.0), "budgets must have one entry a mechanism"),
        (ROWS[:3], SECRET, (1.0,), "one row a database"),
    ],
)
def test_bad_constraints_are_refused_in_one_line(channel, secret, budgets, message):
    with pytest.raises(ValueError, match=message):
        nfc_cost(channel, secret, budgets)


def test_a_database_without_mass_has_no_constant():
    with pytest.raises(ValueError, match="prior must be positive"):
        nfc_cost(ROWS, SECRET).constant(np.array([0.5, 0.5, 0.0, 0.0]))
