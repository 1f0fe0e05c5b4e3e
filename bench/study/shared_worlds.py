"""The worlds of one scenario, drawn once for all its mechanisms, and who trains on them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from attacks.base import Attack, Attacker, Target, Transcript
from bench.core.cell import canonical
from bench.core.randomness import rng_for
from bench.scenarios.base import HasFixedParts, Scenario, has_new_data
from mechanisms.check import Array
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


def stream_name(label: str, config: object) -> str:
    """Return the scenario's configuration without file paths: where data lie changes no number."""

    def placeless(value: object) -> object:
        if isinstance(value, dict):
            return {k: placeless(v) for k, v in value.items() if k not in PLACES}
        return [placeless(v) for v in value] if isinstance(value, list | tuple) else value

    return canonical([label, placeless(config)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWorlds:
    """A scenario with its worlds, and the attackers trained on them that never see a mechanism.

    Each is made when it is first asked for, and kept.

    Parameters
    ----------
    scenario : Scenario
    stream : str
        Name of the scenario's random streams.
    sizes : Sizes
    seed : int
    """

    scenario: Scenario
    stream: str
    sizes: Sizes
    seed: int
    _parts: dict[str, Transcript] = field(default_factory=dict, init=False, repr=False)
    _attackers: dict[tuple[str, str, int, int], Attacker] = field(
        default_factory=dict, init=False, repr=False
    )

    def part(self, name: str) -> Transcript:
        """Return the worlds of one part, repetitions one after the other.

        Each repetition has its own stream, so its worlds do not depend on how many there are.
        Hold-out worlds are drawn like shadow worlds: the adversary simulates both.
        """
        if name not in self._parts:
            self._parts[name] = self._draw(name)
        return self._parts[name]

    def _draw(self, part: str) -> Transcript:
        if isinstance(self.scenario, HasFixedParts):
            if self.sizes.repetitions > 1:
                raise ValueError(
                    "recorded worlds are played once: repetitions must be 1, got "
                    f"repetitions={self.sizes.repetitions}."
                )
            return self.scenario.fixed_part(part)
        secret = np.repeat(np.arange(len(self.scenario.secrets)), getattr(self.sizes, part))
        split = "test" if part == "test" else "shadow"
        drawn = [
            self.scenario.draw(secret, split, rng_for(self.seed, "worlds", self.stream, part, r))
            for r in range(self.sizes.repetitions)
        ]
        worlds = Transcript.join(drawn)
        return Transcript(
            secret=_read_only(worlds.secret),
            answers=_read_only(worlds.answers),
            database=None if worlds.database is None else _read_only(worlds.database),
            public={name: _read_only(fact) for name, fact in worlds.public.items()},
        )

    def attacker(
        self, attack: Attack, label: str, text: str, *, repetition: int, n_releases: int
    ) -> Attacker:
        """Return the attacker of a non-adaptive attack, trained on the answers themselves.

        `text` is the attack's configuration; attacks are told apart by label and text.
        """
        key = (label, text, repetition, n_releases)
        if key not in self._attackers:
            self._attackers[key] = self._fit(attack, label, repetition, n_releases)
        return self._attackers[key]

    def _exact(self, worlds: Transcript, repetition: int, k: int) -> Array:
        """Return answers of shadow worlds as k releases, of new data where the scenario says so."""
        answers = worlds.answers
        if k == 1 or not has_new_data(self.scenario):
            return np.broadcast_to(answers[:, None], (len(answers), k, *answers.shape[1:]))
        streams = (
            rng_for(self.seed, "new data", self.stream, "training", repetition, j)
            for j in range(1, k)
        )
        later = [self.scenario.draw(worlds.secret, "shadow", rng).answers for rng in streams]
        return np.stack([answers, *later], axis=1)

    def _fit(self, attack: Attack, label: str, repetition: int, k: int) -> Attacker:
        shadow = self.part("shadow")
        each = len(shadow) // self.sizes.repetitions
        worlds = shadow.rows(slice(repetition * each, (repetition + 1) * each))
        return attack.fit(
            replace(worlds, releases=self._exact(worlds, repetition, k)),
            Target(mechanism=ExactRelease(), n_secrets=int(shadow.secret.max()) + 1, laws=None),
            rng_for(self.seed, "attack", self.stream, label, repetition),
        )


def _read_only(values: NDArray[T]) -> NDArray[T]:
    """Return a copy of an array that nobody can change: other mechanisms see it too."""
    if values.ndim and len(values) and values.strides[0] == 0:  # the same row in every world
        return np.broadcast_to(values[0].copy(), values.shape)
    copy = np.array(values)
    copy.flags.writeable = False
    return copy
