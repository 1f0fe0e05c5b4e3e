"""From a played game to rows: the ledger first, then every metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core.cell import Plain, row
from bench.core.intervals import Estimate
from bench.core.randomness import rng_for
from bench.metrics.base import NotMeasurableError, Scored
from bench.scenarios.base import HasNotes, HasUnpooledLaws
from bench.study.game import Game
from bench.study.ledger import certify_attack, largest_certifiable, verdict
from mechanisms.base import HasLeakage, NotOfferedError, guarantee_of
from mechanisms.laws.answer import AnswerLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import Bracket, NotComputableError
from mechanisms.privacy.guarantee import ApproximateMeasure, Guarantee, Measure, NoClaim

Rows = list[Plain]
Facts = dict[str, str]


def ledger_rows(game: Game, scored: dict[str, list[Scored]], delta: float) -> tuple[Rows, Facts]:
    """Return the three numbers of the ledger, the Bayes ceiling, and what they mean."""
    claim = guarantee_of(game.mechanism, game.n_releases)
    measure = claim.measure if isinstance(claim, Guarantee) else ApproximateMeasure(delta)
    rows, facts = claim_rows(claim, measure)
    pairs, reason = exact_pairs(game, game.laws())
    leaked, why = worst_bracket([_exact_leakage(p, measure) for p in pairs], reason)
    facts["exact"] = why if leaked is None else describe_bracket(leaked)
    if leaked is not None:
        rows.append(bracket_row("exact", leaked))
    own = unpooled_leakage(game, measure)
    if own is not None:
        rows.append(bracket_row("exact_unpooled", own))
    if len(game.names.secrets) == 2:
        ceiling, _ = worst_bracket([_bayes_accuracy(p) for p in pairs], reason)
        if ceiling is not None:
            rows.append(bracket_row("ceiling", ceiling))
    certificates = {
        label: certify_attack(games, game.names, measure, len(scored))
        for label, games in scored.items()
    }
    for label, c in certificates.items():
        rows.append(certified_row(c.display, c.verdict, c.n, label))
    if certificates:
        best = max(certificates, key=lambda label: certificates[label].display)
        top = certificates[best]
        rows.append(certified_row(top.display, top.verdict, top.n, ""))
        facts["best_attack"] = best if top.display > 0 else "none"
        worlds = game.sizes.test * game.sizes.repetitions
        limit = largest_certifiable(worlds, measure, len(scored) * len(game.names.pairs))
        rows.append(row("certifiable", value=limit, lower=limit, upper=limit, n=2 * worlds))
    facts["verdict"] = verdict(
        claim, leaked, certificates, worlds_from_model=game.scenario.worlds_from_model, own=own
    )
    facts["worlds"] = (
        "drawn from the model" if game.scenario.worlds_from_model else "drawn from records"
    )
    if isinstance(game.scenario, HasNotes) and game.scenario.notes:
        facts["ingestion_notes"] = "; ".join(game.scenario.notes)
    if game.scenario.synthetic:
        facts["data"] = "synthetic"
    return rows, facts


def claim_rows(claim: Guarantee | NoClaim, measure: Measure) -> tuple[Rows, Facts]:
    """Return the claim as a row and in words."""
    facts = {"unit": measure.name}
    if isinstance(claim, NoClaim):
        return [], facts | {"claim": f"no claim: {claim.reason}", "notion": "none"}
    value = claim.epsilon
    facts |= {"notion": claim.notion, "theorem": claim.theorem, "notes": "; ".join(claim.notes)}
    facts["claim"] = f"{claim.notion}: {measure.name} <= {value:.6g}"
    return [row("claimed", value=value, lower=value, upper=value)], facts


def unpooled_leakage(game: Game, measure: Measure) -> Bracket | None:
    """Return the exact leakage under each secret's own law, where the scenario knows it."""
    if not isinstance(game.scenario, HasUnpooledLaws):
        return None
    own = game.scenario.unpooled_law
    pairs, reason = exact_pairs(game, tuple(own(s) for s in range(len(game.names.secrets))))
    return worst_bracket([_exact_leakage(p, measure) for p in pairs], reason)[0]


def exact_pairs(game: Game, laws: tuple[AnswerLaw, ...] | None) -> tuple[list[PairLeakage], str]:
    """Return the exact comparison of every pair under `laws`, or the reason why there is none."""
    if laws is None:
        return [], f"not computable: {_why_no_laws(game)}"
    if not isinstance(game.mechanism, HasLeakage):
        return [], "not computable: the mechanism's release law has no known form"
    try:
        return [
            game.mechanism.leakage(laws[i], laws[j], game.n_releases) for i, j in game.names.pairs
        ], ""
    except NotComputableError as error:
        return [], f"not computable: {error}"


def _why_no_laws(game: Game) -> str:
    try:
        game.require_laws()
    except NotOfferedError as reason:
        return str(reason)
    return "the scenario offers no answer law"


def worst_bracket(brackets: list[Bracket | str], reason: str) -> tuple[Bracket | None, str]:
    """Return the worst pair's bracket, or the first reason why there is none."""
    worst: Bracket | None = None
    for bracket in brackets:
        if isinstance(bracket, str):
            return None, bracket
        worst = bracket if worst is None else worst.join(bracket)
    return worst, reason


def _exact_leakage(pair: PairLeakage, measure: Measure) -> Bracket | str:
    try:
        return measure.exact(pair)
    except NotComputableError as error:
        return f"not computable: {error}"


def _bayes_accuracy(pair: PairLeakage) -> Bracket | str:
    try:
        return pair.accuracy()
    except NotComputableError as error:
        return f"not computable: {error}"


def bracket_row(metric: str, bracket: Bracket) -> Plain:
    """Return a computed number; its value is the end that claims less privacy."""
    method = "exact" if bracket.exact else "bracket"
    return row(metric, value=bracket.hi, lower=bracket.lo, upper=bracket.hi, method=method)


def describe_bracket(bracket: Bracket) -> str:
    """Return whether a number is exact or bracketed, and how surely."""
    if bracket.exact:
        return "exact"
    estimated = f", its upper end from draws: error {bracket.error:.3g}" if bracket.error else ""
    return f"bracket{estimated}"


def certified_row(display: float, low: float, n: int, attack: str) -> Plain:
    """Return a certificate: value at 95 %, lower end at the verdict's error, no upper end."""
    return row(
        "certified", value=display, lower=low, upper=float("inf"), n=n,
        method="lower bound: value at 95 %, lower at error 1e-6", attack=attack,
    )  # fmt: skip


def metric_rows(
    game: Game, scored: dict[str, list[Scored]], metrics: Mapping[str, Plain]
) -> tuple[Rows, Facts]:
    """Return every metric: attack metrics for each attack, utility metrics once."""
    rows, facts, higher_is_better = [], {}, []
    released = game.fresh_releases()
    for label, config in metrics.items():
        metric: Any = game.session.build(config, f"metric {label}")
        if metric.side == "utility":
            try:
                found = metric.estimate(released, game.names, game.mechanism)
            except NotMeasurableError as reason:
                facts[f"metric {label}"] = f"not applicable: {reason}"
                continue
            rows += [estimate_row(metric.name, e, "", s) for s, e in found.items()]
            if getattr(metric, "higher_is_better", False):
                higher_is_better.append(metric.name)
            continue
        for attack, games in scored.items():
            stream = rng_for(game.seed, "metric", game.stream, game.release_stream, attack, label)
            found = metric.estimate(games, game.names, stream)
            rows += [estimate_row(metric.name, e, attack, s) for s, e in found.items()]
    if higher_is_better:
        facts["higher_is_better"] = ", ".join(higher_is_better)
    return rows, facts


def estimate_row(metric: str, estimate: Estimate, attack: str, statistic: str) -> Plain:
    """Return an estimate as a row of the tidy table."""
    return row(
        metric, value=estimate.value, lower=estimate.lower, upper=estimate.upper, n=estimate.n,
        method=estimate.method, attack=attack, statistic=statistic,
    )  # fmt: skip
