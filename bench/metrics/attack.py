"""Metrics of attack scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bench.core.intervals import contrast, functional, rate
from bench.metrics.base import Labelled, Names, Needs, Scored
from bench.metrics.roc import auc, best_threshold, check_samples, pair_scores, tpr_at
from mechanisms.check import FloatArray, IntArray, within


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Share of worlds whose secret has the top score; a tie of k earns 1/k.

    Where every secret is to be kept from one other only, the attacker is told the pair: the
    accuracy then compares with the ceiling, which is about two secrets.
    """

    needs: ClassVar[Needs] = "scores"
    name: str = "acc"

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the rate over all worlds."""
        del rng
        return {"": rate([hits(g, names.partners) for g in games])}


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedAccuracy:
    """Average over the secrets of the share of their worlds that is recognised."""

    needs: ClassVar[Needs] = "scores"
    name: str = "bal_acc"

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate the average recall; every secret counts the same."""
        del rng
        size = len(names.secrets)
        recalls = []
        for game in games:
            if (np.bincount(game.secret, minlength=size) == 0).any():
                raise ValueError("balanced accuracy needs worlds of every secret.")
            recalls.append([hits(game)[game.secret == s] for s in range(size)])
        return {"": contrast(recalls, [1 / size] * size)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AUC:
    """Area under the ROC of each pair, ties averaged."""

    needs: ClassVar[Needs] = "scores"
    name: str = "auc"

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate one AUC a pair."""
        return {
            names.pair(p): functional(auc, [pair_scores(g.secret, g.score, p) for g in games], rng)
            for p in names.pairs
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TprAtFpr:
    """True positive rate at a false positive rate, interpolated (the randomised test).

    Parameters
    ----------
    fpr : float in (0, 1)
    """

    needs: ClassVar[Needs] = "scores"
    fpr: float
    name: str = "tpr"

    def __post_init__(self) -> None:
        within("fpr", self.fpr, 0, 1, ends="()")

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate one TPR a pair."""
        return {
            names.pair(p): functional(
                lambda label, odds: tpr_at(label, odds, self.fpr),
                [pair_scores(g.secret, g.score, p) for g in games],
                rng,
            )
            for p in names.pairs
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantage:
    """TPR - FPR at the threshold that is best on hold-out worlds, counted on fresh ones."""

    needs: ClassVar[Needs] = "scores"
    name: str = "adv"

    def estimate(self, games: list[Scored], names: Names, rng: np.random.Generator) -> Labelled:
        """Estimate one advantage a pair."""
        del rng
        result = {}
        for pair in names.pairs:
            held = [pair_scores(g.holdout_secret, g.holdout_score, pair) for g in games]
            threshold = best_threshold(
                np.concatenate([label for label, _ in held]),
                np.concatenate([odds for _, odds in held]),
            )
            rates = []
            for game in games:
                label, odds = pair_scores(game.secret, game.score, pair)
                check_samples(label, odds)
                accused = (odds >= threshold).astype(np.float64)
                rates.append([accused[label == 1], accused[label == 0]])
            result[names.pair(pair)] = contrast(rates, [1.0, -1.0])
        return result


def hits(game: Scored, partners: IntArray | None = None) -> FloatArray:
    """Return 1/k where the true secret is among k top scores, else 0.

    With `partners`, only the secret and its partner are compared.
    """
    if np.isnan(game.score).any():
        raise ValueError("scores must not be NaN.")
    score = game.score
    if partners is not None:
        columns = np.arange(score.shape[1])
        own = game.secret[:, None]
        score = np.where((columns == own) | (columns == partners[own]), score, -np.inf)
    top = score == score.max(axis=1, keepdims=True)
    return top[np.arange(game.secret.size), game.secret] / top.sum(axis=1)
