"""Guarantees as values: a notion, an upper bound, what it assumes, and the theorem behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from mechanisms.check import within
from mechanisms.privacy.assumptions import Assumptions, Secrets
from mechanisms.privacy.notion import Notion, PairNotion

DIFFERENTIAL = "differential privacy"
PUFFERFISH = "Pufferfish privacy"
DISTRIBUTION = "distribution privacy"
DEFINITIONS: dict[str, str] = {
    Secrets.DATABASES: DIFFERENTIAL,
    Secrets.VALUES: PUFFERFISH,
    Secrets.DISTRIBUTIONS: DISTRIBUTION,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a mechanism claims for a scenario's secrets: an upper bound on leakage.

    Parameters
    ----------
    notion : Notion
        In which number the claim is stated.
    bound : float in [0, inf]
        The claim, in the notion's unit; inf is *unbounded*: nothing is promised.
    assumptions : Assumptions
    theorem : str
        The source: author, year, theorem.
    notes : tuple of str
        Remarks that assume nothing: which case of the theorem gave the bound.
    """

    notion: Notion
    bound: float
    theorem: str
    assumptions: Assumptions = field(default_factory=Assumptions)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        within("bound", self.bound, 0, math.inf)

    @property
    def unbounded(self) -> bool:
        """Whether nothing is promised."""
        return self.bound == math.inf

    @property
    def name(self) -> str:
        """The field's name of what is promised, such as "Renyi Pufferfish privacy"."""
        known = DEFINITIONS.get(self.assumptions.secrets)
        if known is None or not isinstance(self.notion, PairNotion):
            return self.notion.name
        kind = self.notion.name.removesuffix("privacy")
        group = "group " if self.assumptions.neighbours.size > 1 else ""
        plain = kind.strip() in ("pure", "approximate")
        return f"{'' if plain else kind}{group}{known}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoClaim:
    """The mechanism never spoke of the scenario's secrets; never a violation."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotComparable:
    """No theorem turns one guarantee into the notion asked for; the reason is why not."""

    reason: str
