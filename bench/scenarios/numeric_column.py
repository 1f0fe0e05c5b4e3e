"""One number of one record; the secret is another attribute of the same record."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attacks.base import Transcript
from bench.core.randomness import rng_for
from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.table_file import TableFile
from bench.datasets.table.text_table import TextTable
from bench.scenarios.base import K, TrueAnswer, look_up_fact
from bench.scenarios.conditional_laws import (
    SecretNumbers,
    count_unique,
    halves,
    smoothed_law,
    table_law,
)
from bench.scenarios.recorded import CountedAnswers
from mechanisms.base import Knowledge
from mechanisms.check import IntArray, one_of, real, whole
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers, ScalarAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw

ESTIMATED = (
    "the laws were counted in the records that are to be protected; model='held_out' counts others"
)


@dataclass(frozen=True, kw_only=True)
class NumericColumn(TableFile):
    """Release a numeric column X of a table; the secret is the value of another column.

    A world is one record: X is drawn from its law given the secret, which is what curator and
    adversary know. The answer is X itself, so the Sensitivity offered is that of one record's X:
    the width of `bounds`.

    Parameters
    ----------
    value, secret : str
        Column of X and column of the secret.
    pairs : sequence of pairs
        Values of the secret column to be kept indistinguishable, as the file writes them; kept as
        indices of `secrets`.
    count : str or None
        Column that says how often a row counts.
    bounds : pair of float, or None
        Range that X is known to lie in; None takes the smallest and largest value of the table,
        which the record's differential privacy then takes for granted.
    model : {"table", "smoothed", "held_out"}
        The law of X given the secret: that of the table, which the adversary then holds; a kernel
        estimate on a grid, from which worlds are drawn; or that of a random half of the records,
        worlds being drawn from the other half.
    seed : int
        Of the halves.

    Notes
    -----
    `path`, `separator`, `encoding`, `decimal`, `names` and `missing` are those of `TableFile`.

    References
    ----------
    Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy, section 3.3.
    """

    path: str | None = None
    value: str | int | None = None
    secret: str | int | None = None
    pairs: Any = ()
    count: str | int | None = None
    bounds: Sequence[float] | None = None
    model: Literal["table", "smoothed", "held_out"] = "table"
    seed: int = 0
    synthetic = False

    def __post_init__(self) -> None:
        for name in ("path", "value", "secret"):
            if getattr(self, name) is None:
                hint = "a CSV, TSV or parquet file" if name == "path" else "a column of the table"
                raise ValueError(f"scenario.{name} must name {hint}, got None.")
        super().__post_init__()
        for name in ("value", "secret", "count"):
            if getattr(self, name) is not None:
                label_text(f"scenario.{name}", getattr(self, name))
        if isinstance(self.pairs, str) or not self.pairs:
            raise ValueError(f"scenario.pairs must be like [[a, b]], got {self.pairs!r}.")
        for pair in self.pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise ValueError(f"scenario.pairs must be like [[a, b]], got {self.pairs!r}.")
            one, other = (label_text("scenario.pairs", label) for label in pair)
            if one == other:
                raise ValueError(f"scenario.pairs must hold two different values, got {pair!r}.")
        if self.bounds is not None and (
            len(self.bounds) != 2 or not real("bounds", self.bounds[0]) < self.bounds[1]
        ):
            raise ValueError(f"scenario.bounds must be [low, high], got {self.bounds!r}.")
        one_of("scenario.model", self.model, ("table", "smoothed", "held_out"))
        whole("seed", self.seed, low=0)
        typed = [label for pair in self.pairs for label in pair]
        texts = [label_text("scenario.pairs", label) for label in typed]
        distinct = dict(zip(texts, typed, strict=True))
        codes = [list(distinct).index(text) for text in texts]
        object.__setattr__(self, "_typed", tuple(distinct.values()))
        object.__setattr__(self, "pairs", tuple(zip(codes[::2], codes[1::2], strict=True)))

    @cached_property
    def _table(self) -> TextTable:
        counted = () if self.count is None else (self.count,)
        return self.read(self.value, self.secret, *counted)

    @cached_property
    def _matched(self) -> list[tuple[str, str]]:
        """The secret's values as the file writes them, and what is to be told of each."""
        labels = self._table.labels(self.secret)
        return [labels.find("scenario.pairs", label) for label in self._typed]  # type: ignore[attr-defined]

    @property
    def labels(self) -> tuple[str, ...]:
        """The secret's values, as the file writes them."""
        return tuple(label for label, _ in self._matched)

    @property
    def worlds_from_model(self) -> bool:
        """Whether worlds are drawn from the law that curator and adversary know."""
        return self.model != "held_out"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return tuple(f"{self.secret}={label}" for label in self.labels)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The released column."""
        return (str(self.value),)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many rows there are, what was assumed, and whether the model is the table itself."""
        told = [note for _, note in self._matched if note]
        unique = count_unique(self._records.values, self._records.counts)
        if self.model == "smoothed":
            told.append(f"the laws of {self.value} are smoothed by a Gaussian kernel")
        elif self.model == "held_out":
            told.append("worlds are drawn from records that the model does not hold")
        elif unique is not None:
            told.append(
                f"{unique[0]} of {unique[1]} records have a {self.value} of their own: the model "
                "is the table itself, and the attacker is assumed to hold it; scenario.model="
                "smoothed or held_out assumes less"
            )
        return (*self._table.notes, *self._table.labels(self.secret).notes, *told)

    def check(self) -> None:
        """Load the table; refuse columns, values and secrets that do not fit."""
        self._facts  # noqa: B018  (computed once, kept)

    @cached_property
    def _records(self) -> SecretNumbers:
        return SecretNumbers.of(self._table, self.value, self.secret, self.count)

    @cached_property
    def _known_and_drawn(self) -> tuple[tuple[FiniteLaw, ...], tuple[FiniteLaw, ...]]:
        """The laws that are known, and those that worlds are drawn from."""
        known, drawn = [], []
        for number, label in enumerate(self.labels):
            values, counts = self._records.where(label)
            kept = counts
            if self.model == "held_out":
                counts, kept = halves(counts, rng_for(self.seed, "held out", number))
                if not counts.any() or not kept.any():
                    raise DataError(f"{self.path}: too few rows with {self.secret}={label}.")
            if self.model == "smoothed":
                law = smoothed_law(values, counts, *self._range)
            else:
                law = table_law(values, counts)
            known.append(law)
            drawn.append(table_law(values, kept) if self.model == "held_out" else law)
        return tuple(known), tuple(drawn)

    @property
    def laws(self) -> tuple[FiniteLaw, ...]:
        """The law of X given each secret, as curator and adversary know it."""
        return self._known_and_drawn[0]

    @property
    def estimated(self) -> str:
        """How the protected records got into the laws; empty where they did not."""
        return "" if self.model == "held_out" else ESTIMATED

    def recorded(self) -> CountedAnswers:
        """Return the protected records: those that the laws do not hold, or else all."""
        laws = [
            table_law(*self._records.where(label)) if self.model == "smoothed" else law
            for label, law in zip(self.labels, self._known_and_drawn[1], strict=True)
        ]
        counts = [law.counts for law in laws if law.counts is not None]
        ends = np.cumsum([0, *(len(c) for c in counts)])
        return CountedAnswers(
            answers=[law.atoms[:, None] for law in laws],
            # Equal records are drawn anew together: how often each value comes up is all there is.
            units=[np.arange(*pair) for pair in itertools.pairwise(ends)],
            sizes=np.concatenate(counts),
            unit="record",
            words=f"{sum(int(c.sum()) for c in counts)} records"
            + (" that the laws do not hold" if self.model == "held_out" else ""),
        )

    @cached_property
    def _range(self) -> tuple[float, float]:
        """The range that X is known to lie in."""
        values = self._records.values
        low, high = self.bounds or (float(values.min()), float(values.max()))
        if values.min() < low or values.max() > high:
            raise ValueError(
                f"scenario.bounds must hold every value of {self.value}, got [{low:g}, {high:g}]."
            )
        return low, high

    @cached_property
    def _facts(self) -> dict[type[Knowledge], Knowledge]:
        return self.facts_of(self.laws)

    def facts_of(self, laws: tuple[FiniteLaw, ...]) -> dict[type[Knowledge], Knowledge]:
        """Return the facts that a curator with these laws would know."""
        facts: dict[type[Knowledge], Knowledge] = {
            ScalarAnswers: ScalarAnswers(laws=laws, pairs=self.pairs),
            FiniteAnswers: FiniteAnswers(
                laws=tuple(as_vectors(law) for law in laws), pairs=self.pairs
            ),
            GaussianAnswers: self._gaussian(laws),
        }
        low, high = self._range
        if high > low:
            width = float(high - low)
            facts[Sensitivity] = Sensitivity(l1=width, l2=width, unit="record", size=1, dimension=1)
        return facts

    def _gaussian(self, laws: tuple[FiniteLaw, ...]) -> GaussianAnswers:
        """Return the moments of the laws: a Gaussian approximation."""
        means = np.array([law.weights @ law.atoms for law in laws])
        variances = [
            law.weights @ (law.atoms - mean) ** 2 for law, mean in zip(laws, means, strict=True)
        ]
        return GaussianAnswers(
            means=means[:, None],
            covariances=np.array(variances)[:, None, None],
            pairs=self.pairs,
        )

    def knowledge(self, kind: type[K]) -> K:
        """Offer the exact laws, their Gaussian approximation, and the sensitivity of one X."""
        return look_up_fact(self._facts, kind)

    def law(self, secret: int) -> FiniteLaw:
        """Return the law of X given a secret, as vectors of one coordinate."""
        return as_vectors(self.laws[secret])

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw one record's X a world from its law given the secret."""
        del split
        answers = np.empty((len(secret), 1))
        for value, law in enumerate(self._known_and_drawn[1]):
            where = np.flatnonzero(secret == value)
            answers[where] = as_vectors(law).sample(len(where), rng)
        return Transcript(secret=secret, answers=answers)

    def true_answer(self, rng: np.random.Generator) -> TrueAnswer:
        """Return the X of one record drawn at random from all that have a number and a secret."""
        values, counts = self._records.values, self._records.counts
        value = rng.choice(values, p=counts / counts.sum())
        return TrueAnswer(
            answer=np.array([[value]]),
            whole=np.array([False]),
            note=f"one record drawn at random from all {int(counts.sum())}",
        )


def as_vectors(law: FiniteLaw) -> FiniteLaw:
    """Return a law of numbers as one of vectors of one coordinate."""
    return FiniteLaw(atoms=law.atoms[:, None], weights=law.weights)
