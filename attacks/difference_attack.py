"""Differencing as an attack of the benchmark: two released sums that differ in one target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Target, Transcript, UnsupportedMechanismError, Yields
from attacks.differencing import Differencing, difference_limits
from attacks.interval.cell_limits import rounded_cells, suppressed_cells
from mechanisms.base import HasNoiseCovariance
from mechanisms.check import Array, FloatArray, IntArray
from mechanisms.deterministic.cell_suppression import CellSuppression
from mechanisms.deterministic.rounding import RandomRounding, Rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencingAttack:
    """Subtract the inner sum from the outer one, and name the secret that the difference fits.

    What each secret adds to the difference is learnt from the shadow worlds' exact answers, which
    must not vary within a secret. The release's noise enters by its variance; suppressed and
    rounded sums leave an interval of differences.
    """

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> DifferenceScorer:
        """Learn what each secret adds; refuse answers that are no pair of such sums."""
        del rng
        answers = np.asarray(shadow.answers, dtype=np.float64)
        if answers.ndim != 2 or answers.shape[1] != 2:
            raise UnsupportedMechanismError("differencing needs answers of an outer and inner sum")
        gaps = answers[:, 0] - answers[:, 1]
        candidates = []
        for secret in range(target.n_secrets):
            own = gaps[shadow.secret == secret]
            if not own.size or np.ptp(own) > 0:
                raise UnsupportedMechanismError("the difference is not the secret's alone")
            candidates.append(float(own[0]))
        rule = target.mechanism
        if isinstance(rule, CellSuppression | Rounding | RandomRounding):
            return DifferenceScorer(candidates=np.array(candidates), rule=rule)
        if not isinstance(rule, HasNoiseCovariance):
            raise UnsupportedMechanismError("the variance of the mechanism's noise is not known")
        noise = np.asarray(rule.noise_covariance)
        whole = noise if noise.shape == (2, 2) else np.zeros((2, 2))
        variance = float(np.array([1, -1]) @ whole @ np.array([1, -1]))
        return DifferenceScorer(candidates=np.array(candidates), variance=variance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DifferenceScorer:
    """The attack on one mechanism."""

    candidates: FloatArray
    variance: float = 0.0
    rule: CellSuppression | Rounding | RandomRounding | None = None

    def score(self, releases: Array) -> FloatArray:
        """Return log-scores ``(n, n_secrets)`` of releases ``(n, k, 2)``."""
        if self.rule is None:
            average = np.asarray(releases, dtype=np.float64).mean(axis=1)
            variance = self.variance / releases.shape[1]
            return Differencing(candidates=self.candidates, noise_variance=variance).score(average)
        lower, upper = self._limits(np.asarray(releases, dtype=np.int64))
        fits = (self.candidates >= lower[:, None]) & (self.candidates <= upper[:, None])
        return np.where(fits, 0.0, -np.inf)

    def _limits(self, releases: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return between which differences all releases leave the true one."""
        ends = []
        for j in range(releases.shape[1]):
            seen = releases[:, j]
            limits = (
                suppressed_cells(
                    seen, threshold=self.rule.threshold, publish_zeros=self.rule.publish_zeros
                )
                if isinstance(self.rule, CellSuppression)
                else rounded_cells(seen, self.rule)  # type: ignore[arg-type]
            )
            outer, inner = (
                (limits.lower[:, side], limits.upper[:, side].astype(np.float64))
                for side in range(2)
            )
            ends.append(difference_limits(outer, inner))
        lower, upper = zip(*ends, strict=True)
        return np.max(lower, axis=0), np.min(upper, axis=0)
