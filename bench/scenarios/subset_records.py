"""The records behind statistics of a subset: their columns, property, splits and features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from attacks.outside.lattice import common_step
from bench.core.randomness import rng_for
from bench.datasets.source import DataError
from bench.datasets.table.text_table import TextTable
from bench.scenarios.statistics import Count, Statistic
from bench.scenarios.subset_sizes import SPLITS, check_split, check_whole
from mechanisms.check import FloatArray, IntArray, one_of, whole, within

Model = Literal["sampled", "exact", "population"]
MODELS = ("sampled", "exact", "population")


class Table(Protocol):
    """A dataset with one table of records."""

    @property
    def records(self) -> TextTable:
        """The records, each column converted where it is needed."""

    @property
    def digest(self) -> str:
        """Identity of the data."""


@dataclass(frozen=True, kw_only=True)
class SubsetRecords:
    """Records, statistics of `size` of them, and a property: see `PropertySubsets`."""

    data: Table
    statistics_of: Sequence[Statistic]
    properties: Mapping[str, Count]
    secret: str
    gap: float
    size: int = 100
    split: tuple[int, int] = (10_000, 10_000)
    model: Model = "sampled"
    model_subsets: int = 1000
    worlds: Literal["data", "model"] = "data"
    seed: int = 0

    def __post_init__(self) -> None:
        within("gap", self.gap, 0, 1, ends="()")
        whole("size", self.size)
        whole("model_subsets", self.model_subsets, low=2)
        whole("seed", self.seed, low=0)
        if not (isinstance(self.split, Sequence) and len(self.split) == 2):
            raise ValueError(f"split must be two numbers of records, got {self.split!r}.")
        for records in self.split:
            whole("split", records)
        names = self.statistics
        if not names or len(set(names)) < len(names):
            raise ValueError(f"statistics_of must be different statistics, got {list(names)}.")
        one_of("secret", self.secret, tuple(self.properties))
        one_of("model", self.model, MODELS)
        one_of("worlds", self.worlds, ("data", "model"))
        check_whole(self.size, self.gap)

    @property
    def shares(self) -> tuple[float, float]:
        """The two shares of records with the property."""
        return (0.5 - self.gap / 2, 0.5 + self.gap / 2)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return tuple(f"{self.secret}={share:g}" for share in self.shares)

    pairs = ((0, 1),)
    synthetic = False

    @property
    def worlds_from_model(self) -> bool:
        """Whether worlds are drawn from the curator's model."""
        return self.worlds == "model"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the answer's coordinates."""
        return tuple(s.name for s in self.statistics_of)

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.data.digest

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How many records there are, and what was left out or assumed while they were read."""
        table = self.data.records
        counted = (*self.properties.values(), *self.statistics_of)
        told = [note for statistic in counted for note in statistic.notes(table)]
        return (*table.notes, *dict.fromkeys(told))

    def check(self) -> None:
        """Load the records; refuse columns, properties and sizes that do not fit them."""
        self._members  # noqa: B018  (computed once, kept)
        self._features  # noqa: B018

    @cached_property
    def _features(self) -> FloatArray:
        table = self.data.records
        features = np.stack([s.feature(table) for s in self.statistics_of], axis=1)
        for name, column in zip(self.statistics, features.T, strict=True):
            if np.ptp(column) == 0:
                raise DataError(f"statistic {name!r} is constant: every record is the same in it.")
        return features

    @property
    def contributions(self) -> FloatArray:
        """What each record adds to the answer, shape (N, m)."""
        return self._features * self._weights

    @property
    def moves(self) -> FloatArray:
        """Largest change of each statistic when one record is replaced, shape (m,)."""
        table = self.data.records
        return np.array([s.sensitivity(table, self.size) for s in self.statistics_of])

    @property
    def has_property(self) -> FloatArray:
        """Whether each record has the secret property, 0 or 1."""
        return self.properties[self.secret].feature(self.data.records)

    @cached_property
    def _weights(self) -> FloatArray:
        return np.array([s.weight(self.size) for s in self.statistics_of])

    @cached_property
    def _steps(self) -> FloatArray:
        """Steps of the lattice that answers on records lie on; the model's own lie on none."""
        steps = np.array([common_step(column) for column in self._features.T]) * self._weights
        return np.where(self.worlds_from_model, 0.0, steps)

    @cached_property
    def _members(self) -> dict[str, tuple[IntArray, IntArray]]:
        """Row numbers of each split: those without and those with the property."""
        has = self.has_property > 0
        if has.all():
            raise DataError(f"property {self.secret!r} is constant: every record has it.")
        order = rng_for(self.seed, "split").permutation(len(has))
        check_split(has[order], self.split, self.size, self.gap)
        n_shadow, n_test = self.split
        rows = np.split(order, [n_shadow, n_shadow + n_test])
        return {
            name: (part[~has[part]], part[has[part]])
            for name, part in zip(SPLITS, rows, strict=True)
        }
