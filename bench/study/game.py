"""The game of one cell: worlds, releases, trained attackers, scores."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from attacks.base import Attack, Attacker, Shadow, Target, UnsupportedMechanismError, Worlds
from bench.core.cell import Plain, canonical
from bench.core.randomness import rng_for
from bench.metrics.base import Names, Released, Scored
from bench.scenarios.base import HasDatabaseLaw, Scenario
from bench.study.session import Session
from bench.study.shared_worlds import PARTS, SharedWorlds, Sizes
from mechanisms.base import Mechanism, NotOfferedError
from mechanisms.check import Array, FloatArray
from mechanisms.laws.answer import AnswerLaw

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, kw_only=True)
class Game:
    """One mechanism in one scenario, played for all repetitions.

    Parameters
    ----------
    session : Session
        Builds attacks and metrics.
    shared : SharedWorlds
        The scenario and its worlds.
    mechanism : Mechanism
    n_releases : int
        Releases of the same answer that the attacker sees.
    release_stream : str
        Name of the random streams of releases.
    """

    session: Session
    shared: SharedWorlds
    mechanism: Mechanism
    n_releases: int
    release_stream: str

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return self.shared.scenario

    @property
    def sizes(self) -> Sizes:
        """Repetitions and numbers of worlds."""
        return self.shared.sizes

    @property
    def seed(self) -> int:
        """The seed of worlds, releases and attacks."""
        return self.shared.seed

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
        return self.shared.stream

    def worlds(self, part: str) -> Worlds:
        """Return the worlds of one part, repetitions one after the other."""
        return self.shared.part(part)

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
            rng_for(self.seed, "release", self.stream, self.release_stream, part, j)
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

    def play(self, attacks: Mapping[str, Plain]) -> tuple[dict[str, list[Scored]], dict[str, str]]:
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
        attack: Attack = self.session.build(config, f"attack {label}")
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
                self.shared.attacker(
                    attack, label, canonical(config), repetition=r, n_releases=self.n_releases
                )
                for r in range(repetitions)
            ]
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
                rng_for(self.seed, "attack", self.stream, self.release_stream, label, r),
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
