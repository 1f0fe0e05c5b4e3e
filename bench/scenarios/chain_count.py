"""How often chains visit one state, one entry being the secret."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench.scenarios.base import K, TrueAnswer, make_fact
from bench.scenarios.chain_model import ChainModel
from bench.scenarios.true_answer import answer_of_sequences
from mechanisms.check import FloatArray, IntArray
from mechanisms.influence.knowledge import Candidates
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers, ScalarAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.visit_counts import visits_law


@dataclass(frozen=True, kw_only=True)
class ChainCount(ChainModel):
    """Release the number of visits to one state.

    The answer's law under every secret is exact, so that mechanisms of every family run here
    with an exact ledger.

    Parameters
    ----------
    counted : str, int or bool
        Label of the state.
    """

    counted: str | int | bool

    def check(self) -> None:
        """Load the chain; refuse a state that it does not have."""
        ChainModel.check(self)
        self.state(self.counted)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Name of the count."""
        return (f"visits to {self.counted}",)

    def answers_of(self, database: IntArray) -> FloatArray:
        """Return the counts, shape (n, 1)."""
        return (database == self.state(self.counted)).sum(axis=1, keepdims=True).astype(np.float64)

    @cached_property
    def _laws(self) -> tuple[FiniteLaw, ...]:
        state = self.state(self.counted)
        return tuple(visits_law(self.database_law(s), state) for s in range(len(self.secrets)))

    def law(self, secret: int) -> FiniteLaw:
        """Return the exact law of the count under a secret, atoms (a, 1)."""
        return self._laws[secret]

    def true_answer(self, rng: np.random.Generator) -> TrueAnswer:
        """Return the answer of the recorded sequences."""
        del rng
        return answer_of_sequences(self)

    def knowledge(self, kind: type[K]) -> K:
        """Offer the curve, Theta, sensitivity and candidates; under one prior the count's laws."""
        return make_fact(
            self.shared_facts()
            | {
                Sensitivity: self._sensitivity,
                Candidates: self._candidates,
                GaussianAnswers: self._gaussian,
                FiniteAnswers: self._finite,
                ScalarAnswers: self._scalar,
            },
            kind,
        )

    def _sensitivity(self) -> Sensitivity:
        """Return it for one entry; the units are the entries that the prior ties together."""
        return Sensitivity(l1=1.0, l2=1.0, unit="entry", size=self.lengths[0], dimension=1)

    def _candidates(self) -> Candidates:
        values = np.arange(sum(self.lengths) + 1, dtype=np.float64)
        return Candidates(values=values, utility="nearest", sensitivity=1.0)

    def _gaussian(self) -> GaussianAnswers:
        self.only_one_prior(GaussianAnswers)
        return gaussian_answers(self._laws, self.pairs)

    def _finite(self) -> FiniteAnswers:
        self.only_one_prior(FiniteAnswers)
        return FiniteAnswers(laws=self._laws, pairs=self.pairs)

    def _scalar(self) -> ScalarAnswers:
        self.only_one_prior(ScalarAnswers)
        return ScalarAnswers(laws=tuple(law.on_line for law in self._laws), pairs=self.pairs)


def gaussian_answers(
    laws: tuple[FiniteLaw, ...], pairs: tuple[tuple[int, int], ...]
) -> GaussianAnswers:
    """Return the exact means and covariances of finite laws of counts."""
    means = np.stack([law.weights @ law.atoms for law in laws])
    covariances = []
    for law, mean in zip(laws, means, strict=True):
        moved = law.atoms - mean
        covariances.append((law.weights[:, None] * moved).T @ moved)
    return GaussianAnswers(
        means=means, covariances=np.stack(covariances), pairs=pairs, steps=np.ones(means.shape[1])
    )
