import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.base import NotApplicableError
from mechanisms.distribution.directional import DirectionalGaussian, DirectionalLaplace
from mechanisms.distribution.expected_value import ExpectedValueLaplace
from mechanisms.knowledge import GaussianAnswers
from mechanisms.laws.answer import GaussianLaw
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import Epsilon, EpsilonDelta


def line(seed, m=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((m, m + 1))
    return GaussianAnswers(
        means=rng.standard_normal(m) + np.outer(rng.uniform(-3, 3, 3), rng.standard_normal(m)),
        covariances=np.broadcast_to(root @ root.T, (3, m, m)),
        pairs=((0, 1), (1, 0), (2, 0)),
    )


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.05, 10))
@settings(max_examples=40, deadline=None)
def test_laplace_noise_spends_the_budget_and_leaks_it_exactly(seed, epsilon):
    model = line(seed)
    release = DirectionalLaplace().calibrate(model, budget=Epsilon(epsilon=epsilon))
    assert release.guarantee.bound == pytest.approx(epsilon, rel=1e-9)
    laws = [GaussianLaw(mean=m, covariance=model.covariances[0]) for m in model.means]
    exact = max(release.leakage(laws[i], laws[j], 1).epsilon(0.0).hi for i, j in model.pairs)
    assert exact == pytest.approx(epsilon, rel=1e-9)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_it_adds_less_noise_than_the_expected_value_mechanism(seed):
    model, budget = line(seed), Epsilon(epsilon=1.0)
    along = DirectionalLaplace().calibrate(model, budget=budget)
    everywhere = ExpectedValueLaplace().calibrate(model, budget=budget)
    assert along.variances().sum() < everywhere.variances().sum()


def test_the_release_moves_along_the_direction_only():
    model = line(4)
    release = DirectionalGaussian().calibrate(model, budget=EpsilonDelta(epsilon=1, delta=1e-3))
    v = model.common_direction()
    z = release.release(np.zeros((500, 3)), np.random.default_rng(0))
    assert z - np.outer(z @ v, v) == pytest.approx(0, abs=1e-6)
    pure = DirectionalLaplace().calibrate(model, budget=Epsilon(epsilon=1.0))
    with pytest.raises(NotComputableError, match="no density in the whole space"):
        pure.log_density(np.zeros((1, 1, 3)), np.zeros((1, 1, 3)))


def test_other_means_are_refused_with_the_reason():
    model = GaussianAnswers(
        means=np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        covariances=np.broadcast_to(np.eye(2), (3, 2, 2)),
        pairs=((0, 1), (0, 2)),
    )
    with pytest.raises(NotApplicableError, match="not parallel"):
        DirectionalLaplace().calibrate(model, budget=Epsilon(epsilon=1.0))
