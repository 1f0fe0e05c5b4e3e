"""Several releases about the same data: what adds up, and what does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from mechanisms.privacy.assumptions import Secrets
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.indistinguishability import Approximate, Renyi

BASIC = "Dwork and Roth (2014), Theorem 3.16 (basic composition)"
MIRONOV = "Mironov (2017), Proposition 1 (composition)"
NEW_DATA = "every release is of new data, independent given the secret"
POINTS = (
    "epsilons add between single databases only: under a prior, what one release tells about the "
    "database changes what the next one tells about the secret"
)


def compose(
    guarantees: Sequence[Guarantee], *, point_masses: bool = False
) -> Guarantee | NotComparable:
    """Add the epsilons of releases about the same data, where that is sound.

    Sound for neighbouring databases: given the database, releases are independent. Between laws
    of the database that are no point masses they are not, and both pure and Renyi epsilons of the
    joint release may exceed any sum (Bai et al. 2026, Examples 1 and 3); per-entry guarantees are
    added *before* an influence curve or quilts turn them into Pufferfish privacy.

    Parameters
    ----------
    guarantees : sequence of Guarantee
        In one notion, with the same secrets, neighbours and priors; what any of them assumes,
        the joint release does.
    point_masses : bool
        Whether each secret of every pair leaves one possible answer.
    """
    first = guarantees[0]
    assumed = first.assumptions
    about = {
        (g.assumptions.secrets, g.assumptions.neighbours, g.assumptions.priors) for g in guarantees
    }
    if len(about) > 1:
        return NotComparable(reason="the releases' secrets, neighbours or priors differ")
    if assumed.secrets != Secrets.DATABASES and not point_masses:
        return NotComparable(reason=POINTS)
    conditions = tuple(dict.fromkeys(c for g in guarantees for c in g.assumptions.conditions))
    public = tuple(dict.fromkeys(fact for g in guarantees for fact in g.assumptions.public))
    total = sum(g.bound for g in guarantees)
    assumptions = replace(assumed, conditions=conditions, public=public)
    if all(isinstance(g.notion, Approximate) for g in guarantees):
        delta = sum(g.notion.delta for g in guarantees)  # type: ignore[attr-defined]
        if delta >= 1:
            return NotComparable(reason=f"the deltas add up to {delta:g}: vacuous")
        return replace(
            first, notion=Approximate(delta=delta), bound=total, assumptions=assumptions,
            theorem=f"{BASIC} on {first.theorem}",
        )  # fmt: skip
    if all(isinstance(g.notion, Renyi) and g.notion == first.notion for g in guarantees):
        return replace(
            first, bound=total, assumptions=assumptions, theorem=f"{MIRONOV} on {first.theorem}"
        )
    return NotComparable(reason="no theorem adds up these notions")


def repeat(guarantee: Guarantee | NoClaim, n_releases: int) -> Guarantee | NoClaim:
    """Return what releasing anew and anew guarantees: a composition, or *unbounded*."""
    if isinstance(guarantee, NoClaim) or n_releases == 1:
        return guarantee
    together = compose([guarantee] * n_releases)
    if isinstance(together, NotComparable):
        return unbounded(guarantee, together.reason)
    return together


def repeat_on_new_data(guarantee: Guarantee | NoClaim, n_releases: int) -> Guarantee | NoClaim:
    """Return what releases of data drawn anew, independent given the secret, guarantee together.

    The joint law under a secret is a product, so epsilons and deltas add up whatever the prior.
    Nothing is paid once: each release has databases of its own to be correlated with the secret.
    """
    if isinstance(guarantee, NoClaim) or n_releases == 1:
        return guarantee
    together = compose([guarantee] * n_releases, point_masses=True)
    if isinstance(together, NotComparable):
        return unbounded(guarantee, together.reason)
    return replace(together, notes=(*together.notes, NEW_DATA))


def unbounded(guarantee: Guarantee, reason: str) -> Guarantee:
    """Return the same guarantee without a bound: no theorem covers these releases."""
    return replace(
        guarantee, bound=math.inf, theorem=f"none: {reason}", notes=(*guarantee.notes, reason)
    )
