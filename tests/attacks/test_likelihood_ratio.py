import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace, multivariate_normal, norm

from attacks import likelihood_ratio
from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.likelihood_ratio import LikelihoodRatio, mixture_log_density
from mechanisms.laws.answer import GaussianLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.additive import AdditiveNoise, TranslationClaim
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.indistinguishability import PURE

few = settings(max_examples=40, deadline=None)
real = st.floats(-20, 20)
NOTHING = Transcript(
    secret=np.array([0, 1]), answers=np.zeros((2, 1)), releases=np.zeros((2, 1, 1))
)


def adding(noise, m=1):
    claim = TranslationClaim(
        differences=np.ones((1, m)), theorem="t", notion=PURE, assumptions=Assumptions()
    )
    return AdditiveNoise(noise=noise, claim=claim)


def laplace_noise(*scales):
    return adding(LaplaceNoise(scales=np.array(scales)), len(scales))


def gaussian_noise(covariance):
    covariance = np.atleast_2d(np.asarray(covariance, dtype=float))
    noise = GaussianNoise(covariance=covariance, calibration="analytic")
    return adding(noise, len(covariance))


def point(*value):
    return FiniteLaw(atoms=np.array([value], dtype=float), weights=np.array([1.0]))


def gaussian(mean, covariance):
    return GaussianLaw(mean=np.array(mean, dtype=float), covariance=np.array(covariance))


def fitted(mechanism, laws, seed=0, **settings_):
    target = Target(mechanism=mechanism, n_secrets=len(laws), laws=tuple(laws))
    return LikelihoodRatio(**settings_).fit(NOTHING, target, np.random.default_rng(seed))


def odds(mechanism, laws, releases, **settings_):
    score = fitted(mechanism, laws, **settings_).score(np.asarray(releases, dtype=float))
    return score[:, 1] - score[:, 0]


@few
@given(st.lists(real, min_size=1, max_size=8), st.floats(0.1, 5))
def test_laplace_noise_on_zero_and_one_has_its_closed_form(releases, scale):
    z = np.array(releases)
    found = odds(laplace_noise(scale), [point(0), point(1)], z.reshape(-1, 1, 1))
    assert found == pytest.approx((np.abs(z) - np.abs(z - 1)) / scale, abs=1e-9)
    assert (np.abs(found) <= 1 / scale + 1e-9).all()


@few
@given(st.lists(real, min_size=1, max_size=8), st.floats(0.2, 5))
def test_gaussian_noise_on_zero_and_one_has_its_closed_form(releases, deviation):
    z = np.array(releases)
    found = odds(gaussian_noise(deviation**2), [point(0), point(1)], z.reshape(-1, 1, 1))
    assert found == pytest.approx((z - 0.5) / deviation**2, abs=1e-7)


@few
@given(st.integers(1, 5), st.integers(0, 2**31))
def test_gaussian_answers_in_gaussian_noise_are_the_joint_density_of_all_releases(k, seed):
    rng = np.random.default_rng(seed)
    root, noise_root = rng.normal(size=(2, 2, 2))
    spread, noise = root @ root.T + np.eye(2) / 4, noise_root @ noise_root.T + np.eye(2) / 4
    laws = [gaussian(mean, spread) for mean in ([0, 0], [1, -0.5])]
    releases = rng.normal(size=(6, k, 2))
    joint = np.kron(np.ones((k, k)), spread) + np.kron(np.eye(k), noise)
    expected = [
        multivariate_normal(np.tile(law.mean, k), joint).logpdf(releases.reshape(6, -1))
        for law in laws
    ]
    found = odds(gaussian_noise(noise), laws, releases)
    assert found == pytest.approx(expected[1] - expected[0], abs=1e-6)


NOISES = {
    "laplace": (laplace_noise(0.7, 2.0), lambda z: laplace(scale=[0.7, 2.0]).pdf(z).prod()),
    "gaussian": (
        gaussian_noise([[1.0, 0.3], [0.3, 2.0]]),
        lambda z: multivariate_normal([0, 0], [[1.0, 0.3], [0.3, 2.0]]).pdf(z),
    ),
}


@pytest.mark.parametrize("name", NOISES)
@few
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**31))
def test_summing_over_atoms_equals_brute_force(name, k, atoms, seed):
    mechanism, density = NOISES[name]
    rng = np.random.default_rng(seed)
    law = FiniteLaw(atoms=rng.normal(size=(atoms, 2)), weights=rng.dirichlet(np.ones(atoms)))
    releases = rng.normal(size=(3, k, 2))
    expected = [
        math.log(
            sum(
                w * math.prod(float(density(r - x)) for r in row)
                for x, w in zip(law.atoms, law.weights, strict=True)
            )
        )
        for row in releases
    ]
    assert mixture_log_density(mechanism, releases, law) == pytest.approx(expected)
    assert fitted(mechanism, [law, law]).score(releases)[:, 0] == pytest.approx(expected)


def test_sums_do_not_depend_on_the_chunk(monkeypatch):
    rng = np.random.default_rng(0)
    law = FiniteLaw(atoms=rng.normal(size=(5, 2)), weights=np.full(5, 0.2))
    releases = rng.normal(size=(11, 2, 2))
    whole = mixture_log_density(NOISES["laplace"][0], releases, law)
    monkeypatch.setattr(likelihood_ratio, "CHUNK", 30)
    assert mixture_log_density(NOISES["laplace"][0], releases, law).tolist() == whole.tolist()


def test_atoms_of_no_weight_do_not_count():
    law = FiniteLaw(atoms=np.array([[0.0], [3.0]]), weights=np.array([1.0, 0.0]))
    releases = np.array([[[0.5]], [[3.0]]])
    alone = mixture_log_density(laplace_noise(1.0), releases, point(0))
    assert mixture_log_density(laplace_noise(1.0), releases, law) == pytest.approx(alone)


def test_far_releases_keep_finite_log_densities():
    found = odds(gaussian_noise(1.0), [point(0), point(1)], [[[1e6]], [[-1e6]]])
    assert found == pytest.approx([1e6 - 0.5, -1e6 - 0.5])


def test_releases_of_the_same_answer_add_up():
    one = odds(laplace_noise(1.0), [point(0), point(1)], [[[0.2]], [[0.9]]])
    both = odds(laplace_noise(1.0), [point(0), point(1)], [[[0.2], [0.9]]])
    assert both[0] == pytest.approx(one.sum())


def test_exact_releases_of_finite_laws_tell_by_their_probabilities():
    laws = [
        FiniteLaw(atoms=np.array([0, 1, 2]), weights=np.array(w))
        for w in ([0.5, 0.5, 0.0], [0.0, 0.25, 0.75])
    ]
    score = fitted(ExactRelease(), laws).score(np.array([[0, 0], [1, 1], [2, 2], [9, 9]]))
    assert score[0].tolist() == [pytest.approx(math.log(0.5)), -math.inf]
    assert score[1] == pytest.approx(np.log([0.5, 0.25]))
    assert score[2].tolist() == [-math.inf, pytest.approx(math.log(0.75))]
    assert score[3].tolist() == [0, 0]


def test_noise_on_a_line_tells_answers_off_the_line_apart():
    direction = np.array([0.6, 0.8])
    mechanism = gaussian_noise(4 * np.outer(direction, direction))
    rng = np.random.default_rng(0)
    answers = np.repeat([[40.1, 3.3], [40.1, 3.4]], 20, axis=0)
    releases = mechanism.release(answers, rng)[:, None]
    found = odds(mechanism, [point(40.1, 3.3), point(40.1, 3.4)], releases)
    assert (found == np.repeat([-math.inf, math.inf], 20)).all()


class Hiding:
    """Gaussian noise that offers no closed form."""

    sees = "answers"

    def __init__(self, inner):
        self.guarantee, self.release = inner.guarantee, inner.release
        self.log_density = inner.log_density


def test_drawn_answers_come_close_to_the_closed_form():
    mechanism = gaussian_noise(1.0)
    laws = [gaussian([0.0], [[1.0]]), gaussian([1.0], [[1.0]])]
    releases = np.linspace(-2, 3, 9).reshape(-1, 1, 1)
    closed = odds(mechanism, laws, releases)
    drawn = odds(Hiding(mechanism), laws, releases, n_draws=20_000)
    assert drawn == pytest.approx(closed, abs=0.1)
    assert (drawn != closed).any()


@pytest.mark.parametrize("k", [1, 3])
def test_closed_forms_and_sums_are_never_compared_with_each_other(k):
    # A nearly degenerate Gaussian law and a point mass at the same place: even odds, whatever the
    # number of releases. The closed form has the density of the average, the sum that of all.
    mechanism = gaussian_noise(1.0)
    laws = [gaussian([0.0], [[1e-10]]), point(0)]
    releases = np.random.default_rng(0).normal(size=(5, k, 1))
    assert odds(mechanism, laws, releases) == pytest.approx(np.zeros(5), abs=1e-4)


def accuracy(mechanism, laws, n=20_000, k=1):
    rng = np.random.default_rng(0)
    secret = np.repeat([0, 1], n)
    answers = np.concatenate([law.sample(n, rng) for law in laws])
    releases = np.stack([mechanism.release(answers, rng) for _ in range(k)], axis=1)
    return ((odds(mechanism, laws, releases) > 0) == secret).mean()


@pytest.mark.parametrize("k", [1, 4])
def test_the_attack_reaches_the_bayes_ceiling_of_gaussian_noise(k):
    laws = [gaussian([0.0], [[0.5]]), gaussian([1.0], [[0.5]])]
    expected = norm.cdf(0.5 / math.sqrt(0.5 + 2 / k))
    assert accuracy(gaussian_noise(2.0), laws, k=k) == pytest.approx(expected, abs=0.013)


def test_the_attack_reaches_the_bayes_ceiling_of_laplace_noise():
    # Best accuracy on 0 against 1 in Lap(1/eps): 1 - e^(-eps/2)/2. Five standard errors.
    found = accuracy(laplace_noise(1.0), [point(0), point(1)])
    assert found == pytest.approx(1 - math.exp(-0.5) / 2, abs=0.013)


def test_nothing_is_learnt_from_shadow_worlds():
    attack = LikelihoodRatio()
    assert not attack.trained
    assert attack.adaptive
    assert (
        fitted(laplace_noise(1.0), [point(0), point(1)], seed=1).score(np.zeros((1, 1, 1)))
        == fitted(laplace_noise(1.0), [point(0), point(1)], seed=2).score(np.zeros((1, 1, 1)))
    ).all()


def test_no_law_no_density_and_no_sum_are_reasons():
    target = Target(mechanism=ExactRelease(), n_secrets=2, laws=None)
    rng = np.random.default_rng(0)
    with pytest.raises(UnsupportedMechanismError, match="the scenario offers no answer law"):
        LikelihoodRatio().fit(NOTHING, target, rng)
    opaque = SimpleNamespace(sees="answers", release=lambda x, _: x)
    target = Target(mechanism=opaque, n_secrets=2, laws=(point(0), point(1)))
    with pytest.raises(UnsupportedMechanismError, match="offers no release density"):
        LikelihoodRatio().fit(NOTHING, target, rng)
    line = adding(DirectionalLaplaceNoise(scale=1.0, direction=np.array([0.6, 0.8])), 2)
    attacker = fitted(line, [point(0, 0), point(0.6, 0.8)])
    with pytest.raises(UnsupportedMechanismError, match="no density in the whole space"):
        attacker.score(np.zeros((3, 1, 2)))


@pytest.mark.parametrize("n_draws", [0, -1, 2.0, True, None])
def test_a_number_of_draws_that_is_not_whole_is_refused(n_draws):
    with pytest.raises(ValueError, match=r"^n_draws must be a whole number of at least 1"):
        LikelihoodRatio(n_draws=n_draws)
