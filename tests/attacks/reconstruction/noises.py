"""Additive noise on one count or many, for tests of attacks."""

import numpy as np

from mechanisms.noise.additive import AdditiveNoise, TranslationClaim
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.geometric import GeometricNoise
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions
from mechanisms.privacy.indistinguishability import Approximate


def adding(noise, m=1):
    claim = TranslationClaim(
        differences=np.ones((1, m)), notion=Approximate(), theorem="t", assumptions=Assumptions()
    )
    return AdditiveNoise(noise=noise, claim=claim)


def laplace(scale, m=1):
    return adding(LaplaceNoise(scales=np.full(m, float(scale))), m)


def gaussian(deviation, m=1):
    return adding(GaussianNoise(covariance=deviation**2 * np.eye(m), calibration="analytic"), m)


def geometric(scale, m=1):
    return adding(GeometricNoise(scales=np.full(m, float(scale))), m)
