"""The expected L2 error of additive noise, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erfcx

from mechanisms.check import FloatArray
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.laplace import DirectionalLaplaceNoise, LaplaceNoise
from mechanisms.privacy.bracket import NotComputableError

LogTransform = Callable[[FloatArray, float], FloatArray]
STEP = 0.05
FAR = 100.0


def mean_l2_error(noise: object) -> float:
    """Return E ||Z||_2 in units of the query, to about 1e-9 of itself.

    With Q = ||Z||^2 and its Laplace transform f(t) = E exp(-t Q), a product over independent
    coordinates: ``E sqrt(Q) = 1 / (2 sqrt(pi)) int_0^inf (1 - f(t)) t^(-3/2) dt``.

    Raises
    ------
    NotComputableError
        For noise of another law.

    Examples
    --------
    >>> round(mean_l2_error(LaplaceNoise(scales=np.full(5, 1.0))), 5)
    2.86388
    """
    if isinstance(noise, DirectionalLaplaceNoise):
        return noise.scale
    if isinstance(noise, GaussianNoise):
        return _root_mean(np.linalg.eigvalsh(noise.covariance).clip(0), _log_gaussian)
    if isinstance(noise, LaplaceNoise):
        return _root_mean(2 * noise.scales**2, _log_laplace)
    raise NotComputableError(f"the mean error of {type(noise).__name__} has no known form")


def _log_gaussian(t: FloatArray, variance: float) -> FloatArray:
    return -0.5 * np.log1p(2 * t * variance)


def _log_laplace(t: FloatArray, variance: float) -> FloatArray:
    """Return log E exp(-t Z^2) = log(sqrt(pi) a erfcx(a)), a = 1 / (2 b sqrt(t)); 2 b^2 given."""
    a = 1 / np.sqrt(2 * t * variance)
    # Near 1 the product keeps few digits of its logarithm; the asymptotic series keeps them all.
    far = 1 / np.maximum(a, FAR) ** 2
    series = np.log1p(-far / 2 + 3 * far**2 / 4 - 15 * far**3 / 8)
    near = np.minimum(a, FAR)
    return np.where(a > FAR, series, np.log(math.sqrt(math.pi) * near * erfcx(near)))


def _root_mean(variances: FloatArray, log_transform: LogTransform) -> float:
    """Integrate over u = log t, in units of the largest deviation.

    The integrand is analytic and falls off like e^(u/2) and e^(-u/2), so that sums over equal
    steps converge faster than any power of the step.
    """
    variances = variances[variances > 0]
    if not variances.size:
        return 0.0
    unit = float(variances.max())
    u = np.arange(-80.0, 80.0, STEP)
    logs = sum((log_transform(np.exp(u), float(v)) for v in variances / unit), np.zeros_like(u))
    value = STEP * float((-np.expm1(logs) * np.exp(-u / 2)).sum())
    return math.sqrt(unit) * value / (2 * math.sqrt(math.pi))
