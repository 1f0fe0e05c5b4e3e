import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit
from scipy.stats import norm

from attacks.reconstruction.daily_count import (
    earliest_day,
    knows_all_others,
    knows_the_share_only,
)
from attacks.reconstruction.posterior import (
    entry_posterior,
    log_likelihood,
    secret_posterior,
)
from tests.attacks.reconstruction.noises import gaussian, geometric, laplace


def watched(mechanism, share=0.5, *, days=400, n_trials=500, seed=0, **changes):
    rng = np.random.default_rng(seed)
    return knows_all_others(mechanism, share, days=days, n_trials=n_trials, rng=rng, **changes)


@pytest.mark.parametrize("noise", [laplace(2.0), geometric(2.0)])
def test_no_entry_is_known_before_its_odds_can_have_moved_that_far(noise):
    found = watched(noise)
    assert found.runs.min() >= earliest_day(0.5, 0.5) == 6
    assert found.not_yet_revealed == 0
    low, high = found.quantile_interval(0.5)
    assert low <= found.median <= high


def test_the_first_day_has_its_closed_form_under_gaussian_noise():
    share, deviation, n = 0.3, 0.5, 20_000
    found = watched(gaussian(deviation), share, days=1, n_trials=n)
    # log odds of bit 1 after y: logit(share) + (y - 1/2) / deviation^2.
    bar = deviation**2 * (logit(0.95) - np.array([logit(share), logit(1 - share)])) + 0.5
    expected = share * norm.sf((bar[0] - 1) / deviation) + (1 - share) * norm.sf(
        (bar[1] - 1) / deviation
    )
    assert found.revealed_within()[1] == pytest.approx(
        expected, abs=2.6 * math.sqrt(expected * (1 - expected) / n)
    )


def test_more_noise_takes_longer_and_days_grow_with_the_variance():
    """Null and power controls: nothing within the cap, and at once."""
    medians = [watched(gaussian(d), days=3000, n_trials=800).median for d in (2.0, 4.0, 8.0)]
    assert 3 < medians[1] / medians[0] < 5
    assert 3 < medians[2] / medians[1] < 5
    assert watched(laplace(1e6)).not_yet_revealed == 1
    assert watched(laplace(0.01)).quantile(1.0) == 1


def test_a_prior_that_is_sure_enough_needs_no_day():
    found = watched(laplace(5.0), 0.97, days=3)
    assert (found.runs == 0).mean() == pytest.approx(0.97, abs=0.03)
    assert earliest_day(0.2, 0.97) == 0


@pytest.mark.parametrize("mechanism", [laplace(3.0), gaussian(3.0), geometric(3.0)])
def test_who_knows_the_share_only_ends_at_the_share_and_knows_no_entry(mechanism):
    rng = np.random.default_rng(1)
    rows, ones, days = 200, 70, 400
    counts = np.full((5, 1), float(ones))
    seen = np.stack([mechanism.release(counts, rng) for _ in range(days)], axis=1)
    found = knows_the_share_only(mechanism, seen, rows, 0.4)
    assert found.shape == (5, days + 1)
    assert (found[:, 0] == 0.4).all()
    assert found[:, -1] == pytest.approx(np.full(5, ones / rows), abs=4 * 4.3 / 20 / rows)
    assert found.max() < 0.5


def test_of_a_single_row_the_share_attacker_knows_the_entry():
    """Power control: there the count is the entry."""
    rng = np.random.default_rng(3)
    truth = np.array([[0.0], [1.0]])
    seen = np.stack([laplace(3.0).release(truth, rng) for _ in range(200)], axis=1)
    found = knows_the_share_only(laplace(3.0), seen, 1, 0.5)[:, -1]
    assert found[0] < 0.05
    assert found[1] > 0.95


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 8), st.floats(0.05, 0.95), st.floats(0.2, 5))
def test_the_share_attackers_posterior_is_that_of_all_columns_listed(seed, rows, share, scale):
    rng = np.random.default_rng(seed)
    columns = (np.arange(2**rows)[:, None] >> np.arange(rows)) & 1
    mass = np.where(columns == 1, share, 1 - share).prod(axis=1)
    answers = columns.sum(axis=1)[:, None].astype(float)
    mechanism = laplace(scale)
    truth = answers[rng.choice(len(mass), 2, p=mass / mass.sum())]
    seen = np.stack([mechanism.release(truth, rng) for _ in range(3)], axis=1)
    found = knows_the_share_only(mechanism, seen, rows, share)
    for day in (1, 3):
        logs = log_likelihood(mechanism, seen[:, :day], answers)
        posterior = secret_posterior(logs, mass / mass.sum())
        slow = entry_posterior(posterior, columns, 2)[:, 0, 1]
        assert found[:, day] == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: watched(laplace(1.0), 1.0), r"share must be in \(0, 1\)"),
        (lambda: watched(laplace(1.0), days=0), "days must be a whole number of at least 1"),
        (lambda: watched(laplace(1.0), known=0.5), r"known must be in \(0.5, 1\)"),
        (lambda: watched(laplace(1.0), n_trials=0), "n_trials must be a whole number"),
        (lambda: earliest_day(0.0, 0.5), r"epsilon must be in \(0, inf\)"),
        (
            lambda: knows_the_share_only(laplace(1.0), np.zeros((1, 1, 1)), 0, 0.5),
            "rows must be a whole number",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_mechanism_without_a_density_is_refused():
    with pytest.raises(TypeError, match="mechanism must offer log_density"):
        watched(object())
