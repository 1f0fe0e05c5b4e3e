from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.curve import independence
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.uncertainty import uncertain_curve, uncertainty_penalty

ONCE = np.log(1.2 / 0.8)


def spread_joint(table, spread):
    return over_vertices((1 - spread) * table, (1 + spread) * table)


def over_vertices(lower, upper):
    """Largest log ratio over the corners of the box of joint tables."""
    shape = lower.shape
    corners = np.array(list(product((False, True), repeat=lower.size))).reshape(-1, *shape)
    table = np.where(corners, upper, lower)
    logs = np.log(table / table.sum(axis=2, keepdims=True))
    return (logs[:, :, None, :] - logs[:, None, :, :]).max(axis=(0, 3))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0, 0.9))
def test_the_joint_reading_has_its_closed_form_and_stays_below_twice_the_factor(seed, size, t):
    law = np.random.default_rng(seed).dirichlet(np.ones(size) + 0.5, 2)
    joint = law * np.array([[0.3], [0.7]])
    q = law
    high = (1 + t) * q / ((1 - t) + 2 * t * q)
    low = (1 - t) * q / ((1 + t) - 2 * t * q)
    expected = np.log(high[:, None, :] / low[None, :, :]).max(axis=2)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(spread_joint(joint, t), expected, rtol=1e-9, atol=1e-9)
    nominal = np.log(q[:, None, :] / q[None, :, :]).max(axis=2)
    assert (spread_joint(joint, t) <= nominal + uncertainty_penalty(t) + 1e-12).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0, 0.9))
def test_conditional_uncertainty_shifts_the_nominal_influence(seed, size, t):
    q = np.random.default_rng(seed).dirichlet(np.ones(size) + 0.5, 2)
    nominal = np.log(q[0] / q[1]).max()
    widest = np.log((1 + t) * q[0] / ((1 - t) * q[1])).max()
    assert widest == pytest.approx(nominal + uncertainty_penalty(t, "conditional"))


@pytest.mark.parametrize(("smallest", "floor"), [(0.5, 0.405), (0.1, 0.728), (1e-6, 0.811)])
def test_independent_cells_meet_the_floor_of_the_joint_reading(smallest, floor):
    law = np.array([smallest, 1 - smallest])
    joint = np.stack([0.5 * law, 0.5 * law])
    assert spread_joint(joint, 0.2)[0, 1] == pytest.approx(floor, abs=1e-3)


def test_the_conditional_bound_fails_where_the_joint_is_uncertain():
    # Two normalised joint tables within 20 %; the second shows more than the conditional bound.
    nominal = 0.5 * np.array([[0.06, 0.94], [0.04, 0.96]])
    rest = (2 - 0.06 * 1.2 - 0.94 * 0.8 - 0.04 * 0.8) / 0.96
    true = 0.5 * np.array([[0.06 * 1.2, 0.94 * 0.8], [0.04 * 0.8, 0.96 * rest]])
    assert true.sum() == pytest.approx(1)
    assert ((true >= 0.8 * nominal - 1e-12) & (true <= 1.2 * nominal + 1e-12)).all()
    law, known = true / true.sum(axis=1, keepdims=True), nominal * 2
    shown = np.log(law[0] / law[1]).max()
    assert shown > np.log(known[0] / known[1]).max() + uncertainty_penalty(0.2, "conditional") + 0.2
    assert shown <= spread_joint(nominal, 0.2)[0, 1]


def test_an_uncertain_curve_does_not_decay_below_its_floor():
    curve = chain_curve(MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]])), 60)
    shifted = uncertain_curve(curve, 0.2, "conditional")
    np.testing.assert_allclose(shifted.values[1:60], curve.values[1:60] + ONCE)
    assert shifted.at(60) == 0
    assert shifted.direction == "upper bound"
    budget = shifted.budget(0.4)
    assert budget.total == pytest.approx(0.4 / 60)
    assert "group privacy of all 60 entries" in budget.note
    assert shifted.budget(0.5).note == ""
    assert uncertain_curve(curve, 0.2).budget(0.5).total == pytest.approx(0.5 / 60)


def test_uncertain_independence_is_no_independence():
    shifted = uncertain_curve(independence(10), 0.2)
    assert shifted.at(1) == pytest.approx(2 * ONCE)
    assert shifted.at(10) == 0


def test_no_uncertainty_changes_nothing():
    curve = independence(10)
    assert uncertain_curve(curve, 0.0).values.tolist() == curve.values.tolist()
    assert uncertain_curve(curve, 0.0).direction == "exact"


def test_bad_spreads_and_readings_are_refused():
    with pytest.raises(ValueError, match="spread must be in"):
        uncertainty_penalty(1.0)
    with pytest.raises(ValueError, match="uncertainty_on must be"):
        uncertainty_penalty(0.1, "both")
