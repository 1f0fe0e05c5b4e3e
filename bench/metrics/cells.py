"""Metrics of suppressed and rounded tables: what is revealed of hidden cells, what is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Intervals, Transcript
from bench.core.intervals import Estimate, exact, mean, rate
from bench.metrics.base import (
    Blocks,
    Found,
    Labelled,
    Names,
    Needs,
    NotMeasurableError,
    leaves_nothing_to_chance,
    per_world,
)
from mechanisms.base import Mechanism
from mechanisms.check import BoolArray, FloatArray, IntArray, within
from mechanisms.deterministic.cell_suppression import CellSuppression


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRevealed:
    """Share of hidden cells whose interval is a single count."""

    needs: ClassVar[Needs] = "intervals"
    name: str = "revealed"

    def estimate(
        self, games: list[Found[Intervals]], names: Names, rng: np.random.Generator
    ) -> Labelled:
        """Estimate the mean share over worlds; computed where every world is the same."""
        del names, rng
        return {"": _share(games, lambda found: found.output.lower == found.output.upper)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareApproximatelyRevealed:
    """Share of hidden cells whose interval is a point, or narrower than a share of the count.

    Parameters
    ----------
    share : float in (0, 1)
    """

    needs: ClassVar[Needs] = "intervals"
    share: float
    name: str = "nearly_revealed"

    def __post_init__(self) -> None:
        within("share", self.share, 0, 1, ends="()")

    def estimate(
        self, games: list[Found[Intervals]], names: Names, rng: np.random.Generator
    ) -> Labelled:
        """Estimate the mean share over worlds; computed where every world is the same."""
        del names, rng

        def narrow(found: Found[Intervals]) -> BoolArray:
            width = found.output.upper - found.output.lower
            truth = found.truth.astype(np.float64)
            return (width == 0) | (width < self.share * truth)

        return {"": _share(games, narrow)}


def _share(
    games: list[Found[Intervals]], told: Callable[[Found[Intervals]], BoolArray]
) -> Estimate:
    shares, rows = [], []
    for found in games:
        hidden = found.output.hidden
        if hidden is None:
            raise NotMeasurableError("the release hides no cell")
        number = hidden.sum(axis=1)
        if not number.any():
            raise NotMeasurableError("no cell is hidden in any world")
        some = number > 0
        shares.append((told(found) & hidden).sum(axis=1)[some] / number[some])
        both = (found.output.lower, found.output.upper, found.truth)
        rows.append(np.concatenate(both, axis=1))
    every = np.concatenate(rows)
    if len(every) == 1:
        raise NotMeasurableError("one world does not tell chance from rule: n_test=2 or more")
    if (every == every[0]).all():
        return exact(float(shares[0][0]))
    return rate(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsSuppressed:
    """Number of cells that the release suppresses."""

    needs: ClassVar[Needs] = "releases"
    name: str = "cells_suppressed"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the mean number."""
        del names
        if not isinstance(mechanism, CellSuppression):
            return {"": exact(0.0)}
        return _lost(games, mechanism, lambda hidden, _, __: hidden.sum(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CountMassLost:
    """Share of all units that are in suppressed cells."""

    needs: ClassVar[Needs] = "releases"
    name: str = "mass_lost"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the mean share; a table without units loses none."""
        del names
        if not isinstance(mechanism, CellSuppression):
            return {"": exact(0.0)}

        def share(hidden: BoolArray, release: FloatArray, table: IntArray) -> FloatArray:
            del release
            return (table * hidden).sum(axis=1) / np.maximum(table.sum(axis=1), 1)

        return _lost(games, mechanism, share)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellError:
    """L1 distance between the table and the release, suppressed cells read as 0."""

    needs: ClassVar[Needs] = "releases"
    name: str = "cell_l1"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate the mean distance."""
        del names

        def distance(hidden: BoolArray, release: FloatArray, table: IntArray) -> FloatArray:
            return np.abs(np.where(hidden, 0.0, release) - table).sum(axis=1)

        return _lost(games, mechanism, distance)


def _lost(
    games: Sequence[Blocks],
    mechanism: Mechanism,
    value: Callable[[BoolArray, FloatArray, IntArray], FloatArray],
) -> Labelled:
    """Estimate the mean of a function of what is hidden, released and true, cells flattened."""

    def of_world(block: Transcript) -> FloatArray:
        if block.releases.shape[2:] != block.answers.shape[1:]:
            raise NotMeasurableError("the release is no table of the answer's shape")
        table = np.asarray(block.answers, dtype=np.int64).reshape(len(block), -1)
        release = np.asarray(block.releases, dtype=np.float64).mean(axis=1).reshape(table.shape)
        hidden = (release < 0) & isinstance(mechanism, CellSuppression)
        return np.asarray(value(hidden, release, table), dtype=np.float64)

    found = [per_world(game, of_world) for game in games]
    if leaves_nothing_to_chance(games, mechanism):
        return {"": exact(float(found[0][0]))}
    return {"": mean(found)}
