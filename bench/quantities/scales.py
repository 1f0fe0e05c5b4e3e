"""Noise scales of the Markov Quilt Mechanism and of the curve, as multiples of the sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanisms.check import FloatArray, one_of, positive, whole, within
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import chain_curve
from mechanisms.influence.markov_quilt import approximate_scale, exact_scale
from mechanisms.influence.mixing import smallest_stationary_mass, spectral_gap
from mechanisms.privacy.bracket import Bracket

METHODS = ("quilt_exact", "quilt_approximate", "curve", "group", "entry")


@dataclass(frozen=True, kw_only=True)
class ChainScale:
    """Scale multiplier of Laplace noise for a stationary two-state chain.

    Parameters
    ----------
    method : {"quilt_exact", "quilt_approximate", "curve", "group", "entry"}
        MQMExact; MQMApprox; ``min over b of b / (epsilon - a(b))``; group privacy of the whole
        chain; per-entry privacy, which claims nothing about the secrets.
    vary : {"strength", "length"}
        What x is: P(0 -> 0) = P(1 -> 1), or the number of steps.
    strength : float in (0, 1)
        P(0 -> 0) = P(1 -> 1) where the length varies.
    length : int
        Steps where the strength varies.
    epsilon : float in (0, inf)

    References
    ----------
    Song, Wang, Chaudhuri (2017), Section 5.2.
    """

    metric: ClassVar[str] = "scale"
    digest: ClassVar[str] = ""
    method: Literal["quilt_exact", "quilt_approximate", "curve", "group", "entry"]
    vary: Literal["strength", "length"] = "strength"
    strength: float = 0.7
    length: int = 100
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        one_of("method", self.method, METHODS)
        one_of("vary", self.vary, ("strength", "length"))
        within("strength", self.strength, 0, 1, ends="()")
        whole("length", self.length)
        positive("epsilon", self.epsilon, infinite=False)

    def curve(self, x: FloatArray) -> list[Bracket]:
        """Return the multiplier at every strength or length."""
        values = [
            self._scale(float(at), self.length)
            if self.vary == "strength"
            else self._scale(self.strength, whole("x", round(at)))
            for at in x
        ]
        return [Bracket(v, v) for v in values]

    def _scale(self, strength: float, length: int) -> float:
        within("x", strength, 0, 1, ends="()")
        stay, move = strength, 1 - strength
        chain = MarkovChain(transition=np.array([[stay, move], [move, stay]]))
        if self.method == "group":
            return length / self.epsilon
        if self.method == "entry":
            return 1 / self.epsilon
        if self.method == "quilt_exact":
            return exact_scale([chain], length, self.epsilon)
        if self.method == "quilt_approximate":
            mass = smallest_stationary_mass(chain.transition)
            return approximate_scale(mass, spectral_gap(chain.transition), length, self.epsilon)
        return 1 / chain_curve(chain, length).budget(self.epsilon).total
