import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import laplace, norm

from mechanisms.base import NotApplicableError
from mechanisms.distribution.wasserstein import (
    ApproximateWassersteinLaplace,
    BoundedWassersteinLaplace,
    WassersteinLaplace,
)
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers
from mechanisms.laws.finite import FiniteLaw
from mechanisms.privacy.budget import Epsilon, EpsilonDelta

ATOMS = np.array([1.0, 2.0, 3.0, 100.0])
EXAMPLE = FiniteAnswers(
    laws=(
        FiniteLaw(atoms=ATOMS, weights=np.array([0.6, 0.2, 0.0, 0.2])),
        FiniteLaw(atoms=ATOMS, weights=np.array([0.4, 0.3, 0.2, 0.1])),
    ),
    pairs=((0, 1), (1, 0)),
)


def true_delta(answers, scale, epsilon, points=400_001):
    """Integrate the definition for scalar answers with Laplace noise, the worst pair."""
    atoms = [np.asarray(law.atoms, dtype=float) for law in answers.laws]
    low, high = min(a.min() for a in atoms), max(a.max() for a in atoms)
    x = np.linspace(low - 40 * scale, high + 40 * scale, points)
    densities = [
        sum(w * laplace.pdf(x, v, scale) for v, w in zip(a, law.weights, strict=True))
        for a, law in zip(atoms, answers.laws, strict=True)
    ]
    return max(
        np.maximum(densities[i] - math.exp(epsilon) * densities[j], 0).sum() * (x[1] - x[0])
        for i, j in answers.pairs
    )


def random_answers(seed):
    rng = np.random.default_rng(seed)
    laws = tuple(
        FiniteLaw(atoms=rng.integers(0, 8, size=4).astype(float), weights=w / w.sum())
        for w in rng.integers(1, 6, size=(3, 4))
    )
    return FiniteAnswers(laws=laws, pairs=((0, 1), (1, 0), (2, 0), (0, 2)))


def test_the_published_example():
    pure = WassersteinLaplace().calibrate(EXAMPLE, budget=Epsilon(epsilon=1.0))
    assert pure.noise.scales == pytest.approx([97.0])
    close = ApproximateWassersteinLaplace().calibrate(
        EXAMPLE, budget=EpsilonDelta(epsilon=0.5, delta=0.1 + 1e-9)
    )
    assert close.noise.scales == pytest.approx([2.0])


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0351), (1.0, 0.0), (3.0, 0.0)])
def test_the_true_delta_of_the_published_example(epsilon, delta):
    assert true_delta(EXAMPLE, 1 / epsilon, epsilon) == pytest.approx(delta, abs=5e-5)


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.2, 4))
@settings(max_examples=30, deadline=None)
def test_the_wasserstein_mechanism_is_pure_at_its_budget(seed, epsilon):
    answers = random_answers(seed)
    try:
        release = WassersteinLaplace().calibrate(answers, budget=Epsilon(epsilon=epsilon))
    except NotApplicableError:
        assert answers.distance(0.0) == 0
        return
    assert release.guarantee.bound == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
    scale = float(release.noise.scales[0])
    assert true_delta(answers, scale, epsilon, 20_001) <= 1e-9


@given(
    seed=st.integers(0, 10**6), epsilon=st.floats(0.2, 4), delta=st.sampled_from([0.05, 0.2, 0.4])
)
@settings(max_examples=30, deadline=None)
def test_the_approximate_mechanism_meets_its_delta_with_no_more_noise(seed, epsilon, delta):
    answers = random_answers(seed)
    assert answers.distance(delta) <= answers.distance(0.0)
    if answers.distance(delta) == 0:
        return
    release = ApproximateWassersteinLaplace().calibrate(
        answers, budget=EpsilonDelta(epsilon=epsilon, delta=delta)
    )
    assert release.guarantee.bound == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
    assert release.guarantee.notion.delta == delta
    assert true_delta(answers, float(release.noise.scales[0]), epsilon, 40_001) <= delta + 1e-3


def test_halving_the_noise_doubles_the_claim_and_so_do_two_releases():
    release = WassersteinLaplace().calibrate(EXAMPLE, budget=Epsilon(epsilon=1.0))
    assert release.repeated_guarantee(2).bound == pytest.approx(2.0)
    noise = type(release.noise)(scales=release.noise.scales / 2)
    assert release.claim.guarantee(noise, 1).bound == pytest.approx(2.0)


def test_pure_epsilon_is_attained_by_two_atoms():
    far = FiniteAnswers(
        laws=tuple(FiniteLaw(atoms=np.array([v]), weights=np.ones(1)) for v in (0.0, 3.0)),
        pairs=((0, 1),),
    )
    release = WassersteinLaplace().calibrate(far, budget=Epsilon(epsilon=0.8))
    delta = true_delta(far, float(release.noise.scales[0]), 0.8 * 0.99)
    assert delta > 1e-4


def test_answers_in_the_plane_are_moved_in_l1():
    pytest.importorskip("ot")
    square = np.array([[0.0, 0.0], [1.0, 1.0]])
    answers = FiniteAnswers(
        laws=(
            FiniteLaw(atoms=square, weights=np.array([0.9, 0.1])),
            FiniteLaw(atoms=square, weights=np.array([0.1, 0.9])),
        ),
        pairs=((0, 1), (1, 0)),
    )
    release = WassersteinLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    assert release.noise.scales == pytest.approx([2.0, 2.0])
    none = ApproximateWassersteinLaplace()
    with pytest.raises(NotApplicableError, match="no Laplace noise is called for"):
        none.calibrate(answers, budget=EpsilonDelta(epsilon=1.0, delta=0.85))


GAUSSIAN = GaussianAnswers(
    means=np.array([[0.0, 1.0], [1.0, -1.0]]),
    covariances=np.stack([np.diag([1.0, 4.0]), np.diag([2.0, 1.0])]),
    pairs=((0, 1), (1, 0)),
)


def test_bounded_answers_cost_the_mean_difference_and_two_radii():
    budget = EpsilonDelta(epsilon=0.5, delta=0.01)
    given_radius = BoundedWassersteinLaplace(radius=2.0).calibrate(GAUSSIAN, budget=budget)
    assert given_radius.noise.scales == pytest.approx([(3 + 4) / 0.5] * 2)
    modelled = BoundedWassersteinLaplace().calibrate(GAUSSIAN, budget=budget)
    radius = (modelled.claim.distance - 3) / 2
    assert radius == pytest.approx(3 * norm.isf(0.01 / 8))
    rng = np.random.default_rng(0)
    for covariance in GAUSSIAN.covariances:
        draws = rng.multivariate_normal(np.zeros(2), covariance, size=200_000)
        outside = (np.abs(draws).sum(axis=1) > radius).mean()
        assert outside <= 0.005  # delta / 2


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, "abc", True])
def test_a_bad_radius_is_refused_in_one_line(bad):
    with pytest.raises((ValueError, TypeError), match=r"^radius must be .*got radius="):
        BoundedWassersteinLaplace(radius=bad)


def test_answers_on_different_spaces_are_refused():
    line = FiniteLaw(atoms=np.zeros(1), weights=np.ones(1))
    plane = FiniteLaw(atoms=np.zeros((1, 2)), weights=np.ones(1))
    with pytest.raises(ValueError, match="on one space"):
        FiniteAnswers(laws=(line, plane), pairs=((0, 1),))
    with pytest.raises(ValueError, match="pairs must index the 1 laws"):
        FiniteAnswers(laws=(line,), pairs=((0, 1),))


def test_an_atom_of_little_weight_does_not_break_pure_privacy():
    rare = FiniteLaw(atoms=np.array([0.0, 1.0, 100.0]), weights=[0.5, 0.5 - 5e-13, 5e-13])
    other = FiniteLaw(atoms=np.array([0.0, 1.0]), weights=[0.4, 0.6])
    answers = FiniteAnswers(laws=(rare, other), pairs=((0, 1), (1, 0)))
    mechanism = WassersteinLaplace().calibrate(answers, budget=Epsilon(epsilon=1.0))
    scale, y = float(mechanism.noise.scales[0]), np.linspace(-200.0, 300.0, 50_001)
    logs = [
        logsumexp(laplace.logpdf(y[:, None], law.atoms, scale), b=law.weights, axis=1)
        for law in answers.laws
    ]
    assert np.abs(logs[0] - logs[1]).max() <= 1 + 1e-9
    assert mechanism.claim.guarantee(mechanism.noise, 1).bound >= np.abs(logs[0] - logs[1]).max()
