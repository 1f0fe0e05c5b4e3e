"""What a guarantee is worth when every probability is right but for a factor."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

from mechanisms.privacy.assumptions import Condition
from mechanisms.privacy.guarantee import Guarantee
from mechanisms.privacy.indistinguishability import Approximate, DeltaApproximateRenyi, Renyi
from mechanisms.privacy.notion import Notion

C = TypeVar("C")


def widened(guarantee: Guarantee, slack: float) -> Guarantee:
    """Return the guarantee of releases whose probabilities are those it is about, to ``e^slack``.

    In place of P a release has P', ``e^-slack P <= P' <= e^slack P`` on every event, on either
    side: epsilon grows by twice the slack. The delta is that of the guarantee as given; one that
    comes from the noise must have been read at ``e^-slack delta`` (`at_smaller_delta`).

    Parameters
    ----------
    guarantee : Guarantee
    slack : float in [0, inf)
        In nats.
    """
    notion, bound = guarantee.notion, guarantee.bound
    if slack == 0 or math.isinf(bound):
        return guarantee
    if isinstance(notion, Approximate):
        bound += 2 * slack
    elif isinstance(notion, Renyi | DeltaApproximateRenyi):
        bound = renyi_widened(bound, notion.order, slack)
    else:
        return guarantee  # its number's slack is not known: the condition stays
    # One condition takes the other's place.
    conditions = tuple(
        Condition.SNAPPED if c == Condition.REAL_NUMBERS else c
        for c in guarantee.assumptions.conditions
    )
    assumptions = replace(guarantee.assumptions, conditions=conditions)
    return replace(guarantee, bound=bound, assumptions=assumptions)


def renyi_widened(bound: float, order: float, slack: float) -> float:
    """Return a bound on the Renyi divergence of laws that are right but for a factor.

    Let ``f = (p/q)^(a-1)`` and ``M = E_p[f] = exp((a-1) D)``. With factors within ``e^+-s``,
    ``E_p'[f'] <= e^(2 s (a-1)) (M + (e^s - 1) E_p|f - 1|)`` for a > 1, because p' and p have the
    same mass; ``E_p|f - 1| <= M - 1 + 2 (a-1)``, as ``1 - f <= (a-1) log(q/p)`` and
    ``E_p[log(q/p)^+] <= 1``. Or ``E_p'[f'] <= e^(2 s (a-1) + s) M``, the smaller of both. The
    limit at a = 1 is ``D + 2 s + (e^s - 1) (D + 2)``; below 1 only the second way is taken.

    Examples
    --------
    >>> renyi_widened(1.0, 2.0, 0.0), round(renyi_widened(1.0, math.inf, 0.1), 12)
    (1.0, 1.2)
    """
    if order == math.inf:
        return bound + 2 * slack
    if order == 1:
        return bound + 2 * slack + math.expm1(slack) * (bound + 2)
    plain = bound + 2 * slack + slack / abs(order - 1)
    above = order - 1
    if above < 0 or above * bound > 700:
        return plain
    moved = math.expm1(above * bound) + 2 * above
    # log M + log(1 + (e^s - 1) moved / M)
    share = math.expm1(slack) * moved * math.exp(-above * bound)
    return min(plain, bound + 2 * slack + math.log1p(share) / above)


def smaller_delta(notion: Notion, slack: float) -> Notion:
    """Return the notion of which ``e^slack`` times its delta is the delta of `notion`."""
    if slack > 0 and isinstance(notion, Approximate) and notion.delta > 0:
        return Approximate(delta=notion.delta * math.exp(-slack))
    return notion


def at_smaller_delta(claim: C, slack: float) -> C:
    """Return a claim that has a `notion` read at a delta that leaves room for the slack."""
    notion = getattr(claim, "notion", None)
    smaller = None if notion is None else smaller_delta(notion, slack)
    return claim if smaller == notion else replace(claim, notion=smaller)  # type: ignore[type-var]
