"""Metrics of guesses of a database or an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Guess
from bench.core.intervals import mean
from bench.metrics.base import Found, Labelled, Names, Needs, NotMeasurableError


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedVariance:
    """Share of the entries' variance that a guess explains: 1 - squared error / variance.

    0 is the best guess of one who knows the mean alone, 1 is every entry; below 0 is worse than
    the mean. The squared error is a proper score of an expectation.
    """

    needs: ClassVar[Needs] = "guess"
    name: str = "explained"

    def estimate(
        self, games: list[Found[Guess]], names: Names, rng: np.random.Generator
    ) -> Labelled:
        """Estimate the mean over worlds of the mean over entries."""
        del names, rng
        truths = [np.asarray(found.truth, dtype=np.float64) for found in games]
        records = [
            rows.reshape(len(rows), *found.worlds.database.shape[1:])
            if found.output.entries is None
            and found.output.of == "database"
            and found.worlds.database is not None
            else rows[..., None]
            for rows, found in zip(truths, games, strict=True)
        ]
        every = np.concatenate(records)
        # Entries of one attribute have one unit: their variance over worlds and records.
        axes = tuple(range(every.ndim - 1))
        variance = every.var(axis=axes)
        if not (variance > 0).all():
            raise NotMeasurableError("an attribute is constant: there is nothing to guess")
        scores = []
        for found, rows in zip(games, records, strict=True):
            guessed = np.asarray(found.output.values, dtype=np.float64).reshape(rows.shape)
            if np.isnan(guessed).any():
                raise NotMeasurableError("entries that are left open have no error")
            error = (guessed - rows) ** 2 / variance
            scores.append(1 - error.reshape(len(error), -1).mean(axis=1))
        return {"": mean(scores)}
