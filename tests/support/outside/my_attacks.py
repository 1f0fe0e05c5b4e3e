"""Attacks that yield guesses and intervals, with their metrics, that are not of the package.

Small tables of counts, of which small ones are suppressed (NaN) while their total is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Guess, Intervals, Transcript
from bench.core.intervals import mean, rate
from mechanisms.base import NotOfferedError
from mechanisms.privacy.budget import NoBudget
from mechanisms.privacy.guarantee import NoClaim

CELLS, LARGEST = 6, 9


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Counts from 0 to 9; the secret is whether the first one is at least 5."""

    synthetic: bool = True
    worlds_from_model: bool = True
    digest: str = "tables"
    secrets: ClassVar = ("low", "high")
    pairs: ClassVar = ((0, 1),)
    statistics: ClassVar = tuple(f"cell {i}" for i in range(CELLS))

    def check(self):
        pass

    def law(self, secret):
        raise NotOfferedError("the tables have no law")

    def knowledge(self, kind):
        raise NotOfferedError("the tables offer nothing")

    def draw(self, secret, split, rng):
        counts = rng.integers(LARGEST + 1, size=(len(secret), CELLS))
        counts[:, 0] = counts[:, 0] % 5 + 5 * secret
        return Transcript(
            secret=secret,
            answers=counts.astype(float),
            database=counts,
            public={"largest": np.broadcast_to(LARGEST, len(secret))},
        )


@dataclass(frozen=True, kw_only=True)
class Suppress:
    """Publishes counts from a threshold on, and the table's total."""

    requires: ClassVar = ()
    accepts: ClassVar = NoBudget
    threshold: int = 3

    def calibrate(self, *, budget):
        return Suppressed(threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class Suppressed:
    sees: ClassVar = "answers"
    guarantee: ClassVar = NoClaim(reason="suppression claims nothing here")
    threshold: int

    def release(self, x, rng):
        return np.where(x >= self.threshold, x, np.nan)

    def public_facts(self, x):
        return {"total": x.sum(axis=1)}


@dataclass(frozen=True, kw_only=True)
class OneHidden:
    """Guesses a table: what is published, and what is hidden if it is a single cell."""

    yields: ClassVar = "guess"
    needs: ClassVar = ("total",)
    trained: ClassVar = False
    adaptive: ClassVar = True

    def fit(self, shadow, target, rng):
        return self

    def guess(self, releases, total):
        seen = releases[:, 0]
        hidden = np.isnan(seen)
        alone = hidden & (hidden.sum(axis=1, keepdims=True) == 1)
        rest = total - np.nansum(seen, axis=1)
        values = np.where(alone, rest[:, None], np.where(hidden, -1, seen))
        return Guess(values=values.astype(int))


@dataclass(frozen=True, kw_only=True)
class BetweenTotals:
    """Bounds hidden counts by the threshold, the total, and the largest count there is."""

    yields: ClassVar = "intervals"
    needs: ClassVar = ("total", "largest")
    trained: ClassVar = False
    adaptive: ClassVar = True
    careless: bool = False  # forgets that hidden counts share the rest

    def fit(self, shadow, target, rng):
        return Between(threshold=target.mechanism.threshold, careless=self.careless)


@dataclass(frozen=True, kw_only=True)
class Between:
    threshold: int
    careless: bool

    def bound(self, releases, *, total, largest):
        seen = releases[:, 0]
        hidden = np.isnan(seen)
        rest = (total - np.nansum(seen, axis=1))[:, None]
        most = np.minimum(self.threshold - 1, largest)[:, None]
        others = hidden.sum(axis=1, keepdims=True) - 1
        lower = rest if self.careless else np.maximum(0, rest - others * most)
        upper = rest if self.careless else np.minimum(most, rest)
        return Intervals(
            lower=np.where(hidden, lower, seen), upper=np.where(hidden, upper, seen), hidden=hidden
        )


@dataclass(frozen=True, kw_only=True)
class FirstCell:
    """Names the secret: high where the first count is published as 5 or more."""

    yields: ClassVar = "secret"
    trained: ClassVar = False
    adaptive: ClassVar = True

    def fit(self, shadow, target, rng):
        return self

    def guess(self, releases):
        return (np.nan_to_num(releases[:, 0, 0]) >= 5).astype(int)


@dataclass(frozen=True, kw_only=True)
class RightEntries:
    """Share of a database's entries that are guessed right."""

    needs: ClassVar = "guess"
    name: str = "right"

    def estimate(self, games, names, rng):
        return {"": rate([(g.output.values == g.truth).mean(axis=1) for g in games])}


@dataclass(frozen=True, kw_only=True)
class Covered:
    """Share of hidden entries that their interval holds."""

    needs: ClassVar = "intervals"
    name: str = "covered"

    def estimate(self, games, names, rng):
        found = []
        for game in games:
            bounds = game.output
            inside = (bounds.lower <= game.truth) & (game.truth <= bounds.upper)
            found.append(inside[bounds.hidden].astype(float))
        return {"": rate(found)}


@dataclass(frozen=True, kw_only=True)
class Width:
    """Mean width of the intervals of hidden entries."""

    needs: ClassVar = "intervals"
    name: str = "width"

    def estimate(self, games, names, rng):
        return {"": mean([(g.output.upper - g.output.lower)[g.output.hidden] for g in games])}
