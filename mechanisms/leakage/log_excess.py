"""The Renyi divergence as the mean of an integrand without cancellation."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import exprel

from mechanisms.check import FloatArray


def log_excess(ratio: FloatArray, order: float) -> FloatArray:
    """Return ``log h(r)``, where ``E_Q[h(log p/q)] = (E_Q[(p/q)^a] - 1)/(a-1)`` and h >= 0.

    ``h(r) = (e^{ar} - a e^r)/(a-1) + 1``, at order 1 ``(r - 1) e^r + 1``: an integrand without
    cancellation, so that small divergences keep their relative accuracy.
    """
    a = order
    reach = max(a, 1.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        plain = np.log(ratio * exprel((a - 1) * ratio) * np.exp(ratio) - np.expm1(ratio))
        # The same with the largest exponential taken out.
        x = (a - 1) * ratio
        if a > 1:
            rest = -np.expm1(-x) / (a - 1) - np.exp(-x) + np.exp(-a * ratio)
        else:
            rest = ratio * exprel(x) - 1 + np.exp(-ratio)
        far = reach * ratio + np.log(rest)
        # Far below 0 the product of plain is inf * 0 for orders below 1.
        low = np.log((a * np.expm1(ratio) - np.expm1(a * ratio)) / (1 - a)) if a < 1 else plain
    series, power, gain = np.zeros_like(ratio), ratio.copy(), 0.0
    for k in range(2, 10):
        power = power * ratio / k
        gain = gain * a + a  # (a^k - a)/(a - 1)
        series = series + gain * power
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log(series)
    outside = np.where(ratio * reach > 30, far, np.where(ratio < -30, low, plain))
    return np.where(np.abs(reach * ratio) < 0.05, near, outside)


def from_log_excess(log_mean: float, order: float) -> float:
    """Return the divergence of an order from the log of the mean excess."""
    if order == 1:
        return math.exp(log_mean)
    if order > 1:
        return float(np.logaddexp(0.0, math.log(order - 1) + log_mean)) / (order - 1)
    return math.log1p((order - 1) * math.exp(log_mean)) / (order - 1)
