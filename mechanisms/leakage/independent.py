"""Leakage of releases of new data each, independent given the secret."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechanisms.leakage.integer_grid import dominating_pair
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.bracket import Bracket


@dataclass(frozen=True, slots=True)
class IndependentReleases:
    """`k` independent releases of each of two laws.

    Largest log ratios and Renyi divergences of products are sums. Every other number is bracketed:
    below by one release (the others are forgotten), above by the randomised response that dominates
    every pair with this largest ratio.

    Parameters
    ----------
    one : PairLeakage
        A single release.
    k : int
    """

    one: PairLeakage
    k: int

    def _dominating(self) -> PairLeakage:
        return dominating_pair(self.renyi(math.inf).hi)

    def delta(self, epsilon: float) -> Bracket:
        """Bracket the hockey-stick divergence."""
        found = self.one.delta(epsilon)
        return found if self.k == 1 else Bracket(found.lo, self._dominating().delta(epsilon).hi)

    def epsilon(self, delta: float) -> Bracket:
        """Return k times the pure epsilon at delta = 0; bracket it elsewhere."""
        if delta == 0:
            return self.renyi(math.inf)
        found = self.one.epsilon(delta)
        return found if self.k == 1 else Bracket(found.lo, self._dominating().epsilon(delta).hi)

    def renyi(self, order: float) -> Bracket:
        """Return k times the divergence of one release: it adds up over products."""
        # For the worse of both directions too: the worse one is the same at every release.
        found = self.one.epsilon(0.0) if order == math.inf else self.one.renyi(order)
        return Bracket(self.k * found.lo, self.k * found.hi, found.error)

    def accuracy(self) -> Bracket:
        """Bracket the Bayes ceiling."""
        found = self.one.accuracy()
        return found if self.k == 1 else Bracket(found.lo, self._dominating().accuracy().hi)
