"""One number of one record; the secret is another attribute of the same record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from attacks.base import Transcript
from bench.datasets.table.column import NumericTable, label_of
from bench.scenarios.base import K, look_up_fact
from mechanisms.base import Knowledge
from mechanisms.check import IntArray, real
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers, ScalarAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw


@dataclass(frozen=True, kw_only=True)
class NumericColumn:
    """Release a numeric column X of a table; the secret is the value of another column.

    A world is one record: X is drawn from its empirical law given the secret, which is what
    curator and adversary know. The answer is X itself, so the Sensitivity offered is that of one
    record's X: the width of `bounds`.

    Parameters
    ----------
    path : str
        A CSV or parquet file, or ``embedded:NAME``.
    value, secret : str
        Column of X and column of the secret.
    pairs : sequence of pairs
        Values of the secret column to be kept indistinguishable; kept as indices of `secrets`.
    count : str or None
        Column that says how often a row counts.
    separator : str
        Of a CSV file.
    bounds : pair of float, or None
        Range that X is known to lie in; None takes the smallest and largest value of the table,
        which the record's differential privacy then takes for granted.

    References
    ----------
    Ding, Yang, Zhang (2026), alpha-Wasserstein Mechanism for Renyi Pufferfish Privacy, section 3.3.
    """

    path: str | None = None
    value: str | None = None
    secret: str | None = None
    pairs: Any = ()
    count: str | None = None
    separator: str = ","
    bounds: Sequence[float] | None = None
    labels: tuple[str, ...] = field(init=False)
    synthetic = False
    worlds_from_model = True

    def __post_init__(self) -> None:
        for name in ("path", "value", "secret"):
            given = getattr(self, name)
            if given is None or not isinstance(given, str) or not given:
                hint = "a CSV or parquet file" if name == "path" else "a column of the table"
                raise ValueError(f"scenario.{name} must name {hint}, got {given!r}.")
        if isinstance(self.pairs, str) or not self.pairs:
            raise ValueError(f"scenario.pairs must be like [[a, b]], got {self.pairs!r}.")
        for pair in self.pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise ValueError(f"scenario.pairs must be like [[a, b]], got {self.pairs!r}.")
            if None in pair or label_of(pair[0]) == label_of(pair[1]):
                raise ValueError(f"scenario.pairs must hold two different values, got {pair!r}.")
        if self.bounds is not None and (
            len(self.bounds) != 2 or not real("bounds", self.bounds[0]) < self.bounds[1]
        ):
            raise ValueError(f"scenario.bounds must be [low, high], got {self.bounds!r}.")
        labelled = [(label_of(a), label_of(b)) for a, b in self.pairs]
        labels = tuple(dict.fromkeys(label for pair in labelled for label in pair))
        object.__setattr__(self, "labels", labels)
        indices = tuple((labels.index(a), labels.index(b)) for a, b in labelled)
        object.__setattr__(self, "pairs", indices)

    @cached_property
    def _table(self) -> NumericTable:
        return NumericTable(
            path=str(self.path), value=str(self.value), secret=str(self.secret),
            count=self.count, separator=self.separator,
        )  # fmt: skip

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret's values."""
        return tuple(f"{self.secret}={label}" for label in self.labels)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The released column."""
        return (str(self.value),)

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self._table.digest

    def check(self) -> None:
        """Load the table; refuse columns, values and secrets that do not fit."""
        self._facts  # noqa: B018  (computed once, kept)

    @cached_property
    def laws(self) -> tuple[FiniteLaw, ...]:
        """The empirical law of X given each secret."""
        return tuple(self._table.law(label) for label in self.labels)

    @cached_property
    def _facts(self) -> dict[type[Knowledge], Knowledge]:
        facts: dict[type[Knowledge], Knowledge] = {
            ScalarAnswers: ScalarAnswers(laws=self.laws, pairs=self.pairs),
            FiniteAnswers: FiniteAnswers(
                laws=tuple(self.law(i) for i in range(len(self.laws))), pairs=self.pairs
            ),
            GaussianAnswers: self._gaussian(),
        }
        low, high = self.bounds or self._table.bounds
        if any(law.atoms[0] < low or law.atoms[-1] > high for law in self.laws):
            raise ValueError(
                f"scenario.bounds must hold every value of {self.value}, got [{low:g}, {high:g}]."
            )
        if high > low:
            width = float(high - low)
            facts[Sensitivity] = Sensitivity(l1=width, l2=width, unit="record", size=1, dimension=1)
        return facts

    def _gaussian(self) -> GaussianAnswers:
        """Return the moments of the laws: a Gaussian approximation."""
        means = np.array([law.weights @ law.atoms for law in self.laws])
        variances = [
            law.weights @ (law.atoms - mean) ** 2
            for law, mean in zip(self.laws, means, strict=True)
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
        law = self.laws[secret]
        return FiniteLaw(atoms=law.atoms[:, None], weights=law.weights)

    def draw(self, secret: IntArray, split: str, rng: np.random.Generator) -> Transcript:
        """Draw one record's X a world from its law given the secret."""
        del split
        answers = np.empty((len(secret), 1))
        for value in range(len(self.labels)):
            where = np.flatnonzero(secret == value)
            answers[where] = self.law(value).sample(len(where), rng)
        return Transcript(secret=secret, answers=answers)
