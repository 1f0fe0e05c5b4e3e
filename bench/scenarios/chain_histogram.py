"""How often a chain visits each of its states, one entry being the secret."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench.scenarios.base import K, TrueAnswer, make_fact
from bench.scenarios.chain_count import gaussian_answers
from bench.scenarios.chain_model import ChainModel
from bench.scenarios.true_answer import answer_of_sequences
from mechanisms.check import FloatArray, IntArray
from mechanisms.influence.knowledge import Candidates
from mechanisms.knowledge import FiniteAnswers, GaussianAnswers, Sensitivity
from mechanisms.laws.finite import FiniteLaw
from mechanisms.laws.visit_counts import histogram_law


@dataclass(frozen=True, kw_only=True)
class ChainHistogram(ChainModel):
    """Release the number of visits to every state.

    The exact law is offered for one sequence of few states (see
    `mechanisms.laws.visit_counts.histogram_law`); elsewhere exact leakage is not computable.
    """

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the counts."""
        return tuple(f"visits to {state}" for state in self.source.states)

    def answers_of(self, database: IntArray) -> FloatArray:
        """Return the histograms, shape (n, k)."""
        states = range(len(self.source.states))
        return np.stack([(database == s).sum(axis=1) for s in states], axis=1).astype(np.float64)

    @cached_property
    def _laws(self) -> tuple[FiniteLaw, ...]:
        return tuple(histogram_law(self.database_law(s)) for s in range(len(self.secrets)))

    def law(self, secret: int) -> FiniteLaw:
        """Return the exact law of the histogram under a secret, or say why there is none."""
        return self._laws[secret]

    def true_answer(self, rng: np.random.Generator) -> TrueAnswer:
        """Return the answer of the recorded sequences."""
        del rng
        return answer_of_sequences(self)

    def knowledge(self, kind: type[K]) -> K:
        """Offer the curve, Theta, sensitivity and candidates; under one prior the answers' laws."""
        return make_fact(
            self.shared_facts()
            | {
                Sensitivity: self._sensitivity,
                Candidates: self._candidates,
                GaussianAnswers: self._gaussian,
                FiniteAnswers: self._finite,
            },
            kind,
        )

    def _sensitivity(self) -> Sensitivity:
        """Return it for one entry: one count goes down by 1 and another up by 1."""
        size = len(self.source.states)
        return Sensitivity(l1=2.0, l2=2.0**0.5, unit="entry", size=self.lengths[0], dimension=size)

    def _candidates(self) -> Candidates:
        """Offer the states as candidates for the most frequent; an entry moves a count by 1."""
        values = np.arange(len(self.source.states), dtype=np.float64)
        return Candidates(values=values, utility="largest", sensitivity=1.0)

    def _gaussian(self) -> GaussianAnswers:
        self.only_one_prior(GaussianAnswers)
        return gaussian_answers(self._laws, self.pairs)

    def _finite(self) -> FiniteAnswers:
        self.only_one_prior(FiniteAnswers)
        return FiniteAnswers(laws=self._laws, pairs=self.pairs)
