"""Calibrations of private rankings: influence curves, groups of entries, single entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.check import whole
from mechanisms.group_privacy import THEOREM, group_size, replaced_units
from mechanisms.influence.calibrate import budget_notes, entry_budget
from mechanisms.influence.claim import InfluenceClaim
from mechanisms.influence.knowledge import Candidates, CurveKnowledge
from mechanisms.knowledge import Sensitivity
from mechanisms.privacy.budget import Epsilon
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import PURE
from mechanisms.top_k.peeling import (
    Composition,
    PeeledRanking,
    Selection,
    check_composition,
    check_selection,
)
from mechanisms.top_k.ranking import RankedRelease, coordinates_of, exact_ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceTopK:
    """Rank the k most frequent categories: epsilon-Pufferfish through the influence curve.

    Parameters
    ----------
    k : int
        Picks that share the per-entry budget equally.
    selection : {"gumbel", "peeled", "permute_and_flip"}
        See `mechanisms.top_k.peeling.PeeledRanking`; the first two are Ours-Exp.
    composition : {"per_pick", "joint"}
        See `mechanisms.top_k.peeling.PeeledRanking`; the first is published, the second needs
        less noise.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Section 7.1.3 (Ours-Exp).
    """

    requires: ClassVar = (CurveKnowledge, Candidates, Sensitivity)
    accepts: ClassVar = Epsilon
    k: int = 3
    selection: Selection = "gumbel"
    composition: Composition = "per_pick"

    def __post_init__(self) -> None:
        whole("k", self.k)
        check_selection(self.selection)
        check_composition(self.composition)

    def calibrate(
        self,
        known: CurveKnowledge,
        candidates: Candidates,
        sensitivity: Sensitivity,
        *,
        budget: Epsilon,
    ) -> PeeledRanking:
        """Share the per-entry budget of the curve among the picks; a(b) is paid once."""
        entry = entry_budget(known, budget)
        return PeeledRanking(
            selection=self.selection,
            k=self.k,
            epsilon=entry.total,
            candidates=coordinates_of(candidates, self.k),
            sensitivity=candidates.sensitivity,
            claim=InfluenceClaim(
                knowledge=known, sensitivity=sensitivity, notes=budget_notes(entry)
            ),
            composition=self.composition,
        )

    def without_noise(
        self, known: CurveKnowledge, candidates: Candidates, sensitivity: Sensitivity
    ) -> RankedRelease:
        """Return the exact ranking, for an infinite budget."""
        del known, sensitivity
        return exact_ranking(candidates, self.k)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTopK:
    """Rank the k most frequent categories: epsilon-DP for groups of entries.

    Parameters
    ----------
    k : int
    selection : {"gumbel", "peeled", "permute_and_flip"}
    group : int or None
        Entries protected together; None takes all that may depend on each other (the longest
        sequence), 1 is per-entry privacy, which claims nothing about correlated entries.
    """

    requires: ClassVar = (Candidates, Sensitivity)
    accepts: ClassVar = Epsilon
    k: int = 3
    selection: Selection = "gumbel"
    group: int | None = None

    def __post_init__(self) -> None:
        whole("k", self.k)
        check_selection(self.selection)

    def calibrate(
        self, candidates: Candidates, sensitivity: Sensitivity, *, budget: Epsilon
    ) -> PeeledRanking:
        """Give every entry ``epsilon / group``."""
        group = group_size(self.group, sensitivity)
        return PeeledRanking(
            selection=self.selection,
            k=self.k,
            epsilon=budget.epsilon / group,
            candidates=coordinates_of(candidates, self.k),
            sensitivity=candidates.sensitivity,
            claim=GroupOfEntries(sensitivity=sensitivity, group=group),
        )

    def without_noise(self, candidates: Candidates, sensitivity: Sensitivity) -> RankedRelease:
        """Return the exact ranking, for an infinite budget."""
        del sensitivity
        return exact_ranking(candidates, self.k)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOfEntries:
    """A group of entries costs its size; a claim on secrets if nothing else depends on them.

    Parameters
    ----------
    sensitivity : Sensitivity
    group : int
    """

    sensitivity: Sensitivity
    group: int

    def of_entries(self, per_entry_epsilon: float) -> Guarantee | NoClaim:
        """Claim the secret pairs where the group holds all entries that depend on the secret."""
        if self.group < self.sensitivity.size:
            return NoClaim(
                reason=f"privacy for {self.group} of {self.sensitivity.size} entries says nothing "
                "about an entry that the others depend on"
            )
        return Guarantee(
            notion=PURE,
            bound=self.group * per_entry_epsilon,
            theorem=THEOREM,
            assumptions=replaced_units("entry", self.group),
        )
