"""The coupling that needs least noise, where the best one depends on the noise itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.laws.coupling import Coupling
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.transport import optimal_coupling

_ROUNDS = 30
_SETTLED = 1e-12


def least_noise_coupling(
    p: FiniteLaw,
    q: FiniteLaw,
    *,
    log_costs: Callable[[float], FloatArray],
    scale: Callable[[Coupling], float],
) -> Coupling:
    """Return a coupling with the smallest scale, by turns of transport and root finding.

    The scale of a coupling solves ``E[cost at that scale] = budget``; the plan that is optimal at
    that scale has a mean at or below the budget, hence a smaller scale. Where no plan improves,
    the coupling is optimal at its own scale, and so for the budget. Every coupling on the way is
    valid: stopping early costs noise, not privacy.

    Parameters
    ----------
    p, q : FiniteLaw
    log_costs : callable
        Log of the cost of moving each atom onto each, shape (n, m), at a scale.
    scale : callable
        The calibration of one coupling.
    """
    # An infinite scale weighs displacements alone: start from the plan of least mean cost.
    best = optimal_coupling(p, q, costs=log_costs(1.0))
    least = scale(best)
    for _ in range(_ROUNDS):
        if not 0 < least < math.inf:
            break
        logs = log_costs(least)
        plan = optimal_coupling(p, q, costs=np.exp(logs - logs.max()))
        found = scale(plan)
        if not found < least * (1 - _SETTLED):
            break
        best, least = plan, found
    return best
