"""The game of one cell: worlds, and what a mechanism releases in them, block by block."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attacks.base import Transcript, UnsupportedMechanismError
from bench.core.randomness import rng_for
from bench.metrics.base import Names
from bench.scenarios.base import HasDatabaseLaw, Scenario, has_new_data
from bench.study.session import Session
from bench.study.shared_worlds import SharedWorlds, Sizes
from mechanisms.base import HasPublicFacts, Mechanism, NotOfferedError
from mechanisms.check import Array
from mechanisms.laws.answer import AnswerLaw

BLOCK = 4 * 2**20  # bytes that a mechanism sees at once, where it releases several times
TRAINING = 512 * 2**20  # bytes of releases that an attack may be trained on


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

    def worlds(self, part: str) -> Transcript:
        """Return the worlds of one part, repetitions one after the other."""
        return self.shared.part(part)

    @functools.cached_property
    def _firsts(self) -> dict[str, Array]:
        return {}

    @functools.cached_property
    def _wholes(self) -> dict[str, Transcript]:
        return {}

    def _seen(self, part: str, worlds: Transcript | None = None) -> Array:
        """Return what the mechanism sees of the worlds of one part, or of these."""
        worlds = worlds or self.worlds(part)
        seen = worlds.answers if self.mechanism.sees == "answers" else worlds.database
        if seen is None:
            raise ValueError("the mechanism works on records, but the scenario draws none.")
        return seen

    def in_one_block(self, part: str) -> bool:
        """Whether all releases of one part fit in the memory together.

        A single release is as large as the worlds themselves. Of more releases those of few worlds
        at a time are kept. Whether a part is cut, and where, does not depend on how many releases
        there are, so that fewer releases are a prefix of more.
        """
        return self.n_releases == 1 or self._seen(part).nbytes <= BLOCK

    def _first(self, part: str) -> Array:
        """Return the first release of all worlds of one part, from one stream."""
        if part not in self._firsts:
            self._firsts[part] = self.mechanism.release(self._seen(part), self._rng(part, 0))
        return self._firsts[part]

    def _rng(self, part: str, *names: int) -> np.random.Generator:
        return rng_for(self.seed, "release", self.stream, self.release_stream, part, *names)

    def _seen_again(self, part: str, at: slice, *names: int) -> Array:
        """Return what the mechanism sees of some worlds at a later release."""
        if not has_new_data(self.scenario):
            return self._seen(part)[at]
        split = "test" if part == "test" else "shadow"
        rng = rng_for(self.seed, "new data", self.stream, part, *names)
        return self._seen(part, self.scenario.draw(self.worlds(part).secret[at], split, rng))

    def _released(self, part: str, at: slice, *block: int) -> Array:
        """Return all releases of some worlds, each of the later ones from a stream of its own."""
        first = self._first(part)[at]
        if self.n_releases == 1:
            return first[:, None]
        releases = np.empty((len(first), self.n_releases, *first.shape[1:]), dtype=first.dtype)
        releases[:, 0] = first
        for j in range(1, self.n_releases):
            seen = self._seen_again(part, at, j, *block)
            release = self.mechanism.release(seen, self._rng(part, j, *block))
            if release.shape != first.shape:
                raise ValueError(
                    f"releases must have one shape, got {first.shape[1:]} and {release.shape[1:]}."
                )
            kind = np.result_type(releases, release)
            releases = releases if kind == releases.dtype else releases.astype(kind)
            releases[:, j] = release
        return releases

    def whole(self, part: str) -> Transcript:
        """Return the transcript of all worlds of one part, repetitions one after the other.

        It is kept in memory: `blocks` serves where there are many releases.
        """
        if part not in self._wholes:
            self._wholes[part] = (
                self._transcript(part, slice(None), self._released(part, slice(None)))
                if self.in_one_block(part)
                else Transcript.join(list(self.blocks(part)))
            )
        return self._wholes[part]

    def releases(self, part: str) -> Array:
        """Return all releases of one part, shape (n, n_releases, *release_shape)."""
        return self.whole(part).releases

    def blocks(self, part: str, repetition: int | None = None) -> Iterator[Transcript]:
        """Play one part, of one repetition or of all, a bounded number of worlds at a time."""
        each = len(self.worlds(part)) // self.sizes.repetitions
        wanted = range(self.sizes.repetitions) if repetition is None else [repetition]
        if self.in_one_block(part):
            for r in wanted:
                yield self.whole(part).rows(slice(r * each, (r + 1) * each))
            return
        seen = self._seen(part)
        step = max(1, BLOCK * len(seen) // seen.nbytes)
        for r in wanted:
            for start in range(r * each, (r + 1) * each, step):
                at = slice(start, min(start + step, (r + 1) * each))
                yield self._transcript(part, at, self._released(part, at, start))

    def _transcript(self, part: str, at: slice, releases: Array) -> Transcript:
        worlds = self.worlds(part).rows(at)
        public = dict(worlds.public)
        if isinstance(self.mechanism, HasPublicFacts):
            published = self.mechanism.public_facts(self._seen(part)[at])
            if twice := sorted(public.keys() & published.keys()):
                raise ValueError(f"public facts of scenario and mechanism share names: {twice}.")
            public |= published
        return replace(worlds, releases=releases, public=public)

    def training(self, repetition: int, n_releases: int) -> Transcript:
        """Return the shadow worlds of one repetition with their first releases, to train on.

        Raises
        ------
        UnsupportedMechanismError
            If the releases would fill the memory.
        """
        size = self._first("shadow").nbytes // self.sizes.repetitions * n_releases
        if size > TRAINING and not self.in_one_block("shadow"):
            raise UnsupportedMechanismError(
                f"its training needs {size / 2**30:.1f} GiB of shadow releases, more than "
                f"{TRAINING / 2**30:.1f} GiB: fewer shadow worlds or releases would serve"
            )
        blocks = self.blocks("shadow", repetition)
        return Transcript.join([block.prefix(n_releases) for block in blocks])

    def laws(self) -> tuple[AnswerLaw, ...] | None:
        """Return the law under each secret of what the mechanism sees, or None for no such law."""
        try:
            return self.require_laws()
        except NotOfferedError:
            return None

    def database_laws(self) -> tuple[AnswerLaw, ...] | None:
        """Return the law of the records under each secret, or None for no such law."""
        if not isinstance(self.scenario, HasDatabaseLaw):
            return None
        try:
            return tuple(map(self.scenario.database_law, range(len(self.scenario.secrets))))
        except NotOfferedError:
            return None

    def require_laws(self) -> tuple[AnswerLaw, ...]:
        """Return these laws, or raise NotOfferedError with the scenario's reason."""
        law = self.scenario.law
        if self.mechanism.sees == "database" and isinstance(self.scenario, HasDatabaseLaw):
            law = self.scenario.database_law
        return tuple(law(s) for s in range(len(self.scenario.secrets)))
