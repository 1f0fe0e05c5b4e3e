import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.distribution.expected_value import ExpectedValueGaussian, ExpectedValueLaplace
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.privacy.budget import Epsilon, EpsilonDelta


def answers(seed, m=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((m, m + 1))
    return GaussianAnswers(
        means=rng.standard_normal((3, m)),
        covariances=np.broadcast_to(root @ root.T, (3, m, m)),
        pairs=((0, 1), (1, 0), (2, 0)),
    )


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.01, 20))
@settings(max_examples=40, deadline=None)
def test_laplace_noise_spends_exactly_the_budget(seed, epsilon):
    model = answers(seed)
    release = ExpectedValueLaplace().calibrate(model, budget=Epsilon(epsilon=epsilon))
    assert release.guarantee.bound == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
    assert release.guarantee.notion.delta == 0.0
    assert release.variances() == pytest.approx(2 * (model.distance(1) / epsilon) ** 2)
    assert release.repeated_guarantee(3).bound == pytest.approx(3 * epsilon)


def test_the_claim_is_attained_at_known_answers_and_in_the_far_orthant_otherwise():
    model = answers(1)
    release = ExpectedValueLaplace().calibrate(model, budget=Epsilon(epsilon=0.9))
    far = 200 * np.sign(model.differences())
    ratios = [
        abs(
            release.log_density(x[None, None], model.means[None, [i]])
            - release.log_density(x[None, None], model.means[None, [j]])
        ).item()
        for x, (i, j) in zip(far, model.pairs, strict=True)
    ]
    assert max(ratios) == pytest.approx(0.9)
    laws = [GaussianLaw(mean=m, covariance=model.covariances[0]) for m in model.means]
    exact = max(release.leakage(laws[i], laws[j], 1).epsilon(0.0).hi for i, j in model.pairs)
    assert exact == pytest.approx(0.9)


def test_half_the_scale_claims_twice_the_epsilon():
    release = ExpectedValueLaplace().calibrate(answers(2), budget=Epsilon(epsilon=0.5))
    halved = type(release.noise)(scales=release.noise.scales / 2)
    assert release.claim.guarantee(halved, 1).bound == pytest.approx(1.0)


def test_gaussian_noise_is_scaled_to_the_l2_distance():
    model, delta = answers(3), 1e-4
    release = ExpectedValueGaussian().calibrate(
        model, budget=EpsilonDelta(epsilon=0.5, delta=delta)
    )
    deviation = math.sqrt(2 * math.log(1.25 / delta)) * model.distance(2) / 0.5
    assert release.noise.covariance == pytest.approx(deviation**2 * np.eye(3))


def test_budgets_and_answers_without_noise_are_refused_with_the_reason():
    same = GaussianAnswers(means=np.ones((2, 1)), covariances=np.ones((2, 1, 1)), pairs=((0, 1),))
    with pytest.raises(NotApplicableError, match="no Laplace noise is called for at distance 0"):
        ExpectedValueLaplace().calibrate(same, budget=Epsilon(epsilon=1.0))
    with pytest.raises(NotApplicableError, match="epsilon=inf: release the answer itself"):
        ExpectedValueLaplace().calibrate(answers(0), budget=Epsilon(epsilon=math.inf))
    gaussian = ExpectedValueGaussian().calibrate(same, budget=EpsilonDelta(epsilon=1.0, delta=1e-3))
    assert gaussian.guarantee.bound == 0.0
