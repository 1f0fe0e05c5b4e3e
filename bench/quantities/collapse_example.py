"""A mechanism that collapses, the law of its databases, and the attack that rebuilds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from attacks.reconstruction.collapse import Reconstructor
from bench.config.build import ConfigError, unknown
from mechanisms.base import Mechanism
from mechanisms.check import IntArray, weights
from mechanisms.collapse.listed import Listed


class Collapsing(Mechanism, Listed, Protocol):
    """A mechanism of `mechanisms.collapse`, with its closed forms."""

    def expected_runs(self) -> float:
        """Return the expected number of runs until the database is revealed; inf for never."""

    def revealed_within(self, n_releases: int) -> float:
        """Return the probability that `n_releases` runs reveal the database."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CollapseExample:
    """One of the examples of Bai et al. (2026), Section 4.

    Parameters
    ----------
    mechanism : Collapsing
    attack : Reconstructor
    databases : nested sequence, m rows of e whole numbers
        From which a world is drawn.
    prior : sequence of m numbers
        Their probabilities, sum 1.
    """

    mechanism: Collapsing
    attack: Reconstructor
    databases: Sequence[Sequence[int]]
    prior: Sequence[float]

    def __post_init__(self) -> None:
        rows = np.asarray(self.databases)
        if rows.ndim != 2 or weights("prior", self.prior).shape != (len(rows),):
            raise ValueError(
                f"prior must have one entry a database ({len(rows)}), got {len(self.prior)}."
            )

    def draw(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw databases, shape (size, e)."""
        prior = weights("prior", self.prior)
        rows = np.asarray(self.databases, dtype=np.int64)
        return rows[rng.choice(len(rows), size, p=prior)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the mechanism says of priors under which it never reveals the database."""
        return tuple(getattr(self.mechanism, "notes", ()))


def chosen_example(examples: Mapping[str, CollapseExample], name: str) -> CollapseExample:
    """Return an example by its label."""
    if name not in examples:
        raise ConfigError(unknown("example", name, examples))
    return examples[name]
