"""The scale attack: parameters that were read off the protected records tell of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Target, Transcript, Yields
from mechanisms.check import Array, FloatArray

CERTAIN = 50.0  # log-odds of a match: more than any number of worlds certifies


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Compare a mechanism's published parameters with those that each secret would have led to.

    Whoever knows all records but one secret calibrates the mechanism once for each of its values,
    as the curator did, and sees which one was published: a scale that is a function of the
    protected records is a release without noise. Where both values lead to the same parameters
    nothing is learnt from them.
    """

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = False
    adaptive: ClassVar[bool] = False
    needs: ClassVar = ("candidates",)

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> ScaleAttacker:
        """Return the attacker: there is nothing to learn."""
        del shadow, target, rng
        return ScaleAttacker()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleAttacker:
    """Scores secrets by whether they lead to what was published."""

    def score(self, releases: Array, candidates: Array) -> FloatArray:
        """Return scores ``(n, n_secrets)``.

        Parameters
        ----------
        releases : array of shape (n, 1, p)
            Published parameters.
        candidates : array of shape (n, n_secrets, p)
            What each value of the secret would have led to.
        """
        same = (np.asarray(candidates) == np.asarray(releases)[:, :1]).all(axis=2)
        return np.where(same, 0.0, -CERTAIN)
