"""Last bits: draws are counted as numpy makes them, and a grid leaves nothing to count."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.outside.last_bits import CoordinateAttacker, LastBits
from attacks.outside.reachable import laplace_log_mass
from attacks.outside.ziggurat import LAYERS, PARTS, layer_widths, normal_log_mass
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.gaussian_tradeoff import gaussian_distance
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.geometric import GeometricNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.noise.rounded import RoundedRelease
from mechanisms.privacy.indistinguishability import PURE
from tests.bench.study.test_ledger import certify
from tests.support.components import FixedClaim

CLAIM = FixedClaim(epsilon=0.1)


def point(value):
    return FiniteLaw(atoms=np.array([[value]]), weights=np.array([1.0]))


def laplace(scale, arithmetic="float", size=1):
    noise = LaplaceNoise(scales=np.full(size, float(scale)))
    return AdditiveNoise(noise=noise, claim=CLAIM, arithmetic=arithmetic)


def fitted(mechanism, laws=None, shadow=None):
    target = Target(mechanism=mechanism, n_secrets=2, laws=laws)
    shadow = shadow or Transcript(secret=np.zeros(0, dtype=int), answers=np.zeros((0, 1)))
    return LastBits().fit(shadow, target, np.random.default_rng(0))


def log_odds(attacker, mechanism, answers, seed):
    score = attacker.score(mechanism.release(answers, np.random.default_rng(seed))[:, None])
    return score[:, 1] - score[:, 0]


@pytest.mark.parametrize(("scale", "first", "other", "share"), [
    (1.0, 0.0, 1.0, 0.181), (200.0, 50.0, 51.0, 0.248),
])  # fmt: skip
def test_a_wrong_answer_is_reachable_as_rarely_as_known(scale, first, other, share):
    n = 20_000
    drawn = np.random.default_rng(0).laplace(scale=np.array([scale]), size=(n, 1))[:, 0]
    y = first + drawn
    assert np.isfinite(laplace_log_mass(y, np.array(first), scale)).all()
    reached = np.isfinite(laplace_log_mass(y, np.array(other), scale))
    assert reached.mean() == pytest.approx(share, abs=0.012)


@given(
    scale=st.floats(1e-3, 1e3),
    answer=st.floats(-5, 5, allow_subnormal=False),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=40, deadline=None)
def test_the_true_answer_always_leads_to_the_release(scale, answer, seed):
    z = np.random.default_rng(seed).laplace(scale=np.array([scale]), size=(500, 1))[:, 0]
    assert np.isfinite(laplace_log_mass(answer * scale + z, np.array(answer * scale), scale)).all()


@pytest.mark.parametrize("x", [0.0, 0.3, 12.0])
def test_masses_are_those_of_the_law_over_many_floats(x):
    """Neighbouring floats share what the density gives their interval."""
    for t in (-1.5, 0.4, 2.0):
        centre = x + t
        floats = centre + np.spacing(centre) * np.arange(-3000, 3000)
        total = np.exp(laplace_log_mass(floats, np.array(x), 1.0)).sum()
        expected = 0.5 * math.exp(-abs(t)) * (floats[-1] - floats[0])
        assert total == pytest.approx(expected, rel=0.05)


def test_power_two_answers_are_told_apart_whatever_the_claim():
    secret = np.repeat([0, 1], 2000)
    answers = secret[:, None].astype(float)
    for mechanism in (laplace(10.0), laplace(1000.0)):
        odds = log_odds(fitted(mechanism, (point(0.0), point(1.0))), mechanism, answers, 1)
        assert ((odds > 0) == secret).mean() > 0.85


def test_a_grid_leaves_the_law_alone_and_certifies_no_more_than_it():
    secret = np.repeat([0, 1], 20_000)
    mechanism = laplace(10.0, "snapped")
    odds = log_odds(
        fitted(mechanism, (point(0.0), point(1.0))), mechanism, secret[:, None].astype(float), 1
    )
    ceiling = 1 - math.exp(-0.05) / 2  # of Laplace noise at distance .1
    assert ((odds > 0) == secret).mean() == pytest.approx(ceiling, abs=4 * 0.5 / math.sqrt(40_000))
    held = (secret, odds)
    assert certify(secret, odds, held, PURE, 1).verdict <= 0.1


def lattice_worlds(n, gap, seed):
    """Means of 100 whole numbers and a count; the secret moves the count."""
    rng = np.random.default_rng(seed)
    secret = np.repeat([0, 1], n)
    means = rng.integers(3500, 4500, 2 * n) / 100
    counts = np.rint(rng.normal(20 + gap * secret, 3.0))
    return Transcript(secret=secret, answers=np.stack([means, counts], axis=1))


def test_power_lattice_answers_of_several_coordinates_without_finite_laws():
    mechanism = laplace(100.0, size=2)
    attacker = fitted(mechanism, shadow=lattice_worlds(300, 6.0, 0))
    assert isinstance(attacker, CoordinateAttacker)
    fresh = lattice_worlds(300, 6.0, 1)
    correct = (log_odds(attacker, mechanism, fresh.answers, 2) > 0) == fresh.secret
    assert correct.mean() > 0.57  # claim .06 allows .515
    snapped = replace(mechanism, arithmetic="snapped")
    attacker = fitted(snapped, shadow=lattice_worlds(300, 6.0, 0))
    correct = (log_odds(attacker, snapped, fresh.answers, 2) > 0) == fresh.secret
    assert abs(correct.mean() - 0.51) < 4 * 0.5 / math.sqrt(600)


def test_null_a_release_that_ignores_the_secret_certifies_at_most_at_the_nominal_rate():
    law = FiniteLaw(atoms=np.array([[0.0], [0.1], [1.2]]), weights=np.array([0.5, 0.3, 0.2]))
    other = FiniteLaw(atoms=law.atoms, weights=law.weights[::-1].copy())
    mechanism = laplace(5.0)
    attacker = fitted(mechanism, (law, other))
    certified = 0
    for audit in range(400):
        rng = np.random.default_rng([5, audit])
        secret = np.repeat([0, 1], 100)
        odds = [log_odds(attacker, mechanism, law.sample(200, rng), rng) for _ in range(2)]
        certified += certify(secret, odds[0], (secret, odds[1]), PURE, 1).display > 0
    assert certified <= 31


def test_what_has_no_last_bits_is_refused_with_the_reason():
    silent = RoundedRelease(inner=laplace(1.0), decimals=2)
    geometric = AdditiveNoise(noise=GeometricNoise(scales=np.array([1.0])), claim=CLAIM)
    for mechanism, reason in (
        (ExactRelease(), "adds no noise"), (silent, "adds no noise"), (geometric, "GeometricNoise"),
    ):  # fmt: skip
        with pytest.raises(UnsupportedMechanismError, match=reason):
            fitted(mechanism, (point(0.0), point(1.0)))
    smooth = np.random.default_rng(0).normal(size=(40, 1))
    shadow = Transcript(secret=np.repeat([0, 1], 20), answers=smooth)
    with pytest.raises(UnsupportedMechanismError, match=r"coordinates \[0\] lie on no lattice"):
        fitted(laplace(1.0), shadow=shadow)


def gaussian(deviation, arithmetic="float"):
    noise = GaussianNoise(covariance=np.array([[deviation**2]]), calibration="analytic")
    return AdditiveNoise(noise=noise, claim=CLAIM, arithmetic=arithmetic)


def test_the_layers_are_those_of_the_ziggurat():
    """Each of 256 layers has one area: widest layer, tail and all (Marsaglia and Tsang, 2000)."""
    x = layer_widths()[1:] * PARTS
    assert x.size == LAYERS - 1
    assert x[-1] == pytest.approx(3.6541528853610088, rel=1e-15)
    heights = np.exp(-(x**2) / 2)
    areas = x[1:] * (heights[:-1] - heights[1:])
    assert areas == pytest.approx(np.full(LAYERS - 2, 0.00492867323399), rel=1e-9)
    assert x[0] * (1 - heights[0]) == pytest.approx(0.00492867323399, rel=1e-9)


@given(deviation=st.floats(0.01, 100), answer=st.floats(-1, 1, allow_subnormal=False),
       seed=st.integers(0, 10**6))  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_the_true_answer_always_leads_to_a_gaussian_release(deviation, answer, seed):
    x = np.full((200, 1), answer * deviation)
    y = gaussian(deviation).release(x, np.random.default_rng(seed))
    deviation = float(np.sqrt(np.square(deviation)))
    assert np.isfinite(normal_log_mass(y, x, deviation)).all()


@pytest.mark.parametrize(("first", "arithmetic", "low", "high"), [
    (0.0, "float", 0.15, 0.35), (0.0, "snapped", -0.01, 0.012), (50.0, "float", -0.01, 0.012),
])  # fmt: skip
def test_gaussian_bits_tell_0_from_1_at_epsilon_half_and_delta_a_thousandth(
    first, arithmetic, low, high
):
    """The delta at epsilon .5 that a fixed test reaches; around 50 floats are too coarse."""
    mechanism, n = gaussian(1 / gaussian_distance(0.5, 0.001), arithmetic), 10_000
    attacker = fitted(mechanism, (point(first), point(first + 1)))
    rates = [
        (log_odds(attacker, mechanism, np.full((n, 1), first + s), 3 + s) > 0.5).mean()
        for s in (0, 1)
    ]
    assert low < rates[1] - math.exp(0.5) * rates[0] < high


def test_tied_noise_is_refused():
    tied = GaussianNoise(covariance=np.array([[2.0, 1.0], [1.0, 2.0]]), calibration="analytic")
    with pytest.raises(UnsupportedMechanismError, match="ties or spares"):
        fitted(AdditiveNoise(noise=tied, claim=CLAIM), (point(0.0), point(1.0)))
