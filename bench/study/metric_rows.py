"""From a played game to the rows of its metrics: each with the attacks that yield what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attacks.base import UnsupportedMechanismError
from bench.core.cell import Plain, row
from bench.core.intervals import Estimate
from bench.core.randomness import rng_for
from bench.metrics.base import SERVED_BY, Labelled, NotMeasurableError
from bench.scenarios.base import has_new_data
from bench.study.attack_run import AttackRun, Played
from bench.study.game import Game

Rows = list[Plain]
Facts = dict[str, str]
YIELDED = {
    "scores": "scores", "secret": "a guess of the secret", "guess": "a guess", "intervals":
    "intervals",
}  # fmt: skip


def metric_rows(game: Game, played: Played, metrics: Mapping[str, Plain]) -> tuple[Rows, Facts]:
    """Return every metric: of releases once, of attacks for each that yields what it needs."""
    rows: Rows = []
    facts: Facts = {}
    higher_is_better = []
    for label, config in metrics.items():
        metric: Any = game.session.build(config, f"metric {label}")
        reasons = []
        for attack, found in _estimates(game, played, label, metric):
            if isinstance(found, str):
                reasons.append(found)
            else:
                rows += [estimate_row(metric.name, e, attack, s) for s, e in found.items()]
        if reasons:
            facts[f"metric {label}"] = f"not applicable: {'; '.join(reasons)}"
        if getattr(metric, "higher_is_better", False):
            higher_is_better.append(metric.name)
    if higher_is_better:
        facts["higher_is_better"] = ", ".join(higher_is_better)
    return rows, facts


def _estimates(
    game: Game, played: Played, label: str, metric: Any  # noqa: ANN401
) -> Iterator[tuple[str, Labelled | str]]:  # fmt: skip
    """Estimate a metric for every attack that serves it, or tell why it cannot be."""
    if metric.needs == "releases" and game.n_releases > 1 and has_new_data(game.scenario):
        yield "", "releases of new data have no one answer to be compared with"
        return
    if metric.needs == "releases":
        games = [GameBlocks(game, r) for r in range(game.sizes.repetitions)]
        try:
            yield "", metric.estimate(games, game.names, game.mechanism)
        except NotMeasurableError as reason:
            yield "", str(reason)
        return
    others: dict[str, list[str]] = {}
    for attack, run in played.runs.items():
        if run.yields not in SERVED_BY[metric.needs]:
            others.setdefault(YIELDED[run.yields], []).append(attack)
            continue
        stream = rng_for(game.seed, "metric", game.stream, game.release_stream, attack, label)
        try:
            yield attack, metric.estimate(_read(played, attack, run, metric), game.names, stream)
        except (NotMeasurableError, UnsupportedMechanismError) as reason:
            yield attack, f"of {attack}: {reason}"
    for what, attacks in others.items():
        many = len(attacks) > 1
        yield "", f"{', '.join(attacks)} yield{'' if many else 's'} {what}, not {metric.needs}"


def _read(played: Played, attack: str, run: AttackRun, metric: Any) -> Any:  # noqa: ANN401
    if metric.needs == "prefix scores":
        return run.prefix_scored()
    return played.scored[attack] if metric.needs == "scores" else played.found[attack]


class GameBlocks:
    """The fresh worlds of one repetition, block by block, played each time they are read."""

    def __init__(self, game: Game, repetition: int) -> None:
        self._game, self._repetition = game, repetition

    def __iter__(self) -> Iterator[Any]:
        return self._game.blocks("test", self._repetition)


def estimate_row(metric: str, estimate: Estimate, attack: str, statistic: str) -> Plain:
    """Return an estimate as a row of the tidy table."""
    return row(
        metric, value=estimate.value, lower=estimate.lower, upper=estimate.upper, n=estimate.n,
        method=estimate.method, attack=attack, statistic=statistic,
    )  # fmt: skip
