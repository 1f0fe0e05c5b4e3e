"""The entries of a cell's ledger: the mechanism's own notion first, then those asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.scenarios.base import HasClaim, has_new_data
from bench.study.evidence import CellEvidence
from bench.study.ledger import (
    DISPLAY_ERROR,
    SUSPECT,
    VERDICT_ERROR,
    Certificate,
    Claim,
    verdict,
)
from bench.study.on_records import OnRecords
from bench.study.suspicion import advice
from mechanisms.base import HasOtherNotions, NotOfferedError
from mechanisms.privacy.bracket import Bracket, NotComputable, NotComputableError
from mechanisms.privacy.conversions import convert
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate
from mechanisms.privacy.notion import Notion, PairEvidence, PairNotion

NO_TEST = "this notion counts no test of two secrets: no number of worlds is computed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a cell's ledger: the three numbers of one notion, and the verdict.

    Parameters
    ----------
    notion : Notion
    claim : Guarantee, NoClaim or NotComparable
    exact : Bracket or NotComputable
        Under the scenario's model.
    unpooled : Bracket, NotComputable or None
        Under each secret's own law, where the scenario's model simplifies; None where it does not.
    certificates : mapping of attack to Certificate
        The empty name where the notion is not about attacks on pairs.
    verdict, advice : str
    recorded : OnRecords, NotComputable or None
        On the scenario's records; None where there are none.
    model_alone : str
        Why `exact` settles nothing on records; empty where it does.
    """

    notion: Notion
    claim: Claim
    exact: Bracket | NotComputable
    unpooled: Bracket | NotComputable | None
    certificates: Mapping[str, Certificate]
    verdict: str
    advice: str
    recorded: OnRecords | NotComputable | None = None
    model_alone: str = ""

    @property
    def name(self) -> str:
        """Name of what is promised, or else of the notion."""
        return self.claim.name if isinstance(self.claim, Guarantee) else self.notion.name

    @property
    def best(self) -> tuple[str, Certificate] | None:
        """The attack with the largest bound at 95 %, and its certificate."""
        if not self.certificates:
            return None
        return max(self.certificates.items(), key=lambda item: item[1].display)


def own_notion(claim: Guarantee | NoClaim, delta: float) -> Notion:
    """Return the notion of the claim; leakage without one is measured at `delta`."""
    return claim.notion if isinstance(claim, Guarantee) else Approximate(delta=delta)


def leading(notions: Sequence[Notion]) -> PairNotion:
    """Return the notion that chooses thresholds: the first one about pairs."""
    return next((n for n in notions if isinstance(n, PairNotion)), Approximate(delta=0.0))


def entries(
    claim: Guarantee | NoClaim, notions: Sequence[Notion], evidence: CellEvidence
) -> list[Entry]:
    """Return one entry a notion, the claim's own one first; a notion twice counts once."""
    found: dict[str, Entry] = {}
    for notion in notions:
        if notion.unit not in found:
            said: Claim = claim
            if isinstance(claim, Guarantee) and notion != claim.notion:
                said = claim_in(claim, notion, evidence)
            found[notion.unit] = entry(said, notion, evidence)
    return list(found.values())


def claim_in(claim: Guarantee, notion: Notion, cell: CellEvidence) -> Claim:
    """Return the claim in another notion: as the mechanism knows it, else converted."""
    # What a mechanism knows is about its own secrets, and of several releases about the same data.
    scenario = cell.game.scenario
    same = cell.n_releases == 1 or not has_new_data(scenario)
    if same and not isinstance(scenario, HasClaim) and isinstance(cell.mechanism, HasOtherNotions):
        known = cell.mechanism.guarantee_in(notion, cell.n_releases)
        if known is not None:
            return known
    return convert(claim, notion)


def entry(claim: Claim, notion: Notion, cell: CellEvidence) -> Entry:
    """Return the entry of one notion."""
    try:
        evidence = notion.evidence(cell)
    except (NotComputableError, NotOfferedError) as reason:
        exact: Bracket | NotComputable = NotComputable(str(reason))
        evidence, certificates = None, {}
    else:
        exact = notion.exact(evidence)
        certificates = certified(notion, evidence, cell)
    unpooled = None
    if isinstance(notion, PairNotion) and cell.unpooled is not None:
        unpooled = notion.exact(cell.unpooled)
    recorded = cell.on_records(notion) if isinstance(notion, PairNotion) else None
    ends = (recorded.lower, recorded.upper) if isinstance(recorded, OnRecords) else None
    own = unpooled if isinstance(unpooled, Bracket) else None
    alone = cell.model_alone(claim, told=bool(ends or own or certificates), counted=bool(ends))
    read = verdict(
        claim,
        exact,
        certificates,
        worlds_from_model=cell.game.scenario.worlds_from_model,
        own=own,
        recorded=ends,
        model_alone=alone,
    )
    told = ""
    if read == SUSPECT and isinstance(claim, Guarantee):
        told = (
            advice(notion, claim.bound, evidence)
            if isinstance(notion, PairNotion) and isinstance(evidence, PairEvidence)
            else NO_TEST
        )
    return Entry(
        notion=notion,
        claim=claim,
        exact=exact,
        unpooled=unpooled,
        certificates=certificates,
        verdict=read,
        advice=told,
        recorded=recorded,
        model_alone=alone if isinstance(exact, Bracket) else "",
    )


def certified(notion: Notion, evidence: object, cell: CellEvidence) -> dict[str, Certificate]:
    """Return the certificates of a notion: one an attack, or one in all."""
    if isinstance(evidence, PairEvidence):
        return {
            attack: _certificate(notion, evidence.of(attack), len(cell.answers))
            for attack in evidence.tests
        }
    return {"": _certificate(notion, evidence, len(cell.answers))}


def _certificate(notion: Notion, evidence: object, n: int) -> Certificate:
    return Certificate(
        display=notion.certify(evidence, DISPLAY_ERROR),
        verdict=notion.certify(evidence, VERDICT_ERROR),
        n=n,
    )
