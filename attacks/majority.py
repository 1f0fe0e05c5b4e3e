"""The attacker who ignores the release: the floor that every attack is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Target, Transcript, Yields
from mechanisms.check import Array, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """Always guess the secret that is most frequent among the shadow worlds."""

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = True

    @property
    def adaptive(self) -> bool:
        """Whether the fitted attacker depends on the mechanism."""
        return False

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> ConstantScore:
        """Count the secrets of the shadow worlds."""
        del rng
        counts = np.bincount(shadow.secret, minlength=target.n_secrets)
        with np.errstate(divide="ignore"):
            return ConstantScore(log_shares=np.log(counts / counts.sum()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConstantScore:
    """The same log-scores for every release."""

    log_shares: FloatArray

    def score(self, releases: Array) -> FloatArray:
        """Return the shadow shares, shape (n, n_secrets)."""
        return np.tile(self.log_shares, (len(releases), 1))
