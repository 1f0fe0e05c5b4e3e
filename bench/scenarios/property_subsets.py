"""Statistics of a subset of records; the secret is the share of records with a property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from attacks.base import Transcript
from attacks.outside.lattice import common_step
from bench.core.randomness import rng_for
from bench.datasets.source import DataError
from bench.datasets.table.text_table import TextTable
from bench.scenarios.base import K, TrueAnswer, look_up_fact
from bench.scenarios.recorded import RecordedMoments
from bench.scenarios.statistics import Count, Statistic
from bench.scenarios.subset_sizes import SPLITS, check_split, check_whole
from bench.scenarios.subsets import subset_moments, sum_features, without_replacement
from mechanisms.base import Knowledge
from mechanisms.check import FloatArray, IntArray, one_of, whole, within
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.laws.answer import GaussianLaw

Model = Literal["sampled", "exact", "population"]
MODELS = ("sampled", "exact", "population")
Moments = list[tuple[FloatArray, FloatArray]]


class Table(Protocol):
    """A dataset with one table of records."""

    @property
    def records(self) -> TextTable:
        """The records, each column converted where it is needed."""

    @property
    def digest(self) -> str:
        """Identity of the data."""


@dataclass(frozen=True, kw_only=True)
class PropertySubsets:
    """Release statistics of `size` records of which a share .5 -+ gap/2 has a property.

    The records are split at random into three parts: the adversary's auxiliary records (shadow
    worlds), the records of the tested worlds, and the curator's records for modelling.

    Parameters
    ----------
    data : Table
    statistics_of : sequence of Statistic
    properties : mapping of str to Count
        What a record can have.
    secret : str
        Which of `properties` is the secret one.
    gap : float in (0, 1)
        Difference of the two shares; both shares must give whole numbers of records.
    size : int
        Records in a subset.
    split : pair of int
        Records for shadow and test worlds; the rest is for modelling.
    model : {"sampled", "exact", "population"}
        Means and covariances from `model_subsets` sampled subsets, as published, or from the exact
        moments of sampling without replacement: from the modelling records, or from all of them
        (then they depend on no split, but the curator has seen the tested records).
    model_subsets : int
    worlds : {"data", "model"}
        Draw worlds from records, or from the Gaussian model with each pair's shared covariance.
    seed : int
        Of the split and of the sampled subsets.

    References
    ----------
    Chen and Ohrimenko (2023), section 5.
    """

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

    def _answers(
        self, secret: int, count: int, split: str, rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Return answers ``(count, statistics)`` and the records behind them, (count, size)."""
        with_property = round(self.shares[secret] * self.size)
        total = np.zeros((count, len(self.statistics_of)))
        takes = (self.size - with_property, with_property)
        records = []
        for rows, take in zip(self._members[split], takes, strict=True):
            chosen = without_replacement(len(rows), take, count, rng)
            total += sum_features(self._features[rows], chosen)
            records.append(rows[chosen])
        return total * self._weights, np.concatenate(records, axis=1)

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw worlds from the split's records, or from the model."""
        if not np.isin(secret, (0, 1)).all():
            raise ValueError(f"secrets must be 0 or 1, got {np.unique(secret).tolist()}.")
        answers = np.empty((len(secret), len(self.statistics_of)))
        records = np.empty((len(secret), self.size), dtype=np.int64)
        for value in range(2):
            where = np.flatnonzero(secret == value)
            if self.worlds_from_model:
                answers[where] = self.law(value).sample(len(where), rng)
            else:
                answers[where], records[where] = self._answers(value, len(where), split, rng)
        return Transcript(secret=secret, answers=answers, database=self._database(records))

    def _database(self, records: IntArray) -> FloatArray | None:
        """Return the records behind the answers, where mechanisms or attacks are to see them."""
        del records
        return None

    def true_answer(self, rng: np.random.Generator) -> TrueAnswer:
        """Return the statistics of `size` of all records, drawn without replacement."""
        records = len(self._features)
        chosen = without_replacement(records, self.size, 1, rng)
        return TrueAnswer(
            answer=sum_features(self._features, chosen) * self._weights,
            whole=np.array([isinstance(s, Count) for s in self.statistics_of]),
            note=f"{self.size} records drawn at random from all {records}",
        )

    @cached_property
    def _exact_moments(self) -> tuple[FloatArray, FloatArray]:
        splits = SPLITS if self.model == "population" else ("model",)
        without, with_property = (
            self._features[np.concatenate([self._members[split][side] for split in splits])]
            for side in range(2)
        )
        moments = self._subset_moments((without, with_property))
        return np.stack([m for m, _ in moments]), np.stack([c for _, c in moments])

    def _subset_moments(self, features: Sequence[FloatArray]) -> Moments:
        """Return the exact moments under each secret, of records without and with the property."""
        without, with_property = features
        return [
            subset_moments(
                without, with_property, round(share * self.size), self.size, self._weights
            )
            for share in self.shares
        ]

    @property
    def estimated(self) -> str:
        """How the protected records got into the model; empty where they did not."""
        return (
            "the model holds the records that worlds are drawn from; model='exact' keeps to others"
            if self.model == "population"
            else ""
        )

    def recorded(self) -> RecordedMoments:
        """Return Gaussian laws with the moments of the records that tested worlds hold."""
        without, with_property = (self._features[rows] for rows in self._members["test"])
        return RecordedMoments(
            features=(without, with_property),
            moments=self._subset_moments,
            words=f"subsets of {len(without) + len(with_property)} records, taken to be Gaussian "
            "with their exact moments",
        )

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        if self.model != "sampled":
            return self._exact_moments
        samples = [
            self._answers(v, self.model_subsets, "model", rng_for(self.seed, "model", v))[0]
            for v in range(2)
        ]
        means = np.stack([s.mean(axis=0) for s in samples])
        return means, np.stack([np.atleast_2d(np.cov(s, rowvar=False)) for s in samples])

    @cached_property
    def _facts(self) -> dict[type[Knowledge], Knowledge]:
        means, covariances = self._moments
        moves = self.moves
        return {
            GaussianAnswers: GaussianAnswers(
                means=means, covariances=covariances, pairs=self.pairs, steps=self._steps
            ),
            Sensitivity: Sensitivity(
                l1=float(moves.sum()),
                l2=float(np.linalg.norm(moves)),
                unit="record",
                size=self.size,
                dimension=moves.size,
            ),
        }

    def knowledge(self, kind: type[K]) -> K:
        """Offer GaussianAnswers (from the modelling split) and Sensitivity."""
        return look_up_fact(self._facts, kind)

    def law(self, secret: int) -> GaussianLaw:
        """Return the model's law: the secret's own mean, the pair's shared covariance."""
        answers = self.knowledge(GaussianAnswers)
        return GaussianLaw(mean=answers.means[secret], covariance=answers.shared_covariances()[0])

    def unpooled_law(self, secret: int) -> GaussianLaw:
        """Return the Gaussian with the exact moments of the model's records under a secret.

        Never those of sampled subsets: their errors would decide whether a claim is met.
        """
        means, covariances = self._exact_moments
        return GaussianLaw(mean=means[secret], covariance=covariances[secret])
