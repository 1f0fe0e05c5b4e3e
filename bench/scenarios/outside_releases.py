"""Releases of an outside system, read from a table; the secret is one of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from attacks.base import Transcript
from bench.core.randomness import rng_for
from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import TableFile
from bench.scenarios.base import K, look_up_fact
from mechanisms.base import Mechanism, NotOfferedError
from mechanisms.check import IntArray, positive, real, whole, within
from mechanisms.laws.answer import AnswerLaw
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate

PARTS = ("shadow", "holdout", "test")
SMALLEST = 10  # worlds of one secret in one part: a threshold on fewer says nothing


@dataclass(frozen=True, kw_only=True)
class OutsideReleases(TableFile):
    """Audit what another system released: one row of the table is one release.

    The rows of every secret are split at random: attacks are trained on one part, thresholds
    chosen on a second, and leakage certified on a third that neither has seen. The certificate
    holds if rows are independent given their secret.

    Parameters
    ----------
    secret : str
        Column of the secret; every pair of its values is to be kept apart.
    releases : sequence of str
        Columns of numbers that were released.
    repetition : str or None
        Column that names the run: rows of one secret and one run are releases of one world, and
        are counted once. None: every row is a world.
    shares : three numbers
        Of the worlds of every secret, for training, thresholds and counting; they sum to 1. A
        threshold chosen on fewer worlds than are counted is often a lucky one in a tail, and
        certifies little: hence twice as many by default.
    claimed : mapping
        ``epsilon`` in nats (None: nothing is claimed) and ``delta`` of the stated claim.
    seed : int
        Of the split.

    Notes
    -----
    `path`, `separator`, `encoding`, `decimal`, `names` and `missing` are those of `TableFile`.
    """

    path: str | None = None
    secret: str | int | None = None
    releases: Sequence[str | int] = ()
    repetition: str | int | None = None
    shares: Sequence[float] = (0.25, 0.5, 0.25)
    claimed: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    synthetic = False
    worlds_from_model = False

    def __post_init__(self) -> None:
        for name, what in (("path", "a CSV, TSV or parquet file"), ("secret", "a column")):
            if getattr(self, name) is None:
                raise ValueError(f"scenario.{name} must name {what}, got None.")
        super().__post_init__()
        if isinstance(self.releases, str) or not self.releases:
            raise ValueError(f"scenario.releases must be like [x, y], got {self.releases!r}.")
        named = [label_text("scenario.releases", name) for name in self.releases]
        named += [label_text("scenario.secret", self.secret)]
        if self.repetition is not None:
            named += [label_text("scenario.repetition", self.repetition)]
        if len(set(named)) < len(named):
            raise ValueError(f"scenario columns must differ, got {named}.")
        if len(self.shares) != 3 or abs(sum(self.shares) - 1) > 1e-9 or min(self.shares) <= 0:
            raise ValueError(
                f"scenario.shares must be three positive numbers of sum 1, got {self.shares!r}."
            )
        if unknown := sorted(set(self.claimed) - {"epsilon", "delta"}):
            raise ValueError(f"scenario.claimed must hold epsilon and delta, got {unknown}.")
        if self.claimed.get("epsilon") is not None and real("epsilon", self.claimed["epsilon"]):
            positive("scenario.claimed.epsilon", self.claimed["epsilon"], infinite=False)
        within("scenario.claimed.delta", self.claimed.get("delta", 0.0), 0, 1, ends="[)")
        whole("seed", self.seed, low=0)

    @cached_property
    def _worlds(self) -> tuple[tuple[str, ...], Transcript]:
        """The secret's values, and one row a world."""
        run = () if self.repetition is None else (self.repetition,)
        table = self.read(self.secret, *run, *self.releases)
        labels = table.labels(self.secret)
        secret = np.asarray(labels.codes, dtype=np.int64)
        rows = np.column_stack([table.numbers(name) for name in self.releases])
        if self.repetition is not None:
            codes = np.asarray(table.labels(self.repetition).codes)
            order = np.lexsort((codes, secret))  # stable: rows of a run stay as in the file
            keys = np.column_stack([secret, codes])[order]
            first, counts = np.unique(keys, axis=0, return_counts=True)
            if len(set(counts.tolist())) > 1:
                raise DataError(
                    f"{self.path}: every run must have as many rows, got {counts.min()} to "
                    f"{counts.max()}."
                )
            secret, rows = first[:, 0], rows[order].reshape(len(first), -1)
        return tuple(labels.names), Transcript(secret=secret, answers=rows)

    @cached_property
    def _parts(self) -> dict[str, Transcript]:
        names, worlds = self._worlds
        if len(names) < 2:
            raise DataError(f"{self.path}: the secret must have two values or more, got {names}.")
        rng = rng_for(self.seed, "recorded", "split")
        found: dict[str, list[IntArray]] = {part: [] for part in PARTS}
        for code, name in enumerate(names):
            rows = rng.permutation(np.flatnonzero(worlds.secret == code))
            ends = np.rint(np.cumsum(self.shares[:2]) * len(rows)).astype(int)
            for part, chosen in zip(PARTS, np.split(rows, ends), strict=True):
                if len(chosen) < SMALLEST:
                    raise DataError(
                        f"{self.path}: every part must have {SMALLEST} worlds of every secret, got "
                        f"{len(chosen)} of {name!r} in {part} (of {len(rows)})."
                    )
                found[part].append(chosen)
        return {part: worlds.rows(np.concatenate(rows)) for part, rows in found.items()}

    def fixed_part(self, part: str) -> Transcript:
        """Return the recorded worlds of one part: "shadow", "holdout" or "test"."""
        return self._parts[part]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret's values as the file writes them."""
        return self._worlds[0]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every pair of them."""
        return tuple(combinations(range(len(self.secrets)), 2))

    @property
    def statistics(self) -> tuple[str, ...]:
        """The release columns, once for every row of a run."""
        names = [str(name) for name in self.releases]
        times = self._worlds[1].answers.shape[1] // len(names)
        if times == 1:
            return tuple(names)
        return tuple(f"{name} {k + 1}" for k in range(times) for name in names)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the worlds were split."""
        sizes = ", ".join(f"{len(self._parts[part])} {part}" for part in PARTS)
        return (f"{len(self._worlds[1])} recorded worlds: {sizes}; n_shadow, n_holdout, n_test "
                "and the mechanism play no part",)  # fmt: skip

    def check(self) -> None:
        """Read and split the table."""
        _ = self._parts

    def claim(self, mechanism: Mechanism, n_releases: int, delta: float) -> Guarantee | NoClaim:
        """Return the claim as it was stated: nothing here derives it."""
        del mechanism, delta
        epsilon = self.claimed.get("epsilon")
        if epsilon is None:
            return NoClaim(reason="no claim was stated (scenario.claimed.epsilon=1)")
        if n_releases > 1:
            return NoClaim(reason="recorded releases cannot be repeated: use scenario.repetition")
        notion = Approximate(delta=float(self.claimed.get("delta", 0.0)))
        return Guarantee(notion=notion, bound=float(epsilon), theorem="stated, not derived here")

    def knowledge(self, kind: type[K]) -> K:
        """Offer nothing: only releases are known."""
        return look_up_fact({}, kind)

    def law(self, secret: int) -> AnswerLaw:
        """Refuse: only releases are known."""
        raise NotOfferedError(f"the law of recorded releases is not known (secret {secret})")

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Refuse: recorded worlds cannot be drawn anew; see `fixed_part`."""
        del secret, split, rng
        raise NotOfferedError("recorded worlds cannot be drawn anew")
