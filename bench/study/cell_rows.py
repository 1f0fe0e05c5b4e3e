"""From a played game to rows: the ledger first, then every metric."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench.core.cell import Plain, row
from bench.metrics.base import Scored
from bench.scenarios.base import HasClaim, HasNotes, has_new_data
from bench.study.entries import Entry, entries, leading, own_notion
from bench.study.evidence import CellEvidence
from bench.study.game import Game
from bench.study.ledger import largest_certifiable
from bench.study.on_records import OnRecords
from mechanisms.base import guarantee_of
from mechanisms.privacy.bracket import Bracket, NotComputable, NotComputableError
from mechanisms.privacy.composition import repeat_on_new_data
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.notion import Notion, PairNotion

Rows = list[Plain]
Facts = dict[str, str]

UNBOUNDED = "unbounded"
NOT_COMPUTABLE = "not computable"
NOT_COMPARABLE = "not comparable"


def ledger_rows(
    game: Game, scored: dict[str, list[Scored]], delta: float, asked: Sequence[Notion] = ()
) -> tuple[Rows, Facts]:
    """Return the entries of the ledger as rows and in words, and the Bayes ceiling.

    Parameters
    ----------
    game : Game
    scored : mapping of attack to one Scored a repetition
    delta : float
        At which the leakage of a cell without a claim is measured.
    asked : sequence of Notion
        Further notions that the experiment asks for.
    """
    claim = claim_of(game, delta)
    notions = [own_notion(claim, delta), *asked]
    lead = leading(notions)
    evidence = CellEvidence(game=game, scored=scored, lead=lead)
    rows: Rows = []
    facts: Facts = {}
    own, *others = entries(claim, notions, evidence)
    for found in (own, *others):
        rows += entry_rows(found)
    facts = entry_facts(own)
    for found in others:
        facts |= {f"{found.notion.unit}: {k}": v for k, v in entry_facts(found).items()}
    rows += ceiling_rows(evidence)
    if scored and isinstance(own.notion, PairNotion):
        worlds = game.sizes.test * game.sizes.repetitions
        limit = largest_certifiable(worlds, own.notion, evidence.pairs.ways)
        rows.append(row("certifiable", value=limit, lower=limit, upper=limit, n=2 * worlds))
    facts["worlds"] = (
        "drawn from the model" if game.scenario.worlds_from_model else "drawn from records"
    )
    if isinstance(game.scenario, HasNotes) and game.scenario.notes:
        facts["ingestion_notes"] = "; ".join(game.scenario.notes)
    if game.scenario.synthetic:
        facts["data"] = "synthetic"
    return rows, facts


def claim_of(game: Game, delta: float) -> Guarantee | NoClaim:
    """Return what is claimed about the scenario's secrets: by the mechanism, or from its noise."""
    if isinstance(game.scenario, HasClaim):
        return game.scenario.claim(game.mechanism, game.n_releases, delta)
    if has_new_data(game.scenario):
        return repeat_on_new_data(game.mechanism.guarantee, game.n_releases)
    return guarantee_of(game.mechanism, game.n_releases)


def entry_rows(entry: Entry) -> Rows:
    """Return the numbers of one entry; what is not known is a row that says so."""
    rows = [claimed_row(entry.claim), exact_row("exact", entry.exact)]
    if entry.unpooled is not None:
        rows.append(exact_row("exact_unpooled", entry.unpooled))
    if entry.recorded is not None:
        rows.append(recorded_row(entry.recorded))
    for attack, c in entry.certificates.items():
        if attack:
            rows.append(certified_row(c.display, c.verdict, c.n, attack))
    best = entry.best
    if best is not None:
        rows.append(certified_row(best[1].display, best[1].verdict, best[1].n, ""))
    head = {"notion": entry.name, "unit": entry.notion.unit, "verdict": entry.verdict}
    return [r | head for r in rows]


def entry_facts(entry: Entry) -> Facts:
    """Return one entry in words."""
    claim, unit = entry.claim, entry.notion.unit
    facts = {"unit": unit, "verdict": entry.verdict, "exact": describe_bracket(entry.exact)}
    facts["exact"] += entry.model_alone and f"; by the model alone: {entry.model_alone}"
    if entry.model_alone:
        facts["model_alone"] = entry.model_alone
    if entry.recorded is not None:
        facts["exact_recorded"] = (
            f"{NOT_COMPUTABLE}: {entry.recorded.reason}"
            if isinstance(entry.recorded, NotComputable)
            else entry.recorded.words
        )
    if isinstance(claim, Guarantee):
        value = UNBOUNDED if claim.unbounded else f"<= {claim.bound:.6g}"
        facts |= {
            "notion": claim.name, "theorem": claim.theorem, "assumptions": str(claim.assumptions),
            "assumed": "\n".join((*claim.assumptions.public, *claim.assumptions.conditions)),
            "notes": "; ".join(claim.notes), "claim": f"{claim.name}: {unit} {value}",
        }  # fmt: skip
    else:
        kind = "no claim" if isinstance(claim, NoClaim) else NOT_COMPARABLE
        facts |= {"notion": "none", "claim": f"{kind}: {claim.reason}"}
    if entry.best is not None:
        attack, certificate = entry.best
        facts["best_attack"] = attack if certificate.display > 0 else "none"
    if entry.advice:
        facts["advice"] = entry.advice
    return facts


def claimed_row(claim: Guarantee | NoClaim | NotComparable) -> Plain:
    """Return the claim as a row; without one its method says why."""
    if isinstance(claim, Guarantee):
        method = UNBOUNDED if claim.unbounded else "exact"
        return row(
            "claimed", value=claim.bound, lower=claim.bound, upper=claim.bound, method=method
        )
    kind = "none" if isinstance(claim, NoClaim) else NOT_COMPARABLE
    return hole("claimed", f"{kind}: {claim.reason}")


def exact_row(metric: str, found: Bracket | NotComputable) -> Plain:
    """Return a computed number; its value is the end that claims less privacy."""
    if isinstance(found, NotComputable):
        return hole(metric, describe_bracket(found))
    method = "exact" if found.exact else "bracket"
    return row(metric, value=found.hi, lower=found.lo, upper=found.hi, method=method)


def recorded_row(found: OnRecords | NotComputable) -> Plain:
    """Return the exact number on records, with the ends that drawing its units anew leaves."""
    if isinstance(found, NotComputable):
        return hole("exact_recorded", describe_bracket(found))
    return row(
        "exact_recorded", value=found.value, lower=found.lower, upper=found.upper,
        n=found.n_units, method=found.words,
    )  # fmt: skip


def hole(metric: str, why: str) -> Plain:
    """Return a row without a number, whose method says why."""
    return row(metric, value=math.nan, lower=math.nan, upper=math.nan, method=why)


def describe_bracket(found: Bracket | NotComputable) -> str:
    """Return whether a number is exact, bracketed (and how surely), or not known (and why)."""
    if isinstance(found, NotComputable):
        return f"{NOT_COMPUTABLE}: {found.reason}"
    if found.exact:
        return "exact"
    estimated = f", its upper end from draws: error {found.error:.3g}" if found.error else ""
    return f"bracket{estimated}"


def certified_row(display: float, low: float, n: int, attack: str) -> Plain:
    """Return a certificate: value at 95 %, lower end at the verdict's error, no upper end."""
    return row(
        "certified", value=display, lower=low, upper=float("inf"), n=n,
        method="lower bound: value at 95 %, lower at error 1e-6", attack=attack,
    )  # fmt: skip


def ceiling_rows(evidence: CellEvidence) -> Rows:
    """Return the best accuracy of any attack on the worst pair, where secrets come in pairs."""
    compared = evidence.pairs.compared
    if not compared or not evidence.game.names.in_pairs:
        return []
    brackets = []
    for pair in compared:
        try:
            brackets.append(pair.accuracy())
        except NotComputableError:
            return []
    worst = brackets[0]
    for bracket in brackets[1:]:
        worst = worst.join(bracket)
    return [exact_row("ceiling", worst)]
