"""Integrals and maxima of functions given by their logarithm, with a bound on every panel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms.check import FloatArray

# Gauss (7 points) and Kronrod (15 points) rules on [-1, 1] (Piessens et al. 1983, QUADPACK).
_NODES = np.array(
    [
        0.991455371120812639206854697526329,
        0.949107912342758524526189684047851,
        0.864864423359769072789712788640926,
        0.741531185599394439863864773280788,
        0.586087235467691130294144691693013,
        0.405845151377397166906606412076961,
        0.207784955007898467600689403773245,
        0.0,
    ]
)
_KRONROD = np.array(
    [
        0.022935322010529224963732008058970,
        0.063092092629978553290700663189204,
        0.104790010322250183839876322541518,
        0.140653259715525918745189590510238,
        0.169004726639267902826583426598550,
        0.190350578064785409913256402421014,
        0.204432940075298892414161999234649,
        0.209482141084727828012999174891714,
    ]
)
_GAUSS = np.array(
    [
        0.129484966168869693270611432679082,
        0.279705391489276667901467771423780,
        0.381830050505118944950369775488975,
        0.417959183673469387755102040816327,
    ]
)
_X = np.concatenate([-_NODES, _NODES[-2::-1]])
_K = np.concatenate([_KRONROD, _KRONROD[-2::-1]])
_G = np.zeros(15)
_G[1::2] = np.concatenate([_GAUSS, _GAUSS[-2::-1]])

_MAX_ROUNDS = 100
_TOLERANCE = 1e-11  # Gauss against Kronrod; the latter is far closer than their difference
_NEGLIGIBLE = -45.0  # log of the share of the total below which a panel is left alone
_RESOLVED = 12.0  # log of the largest factor by which a settled panel may exceed its samples

LogFunction = Callable[[FloatArray], FloatArray]
PanelBound = Callable[[FloatArray, FloatArray], FloatArray]


def log_integral(log_f: LogFunction, bound: PanelBound, edges: FloatArray) -> float:
    """Return the log of the integral of ``exp(log_f)`` over [edges[0], edges[-1]].

    Panels are halved until each is negligible by its upper bound, or both the 7- and 15-point
    rules agree to 1e-11 and the bound shows that no peak hides between the nodes.

    Parameters
    ----------
    log_f : callable
        Vectorised; -inf is allowed. Smooth between neighbouring edges.
    bound : callable
        ``bound(low, high)``: an upper bound on `log_f` over each panel, tight as panels shrink.
    edges : array of shape (k,)
        Increasing; kinks of `log_f` must be among them.
    """
    low, high = edges[:-1], edges[1:]
    settled = -math.inf
    for _ in range(_MAX_ROUNDS):
        half, middle = (high - low) / 2, (high + low) / 2
        values = log_f((middle[:, None] + half[:, None] * _X).ravel()).reshape(-1, 15)
        top = values.max(axis=1)
        terms = np.exp(values - np.where(np.isfinite(top), top, 0.0)[:, None])
        with np.errstate(divide="ignore"):
            logs = top + np.log(half * (terms @ _K))
            ceiling = bound(low, high)
            most = ceiling + np.log(2 * half)
        total = np.logaddexp(settled, np.logaddexp.reduce(logs))
        good = np.abs(terms @ (_K - _G)) <= _TOLERANCE * (terms @ _K)
        good &= (ceiling - top <= _RESOLVED) | (half <= 1e-15 * np.abs(middle))
        tiny = most <= total + _NEGLIGIBLE - math.log(len(low))
        # Both small against the total and resolved: absolute error is what counts.
        small = (logs <= total - 30) & (most <= total - 30)
        done = good | tiny | small | (half <= 4e-16 * np.abs(middle))
        settled = np.logaddexp(settled, np.logaddexp.reduce(logs[done], initial=-np.inf))
        if done.all():
            return float(settled)
        low, high, middle = low[~done], high[~done], middle[~done]
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    raise ArithmeticError(f"the integral did not settle in {_MAX_ROUNDS} halvings.")


def supremum(f: LogFunction, bound: PanelBound, edges: FloatArray, *, gap: float) -> float:
    """Return an upper bound, within `gap`, on the supremum of f over [edges[0], edges[-1]]."""
    low, high = edges[:-1], edges[1:]
    best = float(f(edges).max())
    for _ in range(_MAX_ROUNDS):
        keep = bound(low, high) > best + gap
        low, high = low[keep], high[keep]
        if low.size == 0:
            break
        middle = (low + high) / 2
        best = max(best, float(f(middle).max()))
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return best + gap
