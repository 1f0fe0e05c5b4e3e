import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace

from mechanisms.base import NotApplicableError
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.distribution.relaxed import ApproximateModel, NearbyModel
from mechanisms.group_privacy import GroupLaplace
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.laws.answer import GaussianLaw
from mechanisms.noise.identity import Noiseless
from mechanisms.privacy.budget import Epsilon, EpsilonDelta, NoBudget
from mechanisms.privacy.guarantee import NoClaim

ANSWERS = GaussianAnswers(
    means=np.array([[0.0], [1.0]]), covariances=np.ones((2, 1, 1)), pairs=((0, 1), (1, 0))
)
BUDGET = EpsilonDelta(epsilon=0.7, delta=0.01)


def test_the_widened_claim_by_hand():
    release = ApproximateModel(
        calibration=ExpectedValueGaussian(), divergence=0.2, eta=0.003
    ).calibrate(ANSWERS, budget=BUDGET)
    claim = release.guarantee
    assert claim.bound == pytest.approx(0.7 + 0.4)
    assert claim.notion.delta == pytest.approx((1 + math.exp(0.9)) * 0.003 + math.exp(0.2) * 0.01)
    plain = ExpectedValueGaussian().calibrate(ANSWERS, budget=BUDGET)
    assert release.variances() == pytest.approx(plain.variances())
    assert "Theorem 4.6" in claim.theorem


def test_a_pure_claim_stays_pure_without_eta_and_the_model_errs_once():
    release = ApproximateModel(calibration=ExpectedValueLaplace(), divergence=0.25).calibrate(
        ANSWERS, budget=Epsilon(epsilon=1.0)
    )
    assert release.guarantee.notion.delta == 0.0
    assert release.guarantee.bound == pytest.approx(1.5)
    assert release.repeated_guarantee(3).bound == pytest.approx(3 + 0.5)


@given(seed=st.integers(0, 10**6), divergence=st.floats(0, 0.5), epsilon=st.floats(0.2, 2))
@settings(max_examples=30, deadline=None)
def test_the_widened_claim_covers_finite_answers_near_a_translated_model(seed, divergence, epsilon):
    """Model: atoms 0..2 and 1..3 with equal weights. Truth: weights off by e^(+-lam)."""
    rng = np.random.default_rng(seed)
    weights = np.array([0.2, 0.5, 0.3])
    x = np.linspace(-60, 63, 20_001)
    densities = []
    for start in (0, 1):
        true = weights * np.exp(divergence / 2 * rng.choice([-1, 1], size=3))
        true /= true.sum()  # stays within e^(+-lam) of the model
        assert np.abs(np.log(true / weights)).max() <= divergence + 1e-12
        densities.append(
            sum(w * laplace.pdf(x, start + k, 1 / epsilon) for k, w in enumerate(true))
        )
    release = ApproximateModel(calibration=ExpectedValueLaplace(), divergence=divergence).calibrate(
        ANSWERS, budget=Epsilon(epsilon=epsilon)
    )
    loss = np.abs(np.log(densities[0]) - np.log(densities[1])).max()
    assert loss <= release.guarantee.bound + 1e-9


def test_the_widened_claim_is_needed():
    """Both laws off by lam, away from each other: the loss exceeds the model's epsilon by more."""
    lam, epsilon = 0.4, 0.3
    x = np.linspace(-60, 60, 10_001)
    model = np.array([0.5, 0.5])
    true = [np.array([math.exp(-lam) / 2, 1 - math.exp(-lam) / 2])]
    true.append(true[0][::-1])
    spots = [np.array([-20.0, 20.0]), np.array([-19.0, 21.0])]
    p, q = (
        sum(w * laplace.pdf(x, v, 1 / epsilon) for v, w in zip(s, t, strict=True))
        for s, t in zip(spots, true, strict=True)
    )
    assert np.abs(np.log(true[0] / model)).max() == pytest.approx(lam)
    assert np.abs(np.log(p) - np.log(q)).max() > epsilon + lam


def test_extra_noise_covers_the_way_to_the_model():
    near = NearbyModel(calibration=ExpectedValueGaussian(), distance=0.5, divergence=0.25)
    release = near.calibrate(ANSWERS, budget=BUDGET)
    plain = ExpectedValueGaussian().calibrate(ANSWERS, budget=BUDGET)
    assert release.variances() == pytest.approx(plain.variances() + 2 * 2.0**2)
    assert release.guarantee.bound == pytest.approx(0.7 + 0.5)
    assert release.guarantee.notion.delta == pytest.approx(math.exp(0.25) * 0.01)
    twice = release.repeated_guarantee(2)
    assert twice.bound == pytest.approx(plain.repeated_guarantee(2).bound + 2 * 0.5)
    assert twice.notion.delta == pytest.approx(math.exp(0.5) * 0.01)
    z = release.release(np.zeros((200_000, 1)), np.random.default_rng(0))
    assert z.var(axis=0) == pytest.approx(release.variances(), rel=0.03)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("share", [0.05, 0.25, 0.45])
def test_a_share_of_epsilon_keeps_the_claim_within_the_budget(epsilon, share):
    for kind, budget in (
        (ExpectedValueLaplace, Epsilon(epsilon=epsilon)),
        (ExpectedValueGaussian, EpsilonDelta(epsilon=epsilon, delta=0.01)),
    ):
        near = NearbyModel(calibration=kind(), distance=0.5, share=share)
        release = near.calibrate(ANSWERS, budget=budget)
        assert release.guarantee.bound == pytest.approx(epsilon)
        assert release.guarantee.notion.delta == pytest.approx(getattr(budget, "delta", 0.0))
        assert release.noise.extra.scales == pytest.approx([0.5 / (share * epsilon)])


def test_a_refusal_names_the_epsilon_that_was_asked_for():
    same = GaussianAnswers(means=[[1.0], [1.0]], covariances=np.ones((2, 1, 1)), pairs=((0, 1),))
    near = NearbyModel(calibration=ExpectedValueLaplace(), distance=0.5, share=0.1)
    with pytest.raises(
        NotApplicableError, match=r"^at epsilon=1, of which .* has 0\.8: no Laplace"
    ):
        near.calibrate(same, budget=Epsilon(epsilon=1.0))
    with pytest.raises(NotApplicableError, match=r"^epsilon=1e-06 leaves 8e-07 .* budget 1e-06$"):
        near.calibrate(ANSWERS, budget=Epsilon(epsilon=1e-6))
    with pytest.raises(NotApplicableError, match=r"^no Laplace noise .* epsilon=1:"):
        NearbyModel(calibration=ExpectedValueLaplace(), distance=0.5, divergence=0.1).calibrate(
            same, budget=Epsilon(epsilon=1.0)
        )


def test_divergence_or_share_is_given_and_not_both():
    for changes in ({}, {"divergence": 0.1, "share": 0.1}):
        with pytest.raises(ValueError, match="either divergence or share must be given"):
            NearbyModel(calibration=ExpectedValueLaplace(), distance=1.0, **changes)
    with pytest.raises(ValueError, match=r"^share must be in \(0, 0.5\)"):
        NearbyModel(calibration=ExpectedValueLaplace(), distance=1.0, share=0.5)


def test_extra_noise_keeps_point_masses_within_the_widened_claim():
    """Model: 0 and 1, truth: -0.5 and 1.5, each moved by W = 0.5."""
    near = NearbyModel(calibration=ExpectedValueLaplace(), distance=0.5, divergence=0.25)
    release = near.calibrate(ANSWERS, budget=Epsilon(epsilon=1.0))
    grid = np.linspace(-80, 80, 32_001)
    first = laplace.pdf(grid, scale=float(release.noise.model.scales[0]))
    second = laplace.pdf(grid, scale=float(release.noise.extra.scales[0]))
    noise = np.convolve(first, second, mode="same") * (grid[1] - grid[0])
    shift = round(2.0 / (grid[1] - grid[0]))
    middle = slice(8000, 24_000)
    loss = np.abs(np.log(noise[middle]) - np.log(np.roll(noise, shift)[middle])).max()
    assert 0.5 < loss <= release.guarantee.bound + 1e-6


def test_leakage_is_bounded_by_that_of_the_models_noise():
    near = NearbyModel(calibration=ExpectedValueGaussian(), distance=0.5, divergence=0.25)
    release = near.calibrate(ANSWERS, budget=BUDGET)
    laws = [GaussianLaw(mean=m, covariance=np.eye(1)) for m in ANSWERS.means]
    bound = release.leakage(*laws, 1).delta(0.3)
    assert bound.lo == 0.0
    assert bound.hi == release.noise.model.leakage(*laws, 1).delta(0.3).hi


def test_what_cannot_be_widened_is_said():
    useless = ApproximateModel(calibration=ExpectedValueGaussian(), divergence=0.0, eta=0.9)
    assert isinstance(useless.calibrate(ANSWERS, budget=BUDGET).guarantee, NoClaim)
    record = ApproximateModel(calibration=GroupLaplace(group=1), divergence=0.1)
    sensitivity = Sensitivity(l1=1.0, l2=1.0, unit="record", size=10, dimension=1)
    assert record.requires == (Sensitivity,)
    release = record.calibrate(sensitivity, budget=Epsilon(epsilon=1.0))
    assert isinstance(release.guarantee, NoClaim)
    exact = ApproximateModel(calibration=Noiseless(), divergence=0.1)
    with pytest.raises(NotApplicableError, match="only additive noise"):
        exact.calibrate(budget=NoBudget())


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "abc", True])
def test_bad_parameters_are_refused_in_one_line(bad):
    with pytest.raises((ValueError, TypeError), match=r"^divergence must be .*got divergence="):
        ApproximateModel(calibration=ExpectedValueLaplace(), divergence=bad)
    with pytest.raises((ValueError, TypeError), match=r"^distance must be .*got distance="):
        NearbyModel(calibration=ExpectedValueLaplace(), distance=bad, divergence=0.1)
