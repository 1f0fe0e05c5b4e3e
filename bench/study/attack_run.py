"""One attack in one game: who is trained, and what is yielded."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from attacks.base import (
    Attack,
    Guess,
    Intervals,
    Target,
    Transcript,
    UnsupportedMechanismError,
    Yields,
    needs_of,
)
from bench.core.cell import Plain, canonical
from bench.core.randomness import rng_for
from bench.metrics.base import Found, Scored
from bench.scenarios.base import has_new_data
from bench.study.game import Game
from mechanisms.check import Array, FloatArray

T = TypeVar("T", bound=np.generic)
NO_PAIR = "the scenario has no pair of secrets to tell apart"


@dataclass(frozen=True, kw_only=True)
class AttackRun:
    """An attack as it runs in a game.

    Parameters
    ----------
    game : Game
    label : str
        Names the attack's random streams.
    config : mapping
        With ``_target_``.
    """

    game: Game
    label: str
    config: Plain

    @functools.cached_property
    def attack(self) -> Attack:
        """The attack."""
        found: Attack = self.game.session.build(self.config, f"attack {self.label}")
        return found

    @property
    def yields(self) -> Yields:
        """What the attack yields."""
        return self.attack.yields

    def scored(self) -> list[Scored]:
        """Return the scores of all releases, of hold-out and fresh worlds, by repetition."""
        if not self.game.names.pairs:
            raise UnsupportedMechanismError(NO_PAIR)
        attackers = self._attackers(self.game.n_releases)
        fresh, held = (
            self._scores(attackers, p, self.game.n_releases) for p in ("test", "holdout")
        )
        return self._beside_secrets(fresh, held)

    def prefix_scored(self) -> list[Scored]:
        """Return the scores of the first release, the first two, ...: (n, n_releases, n_secrets).

        Those of k releases are the scores of a cell with k releases: who trains, trains anew.
        """
        fresh, held = [], []
        for k in range(1, self.game.n_releases + 1):
            attackers = self._attackers(k)
            fresh.append(self._scores(attackers, "test", k))
            held.append(self._scores(attackers, "holdout", k))
        return self._beside_secrets(
            *([np.stack(found, axis=1) for found in zip(*ks, strict=True)] for ks in (fresh, held))
        )

    def found(self) -> list[Found[Any]]:
        """Return the guesses or intervals of the fresh worlds, by repetition."""
        n = self.game.sizes.repetitions
        attackers = self._attackers(self.game.n_releases)
        attackers = attackers * n if len(attackers) == 1 else attackers
        worlds = self.game.worlds("test")
        kind: Any = Guess if self.yields == "guess" else Intervals
        result = []
        for r, attacker in enumerate(attackers):
            read = attacker.guess if self.yields == "guess" else attacker.bound
            outputs = [
                checked(kind, read(b.releases, **self._facts(b)), len(b))
                for b in self.game.blocks("test", r)
            ]
            rows = slice(r * len(worlds) // n, (r + 1) * len(worlds) // n)
            found: Found[Any] = Found(worlds=worlds.rows(rows), output=kind.join(outputs))
            if found.output.of == "database" and worlds.database is None:
                raise UnsupportedMechanismError("the scenario draws no records to compare with")
            result.append(found)
        return result

    def _facts(self, block: Transcript) -> dict[str, Array]:
        for name in needs_of(self.attack):
            if name not in block.public:
                known = ", ".join(sorted(block.public)) or "none"
                raise UnsupportedMechanismError(
                    f"it needs the public fact {name!r}; public facts here: {known}"
                )
        return {name: block.public[name] for name in needs_of(self.attack)}

    def _attackers(self, k: int) -> list[Any]:
        """Return one attacker a repetition, or a single one for an attack that does not learn."""
        game, attack = self.game, self.attack
        repetitions = range(game.sizes.repetitions if attack.trained else 1)
        if not attack.adaptive:
            return [
                game.shared.attacker(
                    attack, self.label, canonical(self.config), repetition=r, n_releases=k
                )
                for r in repetitions
            ]
        target = Target(
            mechanism=game.mechanism, n_secrets=len(game.scenario.secrets), laws=game.laws(),
            database_laws=game.database_laws(), new_data=has_new_data(game.scenario),
        )  # fmt: skip
        return [
            attack.fit(
                game.training(r, k) if attack.trained else game.worlds("shadow"),
                target,
                rng_for(game.seed, "attack", game.stream, game.release_stream, self.label, r),
            )
            for r in repetitions
        ]

    def _scores(self, attackers: list[Any], part: str, k: int) -> list[FloatArray]:
        """Return scores of the first k releases, by repetition."""
        game = self.game
        if len(attackers) == 1 and game.in_one_block(part):
            return self._by_repetition(self._read(attackers[0], game.whole(part).prefix(k)))
        return [
            np.concatenate(
                [
                    self._read(attackers[r % len(attackers)], block.prefix(k))
                    for block in game.blocks(part, r)
                ]
            )
            for r in range(game.sizes.repetitions)
        ]

    def _read(self, attacker: Any, block: Transcript) -> FloatArray:  # noqa: ANN401
        n_secrets = len(self.game.scenario.secrets)
        if self.yields == "secret":
            return one_hot(attacker.guess(block.releases, **self._facts(block)), n_secrets)
        scores: FloatArray = attacker.score(block.releases, **self._facts(block))
        if np.shape(scores) != (len(block), n_secrets):
            raise ValueError(
                f"attack {self.label}: scores must have shape ({len(block)}, {n_secrets}), "
                f"got {np.shape(scores)}."
            )
        return scores

    def _beside_secrets(self, fresh: list[FloatArray], held: list[FloatArray]) -> list[Scored]:
        return [
            Scored(secret=secret, score=score, holdout_secret=held_secret, holdout_score=held_score)
            for secret, score, held_secret, held_score in zip(
                self._by_repetition(self.game.worlds("test").secret),
                fresh,
                self._by_repetition(self.game.worlds("holdout").secret),
                held,
                strict=True,
            )
        ]

    def _by_repetition(self, values: NDArray[T]) -> list[NDArray[T]]:
        return np.split(values, self.game.sizes.repetitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What the attacks of a cell yielded, by label.

    Parameters
    ----------
    runs : mapping of label to AttackRun
        Those that could run.
    scored : mapping of label to one Scored a repetition
        Of attacks that yield scores or a guess of the secret: they alone certify.
    found : mapping of label to one Found a repetition
        Of the others.
    reasons : mapping of fact to text
        Why the rest could not.
    """

    runs: dict[str, AttackRun] = field(default_factory=dict)
    scored: dict[str, list[Scored]] = field(default_factory=dict)
    found: dict[str, list[Found[Any]]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def play(game: Game, attacks: Mapping[str, Plain]) -> Played:
    """Run every attack in a game."""
    played = Played()
    for label, config in attacks.items():
        run = AttackRun(game=game, label=label, config=config)
        try:
            if run.yields in ("scores", "secret"):
                played.scored[label] = run.scored()
            else:
                played.found[label] = run.found()
        except UnsupportedMechanismError as reason:
            played.reasons[f"attack {label}"] = f"not applicable: {reason}"
        else:
            played.runs[label] = run
    return played


def one_hot(guess: Array, n_secrets: int) -> FloatArray:
    """Return the 0/1 scores of guessed secrets ``(n,)``; -1 guesses none.

    Examples
    --------
    >>> one_hot(np.array([1, -1]), 2).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    guess = np.asarray(guess)
    if guess.ndim != 1 or not np.isin(guess, np.arange(-1, n_secrets)).all():
        raise ValueError(
            f"guesses of the secret must be one of 0 to {n_secrets - 1} a world, or -1 for none, "
            f"got shape {guess.shape}, values {np.unique(guess)[:5].tolist()}."
        )
    return (guess[:, None] == np.arange(n_secrets)).astype(np.float64)


def checked(kind: Any, output: Any, n: int) -> Any:  # noqa: ANN401
    """Return what an attacker yielded if it is of that kind and has one row a world."""
    if not isinstance(output, kind):
        raise TypeError(f"an attack must yield {kind.__name__}, got {type(output).__name__}.")
    rows = len(output.values if isinstance(output, Guess) else output.lower)
    if rows != n:
        raise ValueError(f"{kind.__name__} must have one row a world ({n}), got {rows}.")
    return output
