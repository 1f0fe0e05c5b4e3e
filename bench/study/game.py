"""The game of one cell: worlds, releases, trained attackers, scores."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from attacks.base import Attack, Attacker, Shadow, Target, UnsupportedMechanismError, Worlds
from bench.config.build import build_once
from bench.core.cell import Plain, canonical
from bench.core.randomness import rng_for
from bench.metrics.base import Names, Released, Scored
from bench.scenarios.base import HasDatabaseLaw, Scenario
from mechanisms.base import Mechanism, NotOfferedError
from mechanisms.check import Array, FloatArray
from mechanisms.laws.answer import AnswerLaw
from mechanisms.noise.identity import ExactRelease

T = TypeVar("T", bound=np.generic)
PLACES = ("path", "folder", "download")
PARTS = ("shadow", "holdout", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Repetitions, and worlds of each secret in each part of one repetition."""

    repetitions: int
    shadow: int
    holdout: int
    test: int


@functools.lru_cache(maxsize=64)
def stream_name(scenario_text: str) -> str:
    """Return the scenario's configuration without file paths: where data lie changes no number."""

    def placeless(value: object) -> object:
        if isinstance(value, dict):
            return {k: placeless(v) for k, v in value.items() if k not in PLACES}
        return [placeless(v) for v in value] if isinstance(value, list) else value

    return canonical(placeless(json.loads(scenario_text)))


@functools.lru_cache(maxsize=6)
def draw_worlds(scenario_text: str, part: str, size: int, repetitions: int, seed: int) -> Worlds:
    """Draw the worlds of all repetitions, once a process; shared by all mechanisms.

    Each repetition has its own stream, so its worlds do not depend on how many there are. Hold-out
    worlds are drawn like shadow worlds: the adversary simulates both.
    """
    label, config = json.loads(scenario_text)
    scenario: Scenario = build_once(canonical(config), f"scenario {label}")
    secret = np.repeat(np.arange(len(scenario.secrets)), size)
    split = "test" if part == "test" else "shadow"
    drawn = [
        scenario.draw(secret, split, rng_for(seed, "worlds", stream_name(scenario_text), part, r))
        for r in range(repetitions)
    ]
    databases = [w.database for w in drawn if w.database is not None]
    return Worlds(
        secret=_read_only([w.secret for w in drawn]),
        answers=_read_only([w.answers for w in drawn]),
        database=_read_only(databases) if databases else None,
    )


def _read_only(parts: Sequence[NDArray[T]]) -> NDArray[T]:
    """Return the parts as one array that nobody can change: other mechanisms see it too."""
    whole = np.concatenate(parts)
    whole.flags.writeable = False
    return whole


@dataclass(frozen=True, kw_only=True)
class Game:
    """One mechanism in one scenario, played for all repetitions.

    Parameters
    ----------
    scenario : Scenario
    mechanism : Mechanism
    sizes : Sizes
    n_releases : int
        Releases of the same answer that the attacker sees.
    seed : int
    scenario_text, release_text : str
        Names of the random streams of worlds and of releases.
    """

    scenario: Scenario
    mechanism: Mechanism
    sizes: Sizes
    n_releases: int
    seed: int
    scenario_text: str
    release_text: str

    @property
    def names(self) -> Names:
        """The scenario's labels."""
        return Names(
            secrets=self.scenario.secrets,
            pairs=self.scenario.pairs,
            statistics=self.scenario.statistics,
        )

    @property
    def stream(self) -> str:
        """Name of the scenario's random streams."""
        return stream_name(self.scenario_text)

    def worlds(self, part: str) -> Worlds:
        """Return the worlds of one part, repetitions one after the other."""
        size = getattr(self.sizes, part)
        return draw_worlds(self.scenario_text, part, size, self.sizes.repetitions, self.seed)

    @functools.cached_property
    def _released(self) -> dict[str, Array]:
        return {part: self._release(part) for part in PARTS}

    def releases(self, part: str) -> Array:
        """Return the releases of one part, shape (n, n_releases, *release_shape).

        The j-th release has its own stream: fewer releases are a prefix of more.
        """
        return self._released[part]

    def _release(self, part: str) -> Array:
        worlds = self.worlds(part)
        seen = worlds.answers if self.mechanism.sees == "answers" else worlds.database
        if seen is None:
            raise ValueError("the mechanism works on records, but the scenario draws none.")
        streams = [
            rng_for(self.seed, "release", self.stream, self.release_text, part, j)
            for j in range(self.n_releases)
        ]
        return np.stack([self.mechanism.release(seen, rng) for rng in streams], axis=1)

    def laws(self) -> tuple[AnswerLaw, ...] | None:
        """Return the law under each secret of what the mechanism sees, or None for no such law."""
        try:
            return self.require_laws()
        except NotOfferedError:
            return None

    def require_laws(self) -> tuple[AnswerLaw, ...]:
        """Return these laws, or raise NotOfferedError with the scenario's reason."""
        law = self.scenario.law
        if self.mechanism.sees == "database" and isinstance(self.scenario, HasDatabaseLaw):
            law = self.scenario.database_law
        return tuple(law(s) for s in range(len(self.scenario.secrets)))

    def fresh_releases(self) -> list[Released]:
        """Return answers and releases of the fresh worlds, by repetition."""
        return [
            Released(answers=answers, releases=releases)
            for answers, releases in zip(
                self._by_repetition(self.worlds("test").answers),
                self._by_repetition(self.releases("test")),
                strict=True,
            )
        ]

    def play(self, attacks: dict[str, Plain]) -> tuple[dict[str, list[Scored]], dict[str, str]]:
        """Run every attack; return scores by attack and repetition, and reasons of those unfit."""
        scored, reasons = {}, {}
        if not self.names.pairs:
            reason = "not applicable: the scenario has no pair of secrets to tell apart"
            return {}, {f"attack {label}": reason for label in attacks}
        for label, config in attacks.items():
            try:
                scored[label] = self._play(label, config)
            except UnsupportedMechanismError as reason:
                reasons[f"attack {label}"] = f"not applicable: {reason}"
        return scored, reasons

    def _play(self, label: str, config: Plain) -> list[Scored]:
        attack: Attack = build_once(canonical(config), f"attack {label}")
        attackers = self._attackers(attack, label, config)
        fresh, held = (self._scores(attackers, part) for part in ("test", "holdout"))
        return [
            Scored(secret=secret, score=score, holdout_secret=held_secret, holdout_score=held_score)
            for secret, score, held_secret, held_score in zip(
                self._by_repetition(self.worlds("test").secret),
                fresh,
                self._by_repetition(self.worlds("holdout").secret),
                held,
                strict=True,
            )
        ]

    def _attackers(self, attack: Attack, label: str, config: Plain) -> list[Attacker]:
        """Return one attacker a repetition, or a single one for an attack that does not learn."""
        repetitions = self.sizes.repetitions if attack.trained else 1
        if not attack.adaptive:
            return [
                fit_non_adaptive(
                    self.scenario_text, label, canonical(config), self.sizes, r, self.n_releases,
                    self.seed,
                )
                for r in range(repetitions)
            ]  # fmt: skip
        worlds, size = self.worlds("shadow"), self.sizes.repetitions
        laws = self.laws()
        target = Target(mechanism=self.mechanism, n_secrets=len(self.scenario.secrets), laws=laws)
        parts = zip(
            np.split(worlds.secret, size),
            np.split(worlds.answers, size),
            np.split(self.releases("shadow"), size),
            strict=True,
        )
        return [
            attack.fit(
                Shadow(secret=secret, answers=answers, releases=releases),
                target,
                rng_for(self.seed, "attack", self.stream, self.release_text, label, r),
            )
            for r, (secret, answers, releases) in zip(range(repetitions), parts, strict=False)
        ]

    def _scores(self, attackers: list[Attacker], part: str) -> list[FloatArray]:
        releases = self.releases(part)
        if len(attackers) == 1:
            return self._by_repetition(attackers[0].score(releases))
        parts = self._by_repetition(releases)
        return [a.score(r) for a, r in zip(attackers, parts, strict=True)]

    def _by_repetition(self, values: NDArray[T]) -> list[NDArray[T]]:
        return np.split(values, self.sizes.repetitions)


@functools.lru_cache(maxsize=1024)
def fit_non_adaptive(
    scenario_text: str, label: str, config: str, sizes: Sizes, repetition: int, k: int, seed: int
) -> Attacker:
    """Fit an attacker that never sees the mechanism, once a process for all mechanisms."""
    worlds = draw_worlds(scenario_text, "shadow", sizes.shadow, sizes.repetitions, seed)
    secret = np.split(worlds.secret, sizes.repetitions)[repetition]
    answers = np.split(worlds.answers, sizes.repetitions)[repetition]
    attack: Attack = build_once(config, f"attack {label}")
    n_secrets = int(worlds.secret.max()) + 1
    return attack.fit(
        Shadow(secret=secret, answers=answers, releases=np.repeat(answers[:, None], k, axis=1)),
        Target(mechanism=ExactRelease(), n_secrets=n_secrets, laws=None),
        rng_for(seed, "attack", stream_name(scenario_text), label, repetition),
    )
