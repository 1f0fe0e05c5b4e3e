"""What a guarantee says about other secrets: larger groups, other neighbours, priors.

Each function names what must hold; where it does not, the reason comes back.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from mechanisms.check import whole
from mechanisms.privacy.assumptions import NONE, Assumptions, Neighbours, Priors, Public, Secrets
from mechanisms.privacy.guarantee import Guarantee, NotComparable
from mechanisms.privacy.indistinguishability import PURE, Approximate, Renyi

GROUP = "Dwork and Roth (2014), Theorem 2.2 (group privacy)"
HYBRIDS = "a chain of neighbours: delta (e^(k eps) - 1) / (e^eps - 1)"
MIRONOV = "Mironov (2017), Proposition 2 (group privacy)"
COUPLED = "joint quasi-convexity (van Erven and Harremoes, 2014, Theorem 13)"


class Curve(Protocol):
    """An influence curve: what per-entry epsilon means for the secrets of correlated entries."""

    @property
    def assumption(self) -> str:
        """What the curve assumes beyond the prior; empty for nothing."""

    def pufferfish_epsilon(self, per_entry_epsilon: float) -> float:
        """Return ``min over b of a(b) + b * per_entry_epsilon``."""


def to_group(guarantee: Guarantee, k: int) -> Guarantee | NotComparable:
    """Return what a guarantee for neighbours says about chains of k of them.

    Approximate: ``(k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1))``, which is not
    ``k delta``. Renyi: the order changes, ``a / 2^c`` and ``3^c epsilon`` with ``k <= 2^c``, for
    orders of at least ``2^(c + 1)``.
    """
    whole("k", k)
    assumed = guarantee.assumptions
    if assumed.secrets != Secrets.DATABASES:
        return NotComparable(reason="only neighbouring databases make groups of neighbours")
    if k == 1:
        return guarantee
    wider = replace(assumed, neighbours=_grown(assumed.neighbours, k))
    notion, epsilon = guarantee.notion, guarantee.bound
    if isinstance(notion, Approximate):
        delta = group_delta(epsilon, notion.delta, k)
        if delta >= 1:
            return NotComparable(reason=f"delta of a group of {k} is {delta:.3g}: vacuous")
        theorem = GROUP if notion.delta == 0 else HYBRIDS
        return replace(
            guarantee, notion=Approximate(delta=delta), bound=k * epsilon, assumptions=wider,
            theorem=f"{theorem} on {guarantee.theorem}",
        )  # fmt: skip
    if isinstance(notion, Renyi):
        doublings = math.ceil(math.log2(k))
        if notion.order < 2 ** (doublings + 1):
            return NotComparable(
                reason=f"a group of {k} needs an order of at least {2 ** (doublings + 1)}, "
                f"got order={notion.order:g}"
            )
        return replace(
            guarantee, notion=Renyi(order=notion.order / 2**doublings),
            bound=3**doublings * epsilon, assumptions=wider,
            theorem=f"{MIRONOV} on {guarantee.theorem}",
        )  # fmt: skip
    return NotComparable(reason=f"no theorem takes {notion.name} to groups")


def group_delta(epsilon: float, delta: float, k: int) -> float:
    """Return ``delta (e^(k epsilon) - 1) / (e^epsilon - 1)``: k delta only where epsilon is 0.

    Examples
    --------
    >>> round(group_delta(0.633906, 0.001, 10), 3)
    0.639
    """
    if delta == 0 or epsilon == 0:
        return k * delta
    if k * epsilon > 700:
        return math.inf
    return delta * math.expm1(k * epsilon) / math.expm1(epsilon)


def to_replacement(guarantee: Guarantee) -> Guarantee | NotComparable:
    """Return what add-or-remove privacy says about replacing: one removal and one addition."""
    neighbours = guarantee.assumptions.neighbours
    if neighbours.relation != "add or remove":
        return NotComparable(reason="only add-or-remove neighbours make a replacement")
    doubled = to_group(guarantee, 2)
    if isinstance(doubled, NotComparable):
        return doubled
    replaced = Neighbours(relation="replace", unit=neighbours.unit, size=neighbours.size)
    return replace(doubled, assumptions=replace(doubled.assumptions, neighbours=replaced))


def through_curve(
    guarantee: Guarantee, curve: Curve, *, public: tuple[str, ...] = (Public.PRIORS,)
) -> Guarantee | NotComparable:
    """Return what **pure** per-entry privacy says about the values of correlated entries.

    An approximate or Renyi guarantee does not pass: the proof bounds a likelihood ratio for every
    output, and outputs of mass delta may be those that the secret decides.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Theorem 3.
    """
    assumed = guarantee.assumptions
    if guarantee.notion not in (PURE, Renyi(order=math.inf)):
        return NotComparable(reason="only pure per-entry privacy passes through an influence curve")
    entry = Neighbours(relation="replace", unit="entry")
    if assumed.secrets != Secrets.DATABASES or assumed.neighbours != entry:
        return NotComparable(reason="an influence curve is about replacing one entry")
    assumption = (curve.assumption,) if curve.assumption else ()
    return replace(
        guarantee,
        notion=PURE,
        bound=curve.pufferfish_epsilon(guarantee.bound),
        theorem="Bai et al. (2026), Theorem 3",
        assumptions=Assumptions(
            priors=Priors.CURVE, public=public, conditions=(*assumption, *assumed.conditions)
        ),
    )


def through_coupling(
    guarantee: Guarantee, replaced: int, *, secrets: Secrets = Secrets.DISTRIBUTIONS
) -> Guarantee | NotComparable:
    """Return what privacy of neighbours says about secrets whose databases couple among them.

    Parameters
    ----------
    guarantee : Guarantee
        For databases that differ in a group of units.
    replaced : int
        The databases under both sides of every pair of secrets can be drawn together so that at
        most this many units differ.
    secrets : Secrets
    """
    assumed = guarantee.assumptions
    if assumed.secrets != Secrets.DATABASES or assumed.neighbours.relation != "replace":
        return NotComparable(reason="a coupling moves between databases that replace units")
    if replaced > assumed.neighbours.size:
        return NotComparable(
            reason=f"the databases couple within {replaced} replacements, the guarantee is for "
            f"{assumed.neighbours.size}: take it to a group first"
        )
    if not isinstance(guarantee.notion, Approximate | Renyi):
        return NotComparable(reason=f"{guarantee.notion.name} is not kept by mixtures")
    moved = replace(assumed, secrets=secrets, neighbours=NONE, priors=Priors.LAWS)
    return replace(guarantee, assumptions=moved, theorem=f"{COUPLED} on {guarantee.theorem}")


def to_distributions(guarantee: Guarantee, *, conditional_laws: bool) -> Guarantee | NotComparable:
    """Return what Pufferfish privacy says about whole distributions.

    Parameters
    ----------
    guarantee : Guarantee
    conditional_laws : bool
        Whether each distribution of a pair is the prior's conditional law given one of its
        secrets.
    """
    if guarantee.assumptions.secrets != Secrets.VALUES:
        return NotComparable(reason="only Pufferfish secrets have conditional laws")
    if not conditional_laws:
        return NotComparable(
            reason="the pair's distributions are not the conditional laws given the secrets"
        )
    moved = replace(guarantee.assumptions, secrets=Secrets.DISTRIBUTIONS)
    return replace(guarantee, assumptions=moved)


def speaks_of(guarantee: Guarantee, wanted: Assumptions) -> Guarantee | NotComparable:
    """Return the guarantee if it covers the secrets, neighbours and priors wanted as it stands.

    Anything else needs one of the functions above, with the fact that it names.
    """
    own = guarantee.assumptions
    if own.secrets != wanted.secrets:
        return NotComparable(
            reason=f"a guarantee about {own.secrets} says nothing about {wanted.secrets}"
        )
    mine, asked = own.neighbours, wanted.neighbours
    if (mine.relation, mine.unit) != (asked.relation, asked.unit):
        return NotComparable(reason=f"neighbours that {mine} are not neighbours that {asked}")
    if mine.size < asked.size:
        return NotComparable(reason=f"the guarantee is for {mine}, not for {asked}")
    if own.priors not in (Priors.ANY, wanted.priors):
        return NotComparable(reason=f"the guarantee is for {own.priors}, not for {wanted.priors}")
    return guarantee


def _grown(neighbours: Neighbours, k: int) -> Neighbours:
    return replace(neighbours, size=neighbours.size * k)
