"""Answers are recovered where theory says so, and nothing is read where there is nothing."""

import numpy as np
import pytest
from scipy.stats import binom, multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.outside.decoding import Decoding, decoder_of
from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.noise.rounded import RoundedRelease
from mechanisms.privacy.indistinguishability import Approximate
from tests.bench.study.test_ledger import certify
from tests.support.components import FixedClaim

STEPS = np.array([0.01, 1.0, 1.0, 0.01])
LDA = LinearDiscriminantAnalysis()
CLAIM = FixedClaim(epsilon=0.1)
DIRECTION = np.array([0.17, -0.81, -0.53, 0.15])
DIRECTION = DIRECTION / np.linalg.norm(DIRECTION)


def worlds(n, seed=0, gap=3.0):
    """Lattice answers of four coordinates; the secret moves the second one by `gap`."""
    rng = np.random.default_rng(seed)
    secret = np.repeat([0, 1], n)
    raw = rng.normal([40, 25, 27, 42], [1.3, 4.5, 4.2, 1.2], size=(2 * n, 4))
    raw[:, 1] += gap * secret
    return secret, STEPS * np.rint(raw / STEPS)


def target(mechanism):
    return Target(mechanism=mechanism, n_secrets=2, laws=None)


def shadow(n=100, gap=3.0):
    secret, answers = worlds(n, seed=1, gap=gap)
    return Transcript(secret=secret, answers=answers, releases=answers[:, None])


def along(scale):
    noise = DirectionalLaplaceNoise(scale=scale, direction=DIRECTION)
    return AdditiveNoise(noise=noise, claim=CLAIM)


def gaussian(basis, deviation):
    noise = GaussianNoise(covariance=deviation**2 * basis @ basis.T, calibration="analytic")
    return AdditiveNoise(noise=noise, claim=CLAIM)


def decoded(mechanism, answers, k=1, seed=2):
    rng = np.random.default_rng(seed)
    releases = np.stack([mechanism.release(answers, rng) for _ in range(k)], axis=1)
    return decoder_of(shadow(), target(mechanism)).estimate(releases)


def recovered(mechanism, answers, k=1):
    return int((np.abs(decoded(mechanism, answers, k) - answers).max(axis=1) < 1e-4).sum())


@pytest.mark.parametrize("scale", [0.5, 20.0, 2000.0])
def test_noise_along_one_direction_is_removed_whatever_its_size(scale):
    _, answers = worlds(1000)
    assert recovered(along(scale), answers) == 2000
    assert recovered(gaussian(DIRECTION[:, None], scale), answers) == 2000


def test_noise_in_two_directions_is_removed_too():
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))[0]
    _, answers = worlds(150)
    assert recovered(gaussian(basis, 100.0), answers) == 300


@pytest.mark.parametrize("size", [1.0, 1000.0])
def test_one_direction_without_noise_names_the_answer(size):
    """Rank 3 in 4 coordinates: no enumeration, the likeliest points of the lattice are listed."""
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 3)))[0]
    _, answers = worlds(200)
    assert decoder_of(shadow(), target(gaussian(basis, size))).enumerated() is None
    assert recovered(gaussian(basis, size), answers) >= 0.98 * 400


def test_a_direction_with_little_noise_names_the_answer_too():
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    _, answers = worlds(200)
    for least, found in ((1e-5, 390), (0.3, 0)):
        covariance = (basis * np.array([least, least, 5.0, 5.0]) ** 2) @ basis.T
        noise = GaussianNoise(covariance=covariance, calibration="analytic")
        got = recovered(AdditiveNoise(noise=noise, claim=CLAIM, arithmetic="float"), answers)
        assert got >= found if found else got < 40


def test_of_several_releases_the_average_is_decoded():
    _, answers = worlds(100)
    assert recovered(along(100.0), answers, k=3) == 200


def test_rounding_to_three_decimals_hides_nothing_and_coarse_rounding_drowns_the_lattice():
    _, answers = worlds(1000)
    three, none = (RoundedRelease(inner=along(40.0), decimals=d) for d in (3, 0))
    assert recovered(three, answers) == 2000
    assert decoder_of(shadow(), target(none)).enumerated() is None
    assert recovered(none, answers) < 100


def test_an_answer_without_noise_in_its_only_lattice_direction_is_told_by_the_prior_alone():
    """Noise along one coordinate: the others tell nothing of it but by correlation."""
    axis = gaussian(np.eye(4)[:, [1]], 1000.0)
    _, answers = worlds(200)
    estimate = decoded(axis, answers)
    assert np.abs(estimate[:, [0, 2, 3]] - answers[:, [0, 2, 3]]).max() < 1e-4
    assert np.abs(estimate[:, 1] - 26.5).max() < 3.0  # near its mean under either secret


@pytest.mark.parametrize("decimals", [1, 2])
def test_the_estimate_is_the_posterior_mean_over_all_lattice_points(decimals):
    """Two coordinates, every lattice point summed up, the rounding error taken as Gaussian."""
    rng = np.random.default_rng(4)
    answers = np.rint(rng.normal(0, 2, size=(400, 2)))
    direction = np.array([0.8, 0.6])
    inner = gaussian(direction[:, None], 3.0)
    mechanism = RoundedRelease(inner=inner, decimals=decimals)
    seen = Transcript(secret=np.repeat([0, 1], 200), answers=answers, releases=answers[:, None])
    releases = mechanism.release(answers[:20], rng)
    found = decoder_of(seen, target(mechanism)).estimate(releases[:, None])
    points = np.stack(np.meshgrid(*[np.arange(-20.0, 21)] * 2), axis=-1).reshape(-1, 2)
    prior = multivariate_normal(answers.mean(axis=0), np.cov(answers.T) + np.eye(2) / 12)
    error = multivariate_normal(
        np.zeros(2), inner.noise_covariance + 0.01**decimals / 12 * np.eye(2)
    )
    logs = prior.logpdf(points) + error.logpdf(releases[:, None] - points)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected = weights @ points / weights.sum(axis=1, keepdims=True)
    assert found == pytest.approx(expected, abs=1e-3)


def test_against_full_rank_the_estimate_is_the_linear_one():
    _, answers = worlds(20_000)
    found = decoded(AdditiveNoise(noise=LaplaceNoise(scales=np.full(4, 2.0)), claim=CLAIM), answers)
    errors = ((found - answers) ** 2).mean(axis=0)
    spread = np.array([1.3**2, 4.5**2 + 1.5**2, 4.2**2, 1.2**2])
    assert errors == pytest.approx(spread * 8 / (spread + 8), rel=0.05)


@pytest.mark.parametrize("estimator", [LDA, DecisionTreeClassifier(max_depth=4)])
def test_power_any_classifier_of_decoded_answers_does_as_well_as_without_noise(estimator):
    secret, answers = worlds(3000, gap=12.0)
    attack, rng = Decoding(estimator=estimator), np.random.default_rng(0)
    rates = []
    for mechanism in (along(1000.0), ExactRelease()):
        attacker = attack.fit(shadow(gap=12.0), target(mechanism), np.random.default_rng(5))
        score = attacker.score(mechanism.release(answers, rng)[:, None])
        rates.append((score.argmax(axis=1) == secret).mean())
    assert rates[0] == rates[1] > 0.85


def test_null_a_secret_that_does_not_touch_the_answer_certifies_at_most_at_the_nominal_rate():
    audits, mechanism, measure = 300, along(30.0), Approximate(delta=0.0)
    rng = np.random.default_rng(3)
    certified = 0
    for audit in range(audits):
        attacker = Decoding(estimator=LDA).fit(shadow(50, gap=0.0), target(mechanism), rng)
        sides = []
        for part in (0, 1):
            secret, answers = worlds(100, seed=(audit, part), gap=0.0)
            score = attacker.score(mechanism.release(answers, rng)[:, None])
            sides.append((secret, score[:, 1] - score[:, 0]))
        fresh, held = sides
        certified += certify(*fresh, held, measure, ways=1).display > 0
    assert certified <= binom.isf(1e-6, audits, 0.05)
    assert certified / audits <= 0.05


class Silent:
    """A mechanism that does not tell its noise."""


def test_what_cannot_be_decoded_is_refused_with_the_reason():
    attack, rng = Decoding(estimator=LDA), np.random.default_rng(0)

    def reason(mechanism, seen):
        with pytest.raises(UnsupportedMechanismError) as found:
            attack.fit(seen, target(mechanism), rng)
        return str(found.value)

    assert "no covariance" in reason(Silent(), shadow())
    secret, answers = worlds(100)
    answers[:, [0, 2, 3]] += rng.normal(size=(200, 3))
    seen = Transcript(secret=secret, answers=answers, releases=answers[:, None])
    assert "got 1: shadow answers of [0, 2, 3] have no step" in reason(along(1.0), seen)
    stacked = Transcript(secret=secret, answers=answers[:, None], releases=answers[:, None])
    assert "answers must be vectors" in reason(along(1.0), stacked)


def test_coordinates_without_a_lattice_are_carried_along():
    """Two coordinates with a lattice are enough to name the noise along one direction."""
    secret, answers = worlds(100, seed=1)
    rng = np.random.default_rng(0)
    answers[:, [0, 3]] += rng.normal(size=(200, 2))
    seen = Transcript(secret=secret, answers=answers, releases=answers[:, None])
    mechanism = along(50.0)
    releases = mechanism.release(answers, rng)
    found = decoder_of(seen, target(mechanism)).estimate(releases[:, None])
    # What is left to find is the noise: one value a release, the same in all coordinates.
    assert np.abs(found - answers).max() < 1e-4


def test_a_lattice_point_along_the_noise_makes_answers_alike_and_the_prior_weighs_them():
    """(3, 1, 0, 0) along the noise: y tells the first two coordinates up to multiples of it."""
    direction = np.array([3.0, 1.0, 0.0, 0.0]) / np.sqrt(10)
    _, answers = worlds(500)
    found = decoded(gaussian(direction[:, None], 1000.0), answers)
    assert np.abs((found - answers)[:, 2:]).max() < 1e-4
    off = found - answers
    assert np.abs(off[:, 0] - 3 * off[:, 1]).max() < 1e-4
    # The prior tells only so much: a spread of 1.3 against 4.5 in the first two coordinates.
    assert 0.2 < np.abs(off[:, 1]).mean() < 1.0
