"""Metrics of reconstruction: how much of a database guesses get right, and after how many releases.

Shares of worlds are averaged over entries first: entries of one world share its noise, so a world
is one observation, and Clopper-Pearson over worlds errs towards the wider interval (a share in
[0, 1] varies at most like a hit).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Guess
from attacks.reconstruction.runs import RunsUntilRevealed, order_interval
from attacks.reconstruction.scores import fraction_reconstructed, whole_database
from bench.core.intervals import Estimate, contrast, mean, rate
from bench.metrics.base import Found, Labelled, Names, Needs, NotMeasurableError, Scored
from mechanisms.check import Array, FloatArray, within

Games = list[Found[Guess]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FractionReconstructed:
    """Share of the guessed entries that are right; an entry left open is not."""

    needs: ClassVar[Needs] = "guess"
    name: str = "recovered"

    def estimate(self, games: Games, names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the mean share over worlds."""
        del names, rng
        return {"": rate([fraction_reconstructed(g.output.values, g.truth) for g in games])}


@dataclass(frozen=True, slots=True, kw_only=True)
class GainOverPrior:
    """How much larger a share of entries is right than by the best guess without any release.

    That guess is, entry by entry, the value most often true in the tested worlds: with hindsight
    at least as good as the prior's, so that the gain errs downwards.
    """

    needs: ClassVar[Needs] = "guess"
    name: str = "gain"

    def estimate(self, games: Games, names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the difference of both shares."""
        del names, rng
        best = _most_frequent(np.concatenate([g.truth for g in games]))
        shares = []
        for game in games:
            alone = np.broadcast_to(best, game.truth.shape)
            guesses = (game.output.values, alone)
            shares.append([fraction_reconstructed(guess, game.truth) for guess in guesses])
        return {"": contrast(shares, [1.0, -1.0])}


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeDatabase:
    """Probability that every guessed entry is right."""

    needs: ClassVar[Needs] = "guess"
    name: str = "whole_database"

    def estimate(self, games: Games, names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the share of worlds."""
        del names, rng
        right = [whole_database(g.output.values, g.truth) for g in games]
        return {"": rate([hits.astype(np.float64) for hits in right])}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsUntilCertain:
    """Releases until an attack that makes no errors is certain of the database.

    The median is infinite where fewer than half of the worlds are revealed; the mean is given
    where every world is, else it would be that of the fast ones alone.
    """

    needs: ClassVar[Needs] = "guess"
    name: str = "runs"

    def estimate(self, games: Games, names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the median (unlabelled), the mean, and the share not yet revealed."""
        del names, rng
        found = [g.output.revealed_at for g in games if g.output.revealed_at is not None]
        if len(found) < len(games):
            raise NotMeasurableError("the attack is never certain")
        runs = [np.where(at > 0, at, np.inf) for at in found]
        pooled = np.concatenate(runs)
        ended = pooled[np.isfinite(pooled)]
        waits = RunsUntilRevealed(runs=pooled, cap=int(ended.max(initial=1)))
        labelled = {
            "": quantile(pooled, 0.5),
            "not yet revealed": rate([np.isinf(r).astype(np.float64) for r in runs]),
        }
        return labelled | ({"mean": mean(runs)} if waits.mean is not None else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsGained:
    """By how many nats releases move the odds of the true secret against another of its pairs.

    At a quantile over worlds. Of the likelihood ratio's scores, an epsilon claimed for all
    releases together bounds it at every quantile; of a trained classifier's it is what that
    classifier believes.

    Parameters
    ----------
    quantile : float in (0, 1)
    """

    needs: ClassVar[Needs] = "scores"
    quantile: float = 0.5
    name: str = "odds"

    def __post_init__(self) -> None:
        within("quantile", self.quantile, 0, 1, ends="()")

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the quantile of the largest move over the pairs of a world's secret."""
        del rng
        moved = [_moves(game, names) for game in games]
        return {"": quantile(np.concatenate(moved), self.quantile)}


def quantile(values: FloatArray, q: float) -> Estimate:
    """Estimate a quantile, the smallest value that a share q does not exceed; inf is a value."""
    ranked = np.sort(values)
    value = float(ranked[int(np.ceil(q * ranked.size)) - 1])
    low, high = order_interval(values, q)
    return Estimate(value=value, lower=low, upper=high, n=values.size, method="order statistics")


def _moves(game: Scored, names: Names) -> FloatArray:
    if np.isnan(game.score).any():
        raise ValueError("scores must not be NaN.")
    largest = np.full(len(game.secret), -np.inf)
    for pair in names.pairs:
        for true, other in (pair, pair[::-1]):
            rows = game.secret == true
            own, against = game.score[rows, true], game.score[rows, other]
            move = np.zeros(own.size)  # both excluded: nothing is told
            np.subtract(own, against, out=move, where=own != against)
            largest[rows] = np.maximum(largest[rows], move)
    return largest


def _most_frequent(truth: Array) -> Array:
    """Return the value most often found in each column, shape (e,)."""
    found = [np.unique(column, return_counts=True) for column in truth.T]
    return np.array([values[counts.argmax()] for values, counts in found])
