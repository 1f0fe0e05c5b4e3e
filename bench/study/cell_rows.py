"""From a played game to rows: the ledger first, then every metric."""

from __future__ import annotations

from typing import Any

from bench.config.build import built_from_text
from bench.core.cell import Plain, canonical, row
from bench.core.intervals import Estimate
from bench.core.randomness import rng_for
from bench.metrics.base import NotMeasurableError, Scored
from bench.scenarios.base import HasNotes, HasOwnLaws
from bench.study.game import Game
from bench.study.ledger import certify_attack, largest_certifiable, verdict
from mechanisms.base import HasLeakage, HasNoiseCovariance, NotOfferedError, guarantee_of
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.noise.rank import noised_directions
from mechanisms.privacy.bracket import Bracket, NotComputableError
from mechanisms.privacy.guarantee import ApproximateMeasure, Guarantee, Measure, NoClaim

Rows = list[Plain]
Facts = dict[str, str]


def ledger_rows(game: Game, scored: dict[str, list[Scored]], delta: float) -> tuple[Rows, Facts]:
    """Return the three numbers of the ledger, the Bayes ceiling, and what they mean."""
    claim = guarantee_of(game.mechanism, game.n_releases)
    measure = claim.measure if isinstance(claim, Guarantee) else ApproximateMeasure(delta)
    rows, facts = claimed(claim, measure)
    pairs, reason = exact_pairs(game, game.laws())
    leaked, why = joined([_measured(p, measure) for p in pairs], reason)
    facts["exact"] = why if leaked is None else how_known(leaked)
    doubt = unsettled(game)
    if leaked is not None:
        facts["exact"] += doubt and f"; settles nothing: {doubt}"
        rows.append(bracket_row("exact", leaked))
    own = own_leakage(game, measure)
    if own is not None:
        rows.append(bracket_row("exact_own", own))
    if len(game.names.secrets) == 2:
        ceiling, _ = joined([_accuracy(p) for p in pairs], reason)
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
        claim, leaked, certificates, modelled=game.scenario.modelled, own=own, settles=not doubt
    )
    facts["worlds"] = "drawn from the model" if game.scenario.modelled else "drawn from records"
    if isinstance(game.scenario, HasNotes) and game.scenario.notes:
        facts["reading"] = "; ".join(game.scenario.notes)
    if game.scenario.synthetic:
        facts["data"] = "synthetic"
    return rows, facts


def claimed(claim: Guarantee | NoClaim, measure: Measure) -> tuple[Rows, Facts]:
    """Return the claim as a row and in words."""
    facts = {"unit": measure.name}
    if isinstance(claim, NoClaim):
        return [], facts | {"claim": f"no claim: {claim.reason}", "notion": "none"}
    value = claim.epsilon
    facts |= {"notion": claim.notion, "theorem": claim.theorem, "notes": "; ".join(claim.notes)}
    facts["claim"] = f"{claim.notion}: {measure.name} <= {value:.6g}"
    return [row("claimed", value=value, lower=value, upper=value)], facts


def own_leakage(game: Game, measure: Measure) -> Bracket | None:
    """Return the exact leakage under each secret's own law, where the scenario knows it."""
    if not isinstance(game.scenario, HasOwnLaws):
        return None
    own = game.scenario.own_law
    pairs, reason = exact_pairs(game, tuple(own(s) for s in range(len(game.names.secrets))))
    return joined([_measured(p, measure) for p in pairs], reason)[0]


def unsettled(game: Game) -> str:
    """Return why the model's exact number settles nothing on these worlds, or no text.

    Noise in a proper subspace leaves the rest of the answer as it is. Under a continuous law that
    rest may say little; but records have answers on a lattice, and there it can name them.
    """
    laws = game.laws() or ()
    sizes = [law.mean.size for law in laws if isinstance(law, GaussianLaw)]
    if game.scenario.modelled or not sizes or not isinstance(game.mechanism, HasNoiseCovariance):
        return ""
    rank = noised_directions(game.mechanism.noise_covariance)[2]
    if rank == sizes[0]:
        return ""
    return f"noise of rank {rank} in {sizes[0]} coordinates, under a continuous model of records"


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
        game.offered_laws()
    except NotOfferedError as reason:
        return str(reason)
    return "the scenario offers no answer law"


def joined(brackets: list[Bracket | str], reason: str) -> tuple[Bracket | None, str]:
    """Return the worst pair's bracket, or the first reason why there is none."""
    worst: Bracket | None = None
    for bracket in brackets:
        if isinstance(bracket, str):
            return None, bracket
        worst = bracket if worst is None else worst.join(bracket)
    return worst, reason


def _measured(pair: PairLeakage, measure: Measure) -> Bracket | str:
    try:
        return measure.exact(pair)
    except NotComputableError as error:
        return f"not computable: {error}"


def _accuracy(pair: PairLeakage) -> Bracket | str:
    try:
        return pair.accuracy()
    except NotComputableError as error:
        return f"not computable: {error}"


def bracket_row(metric: str, bracket: Bracket) -> Plain:
    """Return a computed number; its value is the end that claims less privacy."""
    method = "exact" if bracket.exact else "bracket"
    return row(metric, value=bracket.hi, lower=bracket.lo, upper=bracket.hi, method=method)


def how_known(bracket: Bracket) -> str:
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
    game: Game, scored: dict[str, list[Scored]], metrics: dict[str, Plain]
) -> tuple[Rows, Facts]:
    """Return every metric: attack metrics for each attack, utility metrics once."""
    rows, facts, rising = [], {}, []
    released = game.released()
    for label, config in metrics.items():
        metric: Any = built_from_text(canonical(config), f"metric {label}")
        if metric.side == "utility":
            try:
                found = metric.measure(released, game.names, game.mechanism)
            except NotMeasurableError as reason:
                facts[f"metric {label}"] = f"not applicable: {reason}"
                continue
            rows += [estimate_row(metric.name, e, "", s) for s, e in found.items()]
            if getattr(metric, "rising", False):
                rising.append(metric.name)
            continue
        for attack, games in scored.items():
            stream = rng_for(game.seed, "metric", game.stream, game.release_text, attack, label)
            found = metric.measure(games, game.names, stream)
            rows += [estimate_row(metric.name, e, attack, s) for s, e in found.items()]
    if rising:
        facts["rising"] = ", ".join(rising)
    return rows, facts


def estimate_row(metric: str, estimate: Estimate, attack: str, statistic: str) -> Plain:
    """Return an estimate as a row of the tidy table."""
    return row(
        metric, value=estimate.value, lower=estimate.lower, upper=estimate.upper, n=estimate.n,
        method=estimate.method, attack=attack, statistic=statistic,
    )  # fmt: skip
