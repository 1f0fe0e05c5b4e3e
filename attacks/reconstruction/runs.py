"""How many runs until a secret is out: waiting times, some of them cut off at a cap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from attacks.reconstruction.collapse import Reconstructor
from mechanisms.base import Mechanism
from mechanisms.check import Array, FloatArray, whole, within


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunsUntilRevealed:
    """The numbers of runs after which each of n secrets was revealed, watched up to a cap.

    Parameters
    ----------
    runs : array of shape (n,), entries in [0, cap] or inf
        inf where nothing was revealed within `cap` runs. 0: known before the first run.
    cap : int
    """

    runs: FloatArray
    cap: int

    def __post_init__(self) -> None:
        runs = np.asarray(self.runs, dtype=np.float64)
        whole("cap", self.cap)
        if runs.ndim != 1 or runs.size == 0:
            raise ValueError(f"runs must have shape (n,) with n > 0, got shape {runs.shape}.")
        late = runs[~((runs >= 0) & ((runs <= self.cap) | np.isinf(runs)))]
        if late.size:
            raise ValueError(f"runs must be in [0, {self.cap}] or inf, got {late[0]:g}.")
        object.__setattr__(self, "runs", runs)

    @property
    def not_yet_revealed(self) -> float:
        """Share of secrets that `cap` runs do not reveal."""
        return float(np.isinf(self.runs).mean())

    def revealed_within(self) -> FloatArray:
        """Return the share revealed within 0, 1, ..., cap runs, shape (cap + 1,)."""
        ended = self.runs[np.isfinite(self.runs)].astype(np.int64)
        return np.cumsum(np.bincount(ended, minlength=self.cap + 1)) / self.runs.size

    @property
    def median(self) -> float | None:
        """Smallest number of runs within which half are revealed; None where the cap is less."""
        return self.quantile(0.5)

    def quantile(self, q: float) -> float | None:
        """Return the smallest number of runs within which a share `q` is revealed, or None."""
        within("q", q, 0, 1, ends="(]")
        value = float(np.sort(self.runs)[math.ceil(q * self.runs.size) - 1])
        return value if math.isfinite(value) else None

    def quantile_interval(self, q: float, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the quantile of the law of runs, coverage at least `level`.

        An upper end beyond the cap is inf.
        """
        low, high = order_interval(self.runs, q, level)
        return max(0.0, low), high

    @property
    def mean(self) -> float | None:
        """Mean number of runs; None unless every secret was revealed."""
        return None if np.isinf(self.runs).any() else float(self.runs.mean())


def order_interval(values: FloatArray, q: float, level: float = 0.95) -> tuple[float, float]:
    """Return an interval for the q-quantile of the law of `values` (n,), coverage >= `level`.

    Order statistics (Conover, 1999, Section 3.2): no law is assumed, and the number of values
    below the quantile is binomial. Too few values for an end leave it infinite.
    """
    within("q", q, 0, 1, ends="()")
    tail = (1 - within("level", level, 0, 1, ends="()")) / 2
    n = len(values)
    ranked = np.concatenate([[-math.inf], np.sort(values), [math.inf]])
    # The r-th smallest value exceeds the quantile with probability P(Bin(n, q) < r), at most.
    low, high = int(binom.ppf(tail, n, q)), int(binom.ppf(1 - tail, n, q)) + 1
    return float(ranked[low]), float(ranked[high])


def run_until_revealed(
    mechanism: Mechanism,
    attack: Reconstructor,
    databases: Array,
    cap: int,
    rng: np.random.Generator,
) -> RunsUntilRevealed:
    """Run a mechanism on each database until the attack is certain of it, or up to a cap.

    Parameters
    ----------
    mechanism : Mechanism
        Sees databases.
    attack : Reconstructor
    databases : array of shape (n, e)
    cap : int
        Largest number of runs on one database.
    rng : numpy.random.Generator
    """
    runs = np.full(len(databases), math.inf)
    left = np.arange(len(databases))
    seen = mechanism.release(databases, rng)[:, None]
    for k in range(1, whole("cap", cap) + 1):
        revealed = attack.reconstruct(seen).revealed_at > 0
        runs[left[revealed]] = k
        left, seen = left[~revealed], seen[~revealed]
        if left.size == 0 or k == cap:
            break
        seen = np.concatenate([seen, mechanism.release(databases[left], rng)[:, None]], axis=1)
    return RunsUntilRevealed(runs=runs, cap=cap)
