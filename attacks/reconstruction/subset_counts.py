"""Reconstruction of a binary column from many noisy counts over subsets of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import linprog, minimize
from sklearn.isotonic import IsotonicRegression

from mechanisms.base import Mechanism
from mechanisms.check import Array, FloatArray, IntArray, finite, one_of, whole, within

Method = Literal["linear_program", "least_squares", "by_size"]

LARGEST_PROGRAM = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubsetReconstruction:
    """Fit fractional bits to the counts, then round each at the Bayes threshold.

    Parameters
    ----------
    queries : array of shape (q, n), entries 0 or 1
        Row i says which of the n rows count i is over.
    method : {"by_size", "linear_program", "least_squares"}
        Fit with the smallest sum of absolute residuals, or of squares, over bits in [0, 1].
        ``"by_size"``: the first up to 256 x 1,024 entries of `queries`, the second beyond.

    References
    ----------
    Dinur and Nissim (2003); Dwork, McSherry, Talwar (2007), Section 3, for the linear program.
    """

    queries: FloatArray
    method: Method = "by_size"

    def __post_init__(self) -> None:
        queries = finite("queries", self.queries)
        if queries.ndim != 2 or not np.isin(queries, (0, 1)).all():
            raise ValueError(
                f"queries must be 0 or 1 and of shape (q, n), got shape {queries.shape}, "
                f"entries from {queries.min():g} to {queries.max():g}."
            )
        one_of("method", self.method, ("linear_program", "least_squares", "by_size"))
        object.__setattr__(self, "queries", queries)

    def fractional(self, releases: Array) -> FloatArray:
        """Return fractional bits in [0, 1], shape (m, n), of releases ``(m, k, q)``, averaged."""
        counts = finite("releases", releases)
        if counts.ndim != 3 or counts.shape[2] != len(self.queries):
            raise ValueError(
                f"releases must have shape (m, k, {len(self.queries)}), got {counts.shape}."
            )
        small = self.queries.size <= LARGEST_PROGRAM
        linear = self.method == "linear_program" or (self.method == "by_size" and small)
        fit = least_absolute_bits if linear else least_squares_bits
        return np.stack([fit(self.queries, row) for row in counts.mean(axis=1)])

    def fit(self, databases: IntArray, releases: Array) -> RoundedReconstruction:
        """Learn P(bit = 1 | fractional value) from databases ``(m, n)`` and their releases.

        It rises with the value, so rounding where it passes 1/2 has the fewest errors on these
        databases of all thresholds, "always 0" and "always 1" (the prior alone) included.
        """
        law = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        law.fit(self.fractional(releases).ravel(), np.asarray(databases).ravel())
        return RoundedReconstruction(attack=self, law=law)

    def simulated(
        self,
        mechanism: Mechanism,
        share: float,
        *,
        size: int,
        n_releases: int,
        rng: np.random.Generator,
    ) -> tuple[IntArray, Array]:
        """Draw databases of independent bits and release their counts.

        Parameters
        ----------
        mechanism : Mechanism
            Releases counts ``(m, q)``.
        share : float in [0, 1]
            Public P(bit = 1).
        size, n_releases : int
        rng : numpy.random.Generator

        Returns
        -------
        databases, releases : arrays of shape (size, n) and (size, n_releases, q)
        """
        within("share", share, 0, 1)
        shape = whole("size", size), self.queries.shape[1]
        databases = (rng.random(shape) < share).astype(np.int64)
        return databases, self.released(mechanism, databases, n_releases, rng)

    def released(
        self, mechanism: Mechanism, databases: IntArray, n_releases: int, rng: np.random.Generator
    ) -> Array:
        """Release the counts of databases ``(m, n)`` several times, shape (m, n_releases, q)."""
        counts = databases @ self.queries.T
        runs = range(whole("n_releases", n_releases))
        return np.stack([mechanism.release(counts, rng) for _ in runs], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoundedReconstruction:
    """A reconstruction with its rounding learnt."""

    attack: SubsetReconstruction
    law: IsotonicRegression

    def posterior(self, releases: Array) -> FloatArray:
        """Return P(bit = 1 | its fractional value), shape (m, n), of releases ``(m, k, q)``."""
        values = self.attack.fractional(releases)
        return self.law.predict(values.ravel()).reshape(values.shape)

    def guess(self, releases: Array) -> IntArray:
        """Return the more probable value of each bit, shape (m, n), of releases ``(m, k, q)``."""
        return (self.posterior(releases) > 0.5).astype(np.int64)


def least_absolute_bits(queries: FloatArray, counts: FloatArray) -> FloatArray:
    """Return bits x in [0, 1]^n that minimise ``sum_i |counts_i - (queries x)_i|``; exact.

    Solved through its dual, which has n rows and not q: ``max counts'l - sum(u)`` over ``|l| <=
    1, u >= 0, queries'l <= u``. The bits are the multipliers of its rows.
    """
    n_queries, n = queries.shape
    found = linprog(
        np.concatenate([-counts, np.ones(n)]),
        A_ub=np.hstack([queries.T, -np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * n_queries + [(0, None)] * n,
        method="highs",
    )
    if not found.success:
        raise ArithmeticError(f"the linear program of the bits failed: {found.message}")
    bits = np.clip(-found.ineqlin.marginals, 0.0, 1.0)
    residual = float(np.abs(counts - queries @ bits).sum())
    # Strong duality certifies the bits, whatever the solver says of itself.
    if abs(residual + found.fun) > 1e-6 * (1 + np.abs(counts).sum()):
        raise ArithmeticError(
            f"the linear program of the bits has a duality gap: {residual:g} and {-found.fun:g}"
        )
    return bits


def least_squares_bits(queries: FloatArray, counts: FloatArray) -> FloatArray:
    """Return bits x in [0, 1]^n that minimise ``|counts - queries x|_2`` (L-BFGS-B)."""
    gram, moments = queries.T @ queries, queries.T @ counts
    scale = float(np.diag(gram).max()) or 1.0
    gram, moments = gram / scale, moments / scale

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        image = gram @ x
        return float(x @ (image / 2 - moments)), image - moments

    n = queries.shape[1]
    return minimize(
        loss,
        np.full(n, 0.5),
        jac=True,
        bounds=[(0, 1)] * n,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-7},
    ).x
