import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gennorm, kstest

from mechanisms.base import NotApplicableError, guarantee_of
from mechanisms.laws.finite import FiniteLaw
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.renyi.alpha_wasserstein import AlphaWassersteinLaplace
from mechanisms.renyi.power_noise import PowerNoise, WassersteinExponential
from mechanisms.renyi.scale_claim import ZeroNoiseRelease
from tests.support.laws import answers_of, on_grid

LAWS = on_grid([6, 3, 1, 0, 0]), on_grid([2, 3, 2, 2, 1])
BUDGET = RenyiEpsilon(order=2.0, epsilon=0.5)


@pytest.mark.parametrize("power", [0.4, 0.7, 1.0])
def test_density_variance_and_samples_are_of_one_law(power):
    noise = PowerNoise(rate=1.7, power=power)
    reference = gennorm(power, scale=1.7 ** (-1 / power))
    z = np.array([-3.0, -0.1, 0.0, 0.5, 9.0])
    assert noise.log_density(z[:, None]) == pytest.approx(reference.logpdf(z))
    assert noise.covariance[0] == pytest.approx(reference.var())
    sample = noise.sample((20_000, 1), np.random.default_rng(0))
    assert kstest(sample[:, 0], reference.cdf).pvalue > 1e-4


def test_power_one_is_the_laplace_mechanism():
    found = WassersteinExponential().calibrate(answers_of(*LAWS), budget=BUDGET)
    expected = AlphaWassersteinLaplace().calibrate(answers_of(*LAWS), budget=BUDGET)
    assert found.variances() == pytest.approx(expected.variances(), rel=1e-9)
    assert found.guarantee.bound == pytest.approx(0.5)
    laws = [FiniteLaw(atoms=law.atoms[:, None], weights=law.weights) for law in LAWS]
    assert found.leakage(*laws, 1).renyi(2.0).hi == pytest.approx(
        expected.leakage(*laws, 1).renyi(2.0).hi, rel=1e-9
    )


@pytest.mark.parametrize("plan", ["comonotone", "transport"])
@pytest.mark.parametrize("power", [0.5, 0.8])
def test_the_true_divergence_meets_the_claim(power, plan):
    if plan == "transport":
        pytest.importorskip("ot")
    calibration = WassersteinExponential(power=power, plan=plan)
    mechanism = calibration.calibrate(answers_of(*LAWS), budget=BUDGET)
    assert mechanism.guarantee.bound == pytest.approx(0.5, rel=1e-9)

    def density(law, y):
        logs = mechanism.log_density(np.full((1, 1), y), law.atoms[:, None])
        return float(np.exp(logs) @ law.weights)

    reach = (40 / mechanism.noise.rate) ** (1 / power)
    for p, q in (LAWS, LAWS[::-1]):
        edges = [-reach, -50, *LAWS[0].atoms, 3, 4, 60, reach]
        edges = sorted({e for e in edges if -reach <= e <= reach})
        total = sum(
            quad(lambda y: density(p, y) ** 2 / density(q, y), a, b, limit=200)[0]  # noqa: B023
            for a, b in pairwise(edges)
        )
        assert math.log(total) <= 0.5


def test_the_optimal_plan_never_needs_more_and_the_comonotone_one_is_not_best():
    pytest.importorskip("ot")
    # Mass at 0 and 1 against 1 and 4: below power 1 it is best to leave the shared mass alone.
    laws = on_grid([1, 0, 1, 0, 0]), on_grid([0, 0, 1, 0, 1])
    rates = [
        WassersteinExponential(power=0.3, plan=plan)
        .calibrate(answers_of(*laws), budget=RenyiEpsilon(order=1.2, epsilon=0.05))
        .noise.rate
        for plan in ("comonotone", "transport")
    ]
    assert rates[1] > rates[0] * 1.05


def test_edges_and_refusals():
    same = WassersteinExponential(power=0.5).calibrate(answers_of(LAWS[0], LAWS[0]), budget=BUDGET)
    assert isinstance(same, ZeroNoiseRelease)
    with pytest.raises(NotApplicableError, match=r"no noise meets epsilon="):
        WassersteinExponential().calibrate(
            answers_of(*LAWS), budget=RenyiEpsilon(order=1.0, epsilon=0.5)
        )
    mechanism = WassersteinExponential(power=0.5).calibrate(answers_of(*LAWS), budget=BUDGET)
    assert guarantee_of(mechanism, 3).bound > 0.5
    with pytest.raises(NotComputableError, match="no closed form"):
        mechanism.leakage(None, None, 1)
    other = mechanism.claim.guarantee(LaplaceNoise(scales=np.ones(1)), 1)
    assert isinstance(other, NoClaim)
    assert mechanism.noise.shift_epsilon(np.array([[4.0]]), 0.0, 2) == (
        pytest.approx(4 * mechanism.noise.rate)
    )
    for bad in ({"power": 0.0}, {"power": 1.5}, {"plan": "best"}):
        with pytest.raises(ValueError, match=r"must be"):
            WassersteinExponential(**bad)
