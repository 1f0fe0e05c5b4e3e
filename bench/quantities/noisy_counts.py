"""Counts with independent noise on each, as the reconstruction games release them."""

from __future__ import annotations

from typing import Literal, Protocol, cast

import numpy as np

from mechanisms.base import HasLogDensity, Mechanism
from mechanisms.check import one_of, positive
from mechanisms.group_privacy import replaced_units
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw, TranslationClaim
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.geometric import GeometricNoise
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.indistinguishability import Approximate

Noise = Literal["laplace", "geometric"]
NOISES = ("laplace", "geometric")


class NoisyCounts(Mechanism, HasLogDensity, Protocol):
    """A mechanism that releases counts with a density."""


def private_counts(noise: Noise, epsilon: float, m: int = 1) -> NoisyCounts:
    """Return m counts that are epsilon-differentially private together, for one row.

    A row moves every count by at most 1, hence the m counts by at most m in L1: noise of scale
    ``m / epsilon`` on each.

    Parameters
    ----------
    noise : {"laplace", "geometric"}
        The geometric one keeps counts whole, and is safe on floating-point machines.
    epsilon : float in (0, inf)
    m : int
    """
    scale = m / positive("epsilon", epsilon, infinite=False)
    kind = LaplaceNoise if one_of("noise", noise, NOISES) == "laplace" else GeometricNoise
    return _adding(kind(scales=np.full(m, scale)), m)


def gaussian_counts(deviation: float, m: int) -> NoisyCounts:
    """Return m counts with Gaussian noise of a standard deviation on each."""
    positive("deviation", deviation, infinite=False)
    return _adding(GaussianNoise(covariance=deviation**2 * np.eye(m), calibration="analytic"), m)


def _adding(noise: NoiseLaw, m: int) -> NoisyCounts:
    whole = isinstance(noise, GeometricNoise)
    conditions = () if whole else (Condition.REAL_NUMBERS,)
    claim = TranslationClaim(
        differences=np.ones((1, m)), notion=Approximate(delta=0.0),
        theorem="Dwork et al. (2006)", assumptions=replaced_units("row", 1, conditions),
    )  # fmt: skip
    return cast("NoisyCounts", AdditiveNoise(noise=noise, claim=claim))
