"""From one notion to another about the same secrets: a theorem and its bound, or the reason.

Every bound is attained by some pair of laws, or is the best that the literature has; what is not
sound is refused, never approximated. `mechanisms.privacy.other_secrets` changes what a guarantee
is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mechanisms.leakage.pair import log_renyi
from mechanisms.privacy.guarantee import Guarantee, NotComparable
from mechanisms.privacy.indistinguishability import (
    PURE,
    Approximate,
    DeltaApproximateRenyi,
    Probabilistic,
    Renyi,
)
from mechanisms.privacy.notion import Notion

KAIROUZ = "Kairouz, Oh and Viswanath (2015), Theorem 2.5 (dominating pair)"
ORDERED = "van Erven and Harremoes (2014), Theorem 3 (divergences grow with the order)"
BELOW_ONE = "van Erven and Harremoes (2014), Theorem 16 and Proposition 2 (orders below 1)"
CANONNE = "Canonne, Kamath and Steinke (2020), Proposition 12"
MARKOV = "Markov's inequality for the privacy loss (Mironov, 2017, Proposition 3)"
DEFINITION = "the definitions"
ROUNDED = 1 + 1e-14  # rounding never claims more privacy

Found = tuple[float, str] | str
"""A bound with its theorem, or the reason why there is none."""


@runtime_checkable
class HasConversions(Protocol):
    """A notion of one's own that knows which guarantees imply it."""

    def converted(self, guarantee: Guarantee) -> Guarantee | NotComparable:
        """Return what `guarantee` says in this notion, or why it says nothing."""


def convert(guarantee: Guarantee, to: Notion) -> Guarantee | NotComparable:
    """Return what a guarantee says in another notion, about the same secrets.

    Parameters
    ----------
    guarantee : Guarantee
    to : Notion

    Returns
    -------
    Guarantee or NotComparable
        With the theorem that converts, after the guarantee's own.

    Examples
    --------
    >>> pure = Guarantee(notion=PURE, bound=1.0, theorem="t")
    >>> round(convert(pure, Renyi(order=2.0)).bound, 6)
    0.735326
    >>> convert(Guarantee(notion=Approximate(delta=0.1), bound=1.0, theorem="t"), PURE).reason
    'delta=0.1 does not shrink to 0: an event of that mass may tell everything'
    """
    start = guarantee.notion
    if start == to:
        return guarantee
    if isinstance(to, HasConversions):
        return to.converted(guarantee)
    # Order infinity is pure privacy under another name.
    start = PURE if start == Renyi(order=math.inf) else start
    goal = PURE if to == Renyi(order=math.inf) else to
    rule = RULES.get((type(start), type(goal)))
    if rule is None:
        return NotComparable(reason=f"no theorem turns {start.name} into {goal.name}")
    found = rule(start, goal, guarantee.bound)
    if isinstance(found, str):
        return NotComparable(reason=found)
    bound, theorem = found
    return replace(guarantee, notion=to, bound=bound, theorem=f"{theorem} on {guarantee.theorem}")


def _approximate(start: Approximate, goal: Approximate, epsilon: float) -> Found:
    """Read the dominating pair at a larger delta.

    Every (epsilon, delta)-indistinguishable pair is a post-processing of one with four outputs:
    mass delta gives the side away, the rest is randomised response.
    """
    if goal.delta < start.delta:
        return _shrunk(start.delta, goal.delta)
    if math.isinf(epsilon):
        return math.inf, DEFINITION
    more = (goal.delta - start.delta) / (1 - start.delta)
    if more == 0:
        return epsilon, DEFINITION
    # e^eps - more (1 + e^eps), over e^eps so that it cannot overflow.
    left = 1 - more * (1 + math.exp(-epsilon))
    smaller = epsilon + math.log(left) if left > 0 else 0.0
    return max(0.0, smaller) * ROUNDED, KAIROUZ


def _approximate_to_renyi(start: Approximate, goal: Renyi, epsilon: float) -> Found:
    if start.delta > 0:
        return (
            f"an event of mass delta={start.delta:g} may tell everything: "
            "no Renyi divergence is bounded"
        )
    if math.isinf(epsilon):
        return math.inf, DEFINITION
    # Randomised response dominates every pure pair, so its divergence bounds theirs.
    logs = -np.logaddexp(0.0, np.array([-epsilon, epsilon]))
    return log_renyi(logs, logs[::-1], goal.order) * ROUNDED, KAIROUZ


def _renyi(start: Renyi, goal: Renyi, epsilon: float) -> Found:
    if goal.order <= start.order:
        return epsilon, ORDERED
    if goal.order < 1:
        # (1 - a) D_a / a falls in the order a; and D_{1-a} is (1 - a)/a times D_a of the swapped
        # pair, which the notion bounds too.
        here, there = (order / (1 - order) for order in (start.order, goal.order))
        return min(there / here, max(1 / here, there)) * epsilon * ROUNDED, BELOW_ONE
    return f"order {start.order:g} says nothing about the larger order {goal.order:g}"


def _renyi_to_approximate(start: Renyi, goal: Approximate, epsilon: float) -> Found:
    if goal.delta == 0:
        return f"a divergence of finite order {start.order:g} bounds no largest ratio"
    if start.order <= 1:
        return f"order {start.order:g} is not above 1"
    a = start.order
    bound = epsilon + math.log1p(-1 / a) - (math.log(goal.delta) + math.log(a)) / (a - 1)
    return max(0.0, bound) * ROUNDED, CANONNE


def _renyi_to_delta_renyi(start: Renyi, goal: DeltaApproximateRenyi, epsilon: float) -> Found:
    found = _renyi(start, Renyi(order=goal.order), epsilon)
    return found if isinstance(found, str) else (found[0], f"{found[1]}, nothing dropped")


def _approximate_to_delta_renyi(
    start: Approximate, goal: DeltaApproximateRenyi, epsilon: float
) -> Found:
    if start.delta > 0:
        return "(epsilon, delta) splits laws into mixtures, not into events of mass delta"
    return _approximate_to_renyi(start, Renyi(order=goal.order), epsilon)


def _delta_renyi(
    start: DeltaApproximateRenyi, goal: DeltaApproximateRenyi, epsilon: float
) -> Found:
    if goal.delta < start.delta:
        return _shrunk(start.delta, goal.delta)
    return _renyi(Renyi(order=start.order), Renyi(order=goal.order), epsilon)


def _delta_renyi_to_renyi(start: DeltaApproximateRenyi, goal: Renyi, epsilon: float) -> Found:
    if start.delta > 0:
        return (
            f"the events of mass delta={start.delta:g} that are dropped may tell everything: "
            "no Renyi divergence is bounded"
        )
    return _renyi(Renyi(order=start.order), goal, epsilon)


def _delta_renyi_to_approximate(
    start: DeltaApproximateRenyi, goal: Approximate, epsilon: float
) -> Found:
    """Condition on the events, convert there, and pay for what was dropped.

    With ``P_E(S) <= e^e Q_F(S) + d`` and masses of at least 1 - delta: ``P(S) <= (1 - delta)
    P_E(S) + delta`` and ``(1 - delta) Q_F(S) <= Q(S)``, so ``P(S) <= e^e Q(S) + (1 - delta) d +
    delta``: nothing is added to e.
    """
    if start.delta == 0:
        return _renyi_to_approximate(Renyi(order=start.order), goal, epsilon)
    if goal.delta <= start.delta:
        return _shrunk(start.delta, goal.delta)
    rest = Approximate(delta=(goal.delta - start.delta) / (1 - start.delta))
    inner = _renyi_to_approximate(Renyi(order=start.order), rest, epsilon)
    if isinstance(inner, str):
        return inner
    return inner[0], f"{inner[1]}, given events of mass 1 - delta"


def _approximate_to_probabilistic(start: Approximate, goal: Probabilistic, epsilon: float) -> Found:
    """Return e with ``delta / (1 - exp(epsilon - e))`` at most the delta asked for."""
    if start.delta == 0:
        return epsilon, DEFINITION
    if goal.delta <= start.delta:
        return (
            f"(epsilon, delta={start.delta:g}) allows the loss to exceed epsilon with a "
            f"probability above delta: ask for more than delta={goal.delta:g}"
        )
    bound = epsilon - math.log1p(-start.delta / goal.delta)
    return bound * ROUNDED, "P[loss > e] (1 - exp(epsilon - e)) <= delta"


def _renyi_to_probabilistic(start: Renyi, goal: Probabilistic, epsilon: float) -> Found:
    if goal.delta == 0:
        return _renyi_to_approximate(start, PURE, epsilon)
    if start.order <= 1:
        return f"order {start.order:g} is not above 1"
    return (epsilon - math.log(goal.delta) / (start.order - 1)) * ROUNDED, MARKOV


def _probabilistic(start: Probabilistic, goal: Any, epsilon: float) -> Found:  # noqa: ANN401
    if goal.delta < start.delta:
        return _shrunk(start.delta, goal.delta)
    return epsilon, DEFINITION


def _shrunk(delta: float, asked: float) -> str:
    return (
        f"delta={delta:g} does not shrink to {asked:g}: an event of that mass may tell everything"
    )


RULES: dict[tuple[type, type], Callable[[Any, Any, float], Found]] = {
    (Approximate, Approximate): _approximate,
    (Approximate, Renyi): _approximate_to_renyi,
    (Approximate, DeltaApproximateRenyi): _approximate_to_delta_renyi,
    (Approximate, Probabilistic): _approximate_to_probabilistic,
    (Renyi, Renyi): _renyi,
    (Renyi, Approximate): _renyi_to_approximate,
    (Renyi, DeltaApproximateRenyi): _renyi_to_delta_renyi,
    (Renyi, Probabilistic): _renyi_to_probabilistic,
    (DeltaApproximateRenyi, DeltaApproximateRenyi): _delta_renyi,
    (DeltaApproximateRenyi, Renyi): _delta_renyi_to_renyi,
    (DeltaApproximateRenyi, Approximate): _delta_renyi_to_approximate,
    (Probabilistic, Probabilistic): _probabilistic,
    (Probabilistic, Approximate): _probabilistic,
}
