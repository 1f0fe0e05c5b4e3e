"""Snapped noise against exact counts of numpy's draws, and against enumerated laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, laplace, norm

from mechanisms.leakage.pair import FinitePair, finite_renyi
from mechanisms.noise.additive import AdditiveNoise, TranslationClaim
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.grid import (
    LAPLACE_TAIL,
    NORMAL_TAIL,
    SLACK,
    _refined,
    exponential,
    rounded_sum,
    standard_laplace,
    standard_normal,
    steps_for,
)
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions, Condition
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import PURE, Approximate, Probabilistic, Renyi
from mechanisms.privacy.slack import renyi_widened, widened

SCALES = st.floats(1e-3, 1e4)


def draw_of(k, scale):
    """Return what numpy's inversion makes of its number k / 2^53, k >= 1."""
    u = k * 2.0**-53
    return -scale * math.log(2.0 - u - u) if u >= 0.5 else scale * math.log(u + u)


def first_at_least(x, scale, step, cell):
    """Return the smallest k whose draw lands in `cell` or above; the map is monotone."""
    low, high = 1, 2**53
    while low < high:
        middle = (low + high) // 2
        noise = np.array([[draw_of(middle, 1.0)]])
        landed = rounded_sum(np.array([[x]]), noise, np.array([scale]), np.array([step]))[0, 0]
        low, high = (low, middle) if landed >= cell * step else (middle + 1, high)
    return low


@given(scale=SCALES, x=st.floats(-50, 50), at=st.floats(-2.99, 2.99))
@settings(max_examples=40, deadline=None)
def test_every_step_collects_numpys_draws_as_the_law_gives_them(scale, x, at):
    step = float(steps_for(np.array([scale]))[0])
    cell = round((x + at * scale) / step)
    found = first_at_least(x, scale, step, cell + 1) - first_at_least(x, scale, step, cell)
    ends = ((cell + np.array([-0.5, 0.5])) * step - x) / scale
    low, high = ends if ends.sum() < 0 else -ends[::-1]  # the side where no digits are lost
    mass = (
        laplace.cdf(high) - laplace.cdf(low)
        if high > 0
        else 0.5 * math.exp(low) * math.expm1(high - low)
    )
    # The ends of a step are known to the rounding of x in units of the scale.
    digits = 4 * np.finfo(float).eps * (abs(x) / step + 2**12)
    assert abs(math.log(found / 2**53 / mass)) <= SLACK + digits


def test_draws_follow_their_laws_in_the_middle_and_in_the_tails():
    n = 200_000
    z = standard_laplace((n, 1), np.random.default_rng(0))[:, 0]
    assert kstest(z, "laplace").pvalue > 1e-3
    far = np.abs(z[np.abs(z) > LAPLACE_TAIL]) - LAPLACE_TAIL
    assert kstest(far, "expon").pvalue > 1e-3
    assert kstest(exponential(n, np.random.default_rng(1)), "expon").pvalue > 1e-3
    normal = standard_normal((5_000_000,), np.random.default_rng(2))
    assert kstest(normal[:n], "norm").pvalue > 1e-3
    tail = np.abs(normal[np.abs(normal) > NORMAL_TAIL])
    assert tail.size == pytest.approx(normal.size * 2 * norm.sf(NORMAL_TAIL), rel=0.1)
    assert kstest(norm.sf(tail) / norm.sf(NORMAL_TAIL), "uniform").pvalue > 1e-3
    assert abs((normal > 0).mean() - 0.5) < 0.002


def test_only_the_last_digits_of_tails_differ_from_numpys_draws():
    z = standard_laplace((500_000,), np.random.default_rng(3))
    plain_rng, rng = np.random.default_rng(3), np.random.default_rng(3)
    plain = plain_rng.laplace(size=500_000)
    assert (standard_laplace((500_000,), rng) == z).all()
    assert rng.random() == plain_rng.random()  # later draws are those of before
    near = np.abs(plain) < LAPLACE_TAIL
    assert (z[near] == plain[near]).all()
    assert z == pytest.approx(plain, rel=1e-6)
    assert (z[~near] != plain[~near]).mean() > 0.5
    normal = standard_normal((500_000,), np.random.default_rng(3))
    plain = np.random.default_rng(3).standard_normal(500_000)
    assert (normal != plain).sum() == (np.abs(plain) >= NORMAL_TAIL).sum() > 50


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7, 100])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_coarsest_draws_are_spread_over_what_the_law_has_between_them(k, side):
    """The k-th draw from the end stands for tail masses between (k - 1) and k parts of 2^52."""
    number = k if side < 0 else 2**53 - k
    drawn = np.full(20_000, draw_of(number, 1.0))
    assert np.sign(drawn[0]) == side
    masses = np.exp(-np.abs(_refined(drawn, np.random.default_rng(k)))) * 2.0**52
    assert kstest(masses, "uniform", args=(k - 1, 1)).pvalue > 1e-4


def test_both_halves_of_the_noise_and_coordinates_of_their_own_scales():
    scales = np.array([0.01, 1.0, 300.0])
    noise = LaplaceNoise(scales=scales)
    z = noise.release_on_grid(np.zeros((100_000, 3)), np.random.default_rng(0))
    assert z.var(axis=0) == pytest.approx(2 * scales**2, rel=0.03)
    for k in range(3):
        assert kstest(z[:, k] / scales[k], "laplace").pvalue > 1e-3
    covariance = np.array([[4.0, 1.5], [1.5, 1.0]])
    noise = GaussianNoise(covariance=covariance, calibration="analytic")
    y = noise.release_on_grid(np.zeros((200_000, 2)), np.random.default_rng(0))
    assert np.cov(y.T) == pytest.approx(covariance, rel=0.02)
    assert (y == np.rint(y / noise.step) * noise.step).all()


@pytest.mark.parametrize("noise", [
    LaplaceNoise(scales=np.array([0.01])),
    GaussianNoise(covariance=np.array([[0.0001]]), calibration="analytic"),
])  # fmt: skip
def test_two_answers_reach_the_same_releases(noise):
    """In the middle of the law every step is reached from either answer, however it is written."""
    answers = (0.0, 0.001 * math.pi)
    reached = []
    for x in answers:
        y = noise.release_on_grid(np.full((100_000, 1), x), np.random.default_rng(1))[:, 0]
        steps = np.rint(y / noise.step).astype(int)
        assert (steps * noise.step == y).all()
        reached.append(set(steps[np.abs(y) <= 0.005].tolist()))
    assert reached[0] == reached[1]
    assert len(reached[0]) == 2 * int(0.005 / noise.step[0]) + 1


def grid_law(x, law, step, reach):
    """Return the log probabilities of every step from -reach to reach, and both tails."""
    ends = (np.arange(-reach, reach + 2) - 0.5) * step - x
    low, high = law.logcdf(ends), law.logsf(ends)
    left = low[1:] + np.log(-np.expm1(low[:-1] - low[1:]))
    right = high[:-1] + np.log(-np.expm1(high[1:] - high[:-1]))
    return np.concatenate([[low[0]], np.where(ends[1:] < 0, left, right), [high[-1]]])


@given(scale=SCALES, moved=st.floats(-4, 4), bits=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_the_claim_covers_the_exact_law_of_the_grid(scale, moved, bits):
    """A small grid is enumerated: rounding adds nothing to what real arithmetic leaks."""
    step = float(steps_for(np.array([scale]))[0]) * 2.0**bits * 8
    x = moved * scale
    shift = np.array([[x]])
    reach = int(40 * scale / step) + 5
    first, second = (grid_law(a, laplace(scale=scale), step, reach) for a in (0.0, x))
    pure = FinitePair.from_logs(first, second).epsilon(0.0).hi
    claim = TranslationClaim(differences=shift, notion=PURE, theorem="t", assumptions=Assumptions())
    claimed = AdditiveNoise(noise=LaplaceNoise(scales=np.array([scale])), claim=claim)
    assert pure <= claimed.guarantee.bound * (1 + 1e-9) + 1e-9
    assert (
        pure >= 0.99 * claimed.guarantee.bound - 1e-9
    )  # attained: the test would see a wrong claim
    normal = GaussianNoise(covariance=np.array([[scale**2]]), calibration="analytic")
    reach = int(8 * scale / step) + 5
    first, second = (grid_law(a, norm(scale=scale), step, reach) for a in (0.0, x))
    delta = 1e-4
    claim = TranslationClaim(
        differences=shift, notion=Approximate(delta=delta), theorem="t", assumptions=Assumptions()
    )
    bound = AdditiveNoise(noise=normal, claim=claim).guarantee.bound
    assert FinitePair.from_logs(first, second).epsilon(delta).hi <= bound + 1e-9


@given(
    seed=st.integers(0, 10**6),
    slack=st.floats(1e-6, 0.3),
    order=st.sampled_from([0.5, 1.0, 1.001, 1.5, 2.0, 10.0, math.inf]),
)
@settings(max_examples=80, deadline=None)
def test_a_slack_covers_every_law_within_it(seed, slack, order):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6), size=2)
    moved = []
    for law in (p, q):
        tilted = law * np.exp(slack / 2 * rng.choice([-1.0, 1.0], size=6))
        moved.append(tilted / tilted.sum())  # within e^+-slack of the law
    bound = finite_renyi(p, q, order)
    assert finite_renyi(*moved, order) <= renyi_widened(bound, order, slack) + 1e-12
    pair, other = FinitePair(p, q), FinitePair(*moved)
    smaller = 0.01 * math.exp(-slack)
    found = Guarantee(notion=Approximate(delta=0.01), bound=pair.epsilon(smaller).hi, theorem="t")
    assert other.epsilon(0.01).hi <= widened(found, slack).bound + 1e-12


def test_a_claim_says_what_its_arithmetic_assumes():
    said = Assumptions(conditions=(Condition.REAL_NUMBERS,))
    claim = TranslationClaim(
        differences=np.array([[1.0]]), notion=PURE, theorem="t", assumptions=said
    )
    noise = LaplaceNoise(scales=np.array([2.0]))
    snapped = AdditiveNoise(noise=noise, claim=claim)
    as_floats = AdditiveNoise(noise=noise, claim=claim, arithmetic="float")
    assert snapped.guarantee.assumptions.conditions == (Condition.SNAPPED,)
    assert as_floats.guarantee.assumptions.conditions == (Condition.REAL_NUMBERS,)
    assert snapped.guarantee.bound == pytest.approx(0.5, abs=1e-9)
    assert snapped.guarantee.bound >= 0.5 + 2 * SLACK
    assert as_floats.guarantee.bound == 0.5
    assert as_floats.step is None
    other = Guarantee(notion=Probabilistic(delta=0.1), bound=1.0, theorem="t", assumptions=said)
    assert widened(other, 0.1) == other  # no theorem, so the condition stays
    assert widened(Guarantee(notion=Renyi(order=2.0), bound=1.0, theorem="t"), 0.1).bound > 1.2
    with pytest.raises(ValueError, match="arithmetic must be 'snapped' or 'float'"):
        AdditiveNoise(noise=noise, claim=claim, arithmetic="real")


def test_noise_that_spares_a_direction_has_no_grid():
    flat = GaussianNoise(covariance=np.array([[1.0, 1.0], [1.0, 1.0]]), calibration="analytic")
    assert flat.step is None
    assert GaussianNoise(covariance=np.zeros((1, 1)), calibration="analytic").step is None


def test_large_answers_keep_the_remainder_beside_the_grid():
    """Beside an answer of 2^40 steps the noise is rounded as beside its remainder alone."""
    scale, step = np.array([1.0]), steps_for(np.array([1.0]))
    z = standard_laplace((1000, 1), np.random.default_rng(0))
    rest = np.full((1000, 1), 0.3 * step[0])
    large = 2.0**40 * step[0]
    near = rounded_sum(np.ldexp(np.rint(np.ldexp(rest, 20)), -20), z.copy(), scale, step)
    far = rounded_sum(large + np.ldexp(np.rint(np.ldexp(rest, 20)), -20), z.copy(), scale, step)
    assert (far - large == near).all()
