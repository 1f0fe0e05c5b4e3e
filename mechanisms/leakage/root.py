"""Roots returned on the side that meets the budget."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

RELATIVE = {"xtol": 1e-300, "rtol": 1e-15, "maxiter": 2000}  # for brentq: units do not matter
_MAX_STEPS = 200
_TOLERANCE = 1e-13


def largest_convex(
    cost: Callable[[float], tuple[float, float]], *, budget: float, low: float, high: float
) -> float:
    """Return the largest u in [low, high] with ``cost(u) <= budget``, to rounding, never above.

    Parameters
    ----------
    cost : callable
        Returns (value, slope) of a convex increasing function.
    budget : float
    low, high : float
        ``cost(low) <= budget`` and ``cost(high) >= budget``.

    Notes
    -----
    Newton steps from above decrease monotonically to the root of a convex function, and from
    an asymptotically linear one (the log of a mean of exponentials) a handful suffice.
    """
    for _ in range(_MAX_STEPS):
        value, slope = cost(high)
        if value <= budget:
            return high
        step = high - (value - budget) / slope if slope > 0 else low
        moved = high - step
        high = max(step, low)
        if moved <= _TOLERANCE * high:
            break
    return _retreat(lambda u: cost(u)[0] <= budget, high, low)


def _retreat(meets: Callable[[float], bool], start: float, low: float) -> float:
    """Step down from `start` by growing ulps until the budget is met."""
    shrink = 2.0**-52
    while start > low:
        if meets(start):
            return start
        start *= 1 - shrink
        shrink *= 2
    return low


def smallest_monotone(
    loss: Callable[[float], float], *, budget: float, high: float, floor: float
) -> float:
    """Return the smallest scale with ``loss(scale) <= budget``, to 1e-11, rounded up.

    Parameters
    ----------
    loss : callable
        Nonincreasing in the scale.
    budget : float
    high : float in (0, inf)
        A guess; doubled until it meets the budget.
    floor : float in (0, inf)
        Scales below it are not searched: if `floor` meets the budget it is returned.

    Returns
    -------
    float
        ``inf`` if no scale up to ``high * 2^200`` meets the budget.
    """
    for _ in range(_MAX_STEPS):
        if loss(high) <= budget:
            break
        high *= 2
    else:
        return math.inf
    low = high
    while low > floor:
        low = max(low / 4, floor)
        if loss(low) > budget:
            break
        high = low
    else:
        return low

    def excess(log_scale: float) -> float:
        value = loss(math.exp(log_scale))
        # A bounded, sign-keeping excess: infinite losses stay usable.
        return math.tanh((value - budget) / budget) if budget > 0 else (1.0 if value > 0 else -1.0)

    ends = math.log(low * (1 - 1e-15)), math.log(high * (1 + 1e-15))
    if excess(ends[0]) <= 0 or excess(ends[1]) > 0:
        return high
    scale = math.exp(brentq(excess, *ends, xtol=1e-13, rtol=1e-13))
    grow = 2.0**-50
    while scale < high:
        if loss(scale) <= budget:
            return scale
        scale *= 1 + grow
        grow *= 2
    return high
