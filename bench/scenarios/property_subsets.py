"""Statistics of a subset of records; the secret is the share of records with a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attacks.base import Transcript
from bench.core.randomness import rng_for
from bench.scenarios.base import K, TrueAnswer, look_up_fact
from bench.scenarios.recorded import RecordedMoments
from bench.scenarios.statistics import Count
from bench.scenarios.subset_records import SubsetRecords
from bench.scenarios.subset_sizes import SPLITS
from bench.scenarios.subsets import subset_moments, sum_features, without_replacement
from mechanisms.base import Knowledge
from mechanisms.check import FloatArray, IntArray
from mechanisms.knowledge import GaussianAnswers, Sensitivity
from mechanisms.laws.answer import GaussianLaw

Moments = list[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, kw_only=True)
class PropertySubsets(SubsetRecords):
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
