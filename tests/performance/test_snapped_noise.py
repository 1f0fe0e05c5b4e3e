"""Snapped noise beside the same noise in floating point, in one run."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from mechanisms.noise.additive import AdditiveNoise
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import LaplaceNoise
from tests.support.components import FixedClaim

pytestmark = pytest.mark.performance

ANSWERS = {1: 200_000, 5: 40_000}


def seconds(works, repeat=15):
    """The best processor time of each, taken in turns."""
    best = [math.inf] * len(works)
    for _ in range(repeat):
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - start)
    return best


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_at_least_two_thirds_of_the_speed_of_floats(law, size):
    noise = (
        LaplaceNoise(scales=np.full(size, 3.0))
        if law == "laplace"
        else GaussianNoise(covariance=9 * np.eye(size), calibration="analytic")
    )
    snapped = AdditiveNoise(noise=noise, claim=FixedClaim(epsilon=1.0))
    as_floats = replace(snapped, arithmetic="float")
    x, rng = np.full((ANSWERS[size], size), 1.23), np.random.default_rng(0)
    ours, plain = seconds([lambda m=m: m.release(x, rng) for m in (snapped, as_floats)])
    assert ours <= 1.5 * plain, f"{plain / ours:.2f} of the speed of floats"
