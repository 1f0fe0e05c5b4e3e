"""Laws with finitely many atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import check
from mechanisms.check import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteLaw:
    """Probabilities on finitely many points, kept sorted, merged and without zero weights.

    All fields are keyword-only, so that values and weights cannot be confused; a sample of
    values becomes a law by `of_sample`, a table of counts by `of_counts`.

    Parameters
    ----------
    atoms : array of shape (n, *answer_shape)
        Points of the law, in units of the query: shape (n,) on the line, (n, m) for vectors, more
        axes for tables. Order and repetitions do not matter.
    weights : array of shape (n,)
        Probabilities in [0, 1] that sum to 1.
    counts : integer array of shape (n,), optional
        Numerators of the weights, where these are fractions of a whole number of records.
        With them, couplings are computed in exact integer arithmetic.

    Examples
    --------
    >>> law = FiniteLaw(atoms=[1.0, 0.0, 1.0], weights=[0.25, 0.5, 0.25])
    >>> law.atoms.tolist(), law.weights.tolist()
    ([0.0, 1.0], [0.5, 0.5])
    """

    atoms: FloatArray
    weights: FloatArray
    counts: IntArray | None = None

    def __post_init__(self) -> None:
        atoms = check.finite("atoms", self.atoms)
        check.weights("weights", self.weights)
        weights = np.asarray(self.weights, dtype=np.float64)
        if atoms.ndim == 0 or weights.shape != atoms.shape[:1]:
            raise ValueError(
                f"atoms must have one row per weight, got shapes {atoms.shape} and {weights.shape}."
            )
        rows = atoms.reshape(len(atoms), -1)
        # Weights are the last key, and the total is taken after sorting: no sum depends on the
        # order of the input.
        order = np.lexsort((weights, *rows.T[::-1]))
        order = order[weights[order] > 0]
        atoms, rows = atoms[order] + 0.0, rows[order]  # + 0.0: -0 and 0 are one point
        weights = weights[order] / weights[order].sum()
        new = np.ones(len(atoms), dtype=bool)
        new[1:] = (np.diff(rows, axis=0) != 0).any(axis=1)
        starts = np.flatnonzero(new)
        object.__setattr__(self, "atoms", atoms[starts])
        object.__setattr__(self, "weights", np.add.reduceat(weights, starts))
        if self.counts is not None:
            counts = np.asarray(self.counts, dtype=np.int64)[order]
            object.__setattr__(self, "counts", np.add.reduceat(counts, starts))

    @classmethod
    def of_counts(cls, *, atoms: object, counts: object) -> FiniteLaw:
        """Return the empirical law of a table of counts (whole numbers, at least one positive)."""
        table = np.asarray(counts)
        if not np.issubdtype(table.dtype, np.integer) or (table < 0).any() or not table.any():
            raise ValueError(f"counts must be whole, non-negative and not all 0, got {counts!r}.")
        points = check.finite("atoms", atoms)
        return cls(atoms=points, weights=table / table.sum(), counts=table.astype(np.int64))

    @classmethod
    def of_sample(cls, values: object) -> FiniteLaw:
        """Return the empirical law of a sample of values, each with weight 1/n.

        Examples
        --------
        >>> FiniteLaw.of_sample([0.5, 0.5, 0.0, 0.0]).atoms.tolist()
        [0.0, 0.5]
        """
        sample = check.finite("values", values)
        points, counts = np.unique(sample, axis=0, return_counts=True)
        return cls.of_counts(atoms=points, counts=counts)

    @property
    def on_line(self) -> FiniteLaw:
        """The same law with atoms of shape (n,); the answer must have one coordinate."""
        if self.atoms.ndim == 1:
            return self
        if self.atoms[0].size != 1:
            raise ValueError(f"the answer must be one number, got shape {self.atoms.shape[1:]}.")
        return FiniteLaw(atoms=self.atoms.ravel(), weights=self.weights, counts=self.counts)

    @property
    def as_vectors(self) -> FiniteLaw:
        """The same law with atoms of shape (n, m)."""
        if self.atoms.ndim == 2:
            return self
        rows = self.atoms.reshape(len(self.atoms), -1)
        return FiniteLaw(atoms=rows, weights=self.weights, counts=self.counts)

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw `size` answers, shape (size, *answer_shape)."""
        return self.atoms[rng.choice(self.weights.size, size=size, p=self.weights)]
