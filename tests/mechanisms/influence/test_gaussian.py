import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mechanisms.influence.gaussian import (
    observed_curve,
    observed_influence,
    process_covariance,
)
from mechanisms.influence.truncated_gaussian import truncated_curve
from tests.support.truncated_influence import truncated_influence

BOX = {"bound": 5.0, "width": 0.1}


@pytest.mark.parametrize(
    ("decay", "expected"),
    [
        (0.5, [16.377, 8.056, 0.039, 0.020, 0.000]),
        (1.0, [93.75, 41.72, 3.559, 1.791, 0.024, 0.012, 0.000]),
        (2.0, [1093.6, 355.7, 87.09, 45.97, 7.333, 3.777, 0.223, 0.113]),
    ],
)
def test_process_curves_have_the_known_values(decay, expected):
    values = observed_curve(process_covariance(21, decay), **BOX, b_max=8).values
    assert values[1 : len(expected) + 1] == pytest.approx(expected, rel=1e-4, abs=5e-4)


def test_the_centre_is_not_always_the_worst_node():
    sigma = process_covariance(7, 2.0)
    assert observed_influence(sigma, 3, range(1, 6), **BOX) == pytest.approx(1.0991, abs=5e-5)
    assert observed_influence(sigma, 2, range(5), **BOX) == pytest.approx(1.3545, abs=5e-5)
    assert observed_curve(sigma, **BOX).at(5) == pytest.approx(1.3545, abs=5e-5)


def test_the_nearest_set_is_only_an_upper_bound_away_from_the_centre():
    sigma = process_covariance(7, 5.0)
    nearest = observed_influence(sigma, 1, [0, 1, 2], **BOX)
    every = [
        observed_influence(sigma, 1, [1, j, k], **BOX)
        for j in range(7)
        for k in range(j)
        if 1 not in (j, k)
    ]
    assert nearest == pytest.approx(563.3, abs=0.1)
    assert min(every) == pytest.approx(368.4, abs=0.1)
    assert observed_curve(sigma, **BOX).direction == "upper bound"


def test_the_closed_form_is_the_odds_of_windows_over_all_observations():
    """Second route: windows by numerical integration of conditional normal densities."""
    sigma = process_covariance(3, 1.0)
    kept = sigma[np.ix_([2], [2])]
    weight = np.linalg.solve(kept, sigma[[2], 1])
    spread = np.sqrt(sigma[1, 1] - weight @ sigma[[2], 1])
    worst = 0.0
    for seen in (-1.5, -0.7, 0.4, 1.5):
        odds = []
        for start in np.linspace(-1.5, 1.4, 59):
            inside = quad(norm(weight[0] * seen, spread).pdf, start, start + 0.1, epsrel=1e-10)[0]
            prior = quad(norm(0, 1).pdf, start, start + 0.1, epsrel=1e-10)[0]
            odds.append(np.log(inside / prior))
        worst = max(worst, max(odds) - min(odds))
    closed = observed_influence(sigma, 1, [0, 1], bound=1.5, width=0.1)
    assert closed == pytest.approx(worst, rel=1e-3)
    assert closed >= worst - 1e-9


def test_one_coordinate_aside_is_the_same_for_the_truncated_prior():
    sigma = process_covariance(3, 2.0)
    assert truncated_influence(sigma, 1, [1], **BOX) == pytest.approx(
        observed_influence(sigma, 1, [1], **BOX), rel=1e-6
    )


def test_one_coordinate_aside_is_covered_where_the_best_window_is_inside_the_box():
    sigma = np.array([[166.81, -34.21, 0.83], [-34.21, 36.46, -0.2], [0.83, -0.2, 0.01]])
    closed = observed_influence(sigma, 2, [2], bound=0.2, width=0.02)
    truth = truncated_influence(sigma, 2, [2], bound=0.2, width=0.02, points=160)
    assert closed == pytest.approx(1.3119, abs=1e-3)
    assert truth == pytest.approx(0.0748, abs=1e-3)


@pytest.mark.parametrize("decay", [0.5, 1.0, 5.0])
def test_the_flat_curve_covers_the_truncated_prior(decay):
    sigma = process_covariance(3, decay)
    curve = truncated_curve(sigma, **BOX)
    for b, aside in [(1, [1]), (2, [0, 1]), (2, [1, 2])]:
        assert truncated_influence(sigma, 1, aside, **BOX) <= curve.at(b) * (1 + 1e-6)
    assert curve.at(2) == curve.at(1)
    assert curve.at(3) == 0


@pytest.mark.parametrize(
    ("decay", "truth", "closed"),
    [(1.0, 21.047, 21.040), (2.0, 49.713, 47.434), (5.0, 197.155, 122.636)],
)
def test_the_closed_form_is_no_upper_bound_for_the_truncated_prior(decay, truth, closed):
    sigma = process_covariance(3, decay)
    computed = truncated_influence(sigma, 1, [0, 1], **BOX)
    assert computed == pytest.approx(truth, abs=1e-3)
    assert observed_influence(sigma, 1, [0, 1], **BOX) == pytest.approx(closed, abs=1e-3)
    assert computed > observed_influence(sigma, 1, [0, 1], **BOX)


def test_four_strongly_tied_coordinates_show_the_gap_at_its_widest():
    sigma = process_covariance(4, 5.0)
    computed = truncated_influence(sigma, 1, [0, 1], **BOX, starts=3, points=40)
    assert computed == pytest.approx(1262.2, abs=0.1)
    assert observed_influence(sigma, 1, [0, 1], **BOX) == pytest.approx(553.9, abs=0.1)


def test_the_closed_form_can_also_lie_above_the_truncated_truth():
    sigma = process_covariance(3, 1.0)
    assert truncated_influence(sigma, 0, [0, 1], **BOX) < 0.96 * observed_influence(
        sigma, 0, [0, 1], **BOX
    )


def test_independent_coordinates_and_no_kept_coordinates_tell_nothing():
    curve = observed_curve(np.eye(4), **BOX)
    assert curve.values[0] == np.inf
    assert curve.values[1:].tolist() == [0.0] * 4
    sigma = process_covariance(3, 2.0)
    assert observed_curve(sigma, **BOX).at(3) == 0
    assert truncated_influence(sigma, 1, [0, 1, 2], **BOX) == 0
    assert truncated_influence(np.eye(2), 0, [0], **BOX) == pytest.approx(0, abs=1e-9)


def test_bad_settings_are_refused():
    sigma = process_covariance(3, 1.0)
    with pytest.raises(ValueError, match="aside must hold the secret coordinate 1"):
        observed_influence(sigma, 1, [0], **BOX)
    with pytest.raises(ValueError, match="aside must hold coordinates in"):
        observed_influence(sigma, 1, [1, 3], **BOX)
    with pytest.raises(ValueError, match="width must be in"):
        observed_curve(sigma, bound=1.0, width=2.5)
    with pytest.raises(ValueError, match="positive definite"):
        observed_curve(np.ones((2, 2)), **BOX)
    with pytest.raises(ValueError, match="symmetric"):
        observed_curve(np.array([[1.0, 0.5], [0.2, 1.0]]), **BOX)
    with pytest.raises(ValueError, match="at most 4 coordinates"):
        truncated_influence(process_covariance(5, 1.0), 0, [0], **BOX)
