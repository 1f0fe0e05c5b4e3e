"""What a curator knows of small databases: all of them, and how likely each is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.base import Knowledge
from mechanisms.check import FloatArray, IntArray, weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatabasePrior(Knowledge):
    """All possible databases, with their law.

    Parameters
    ----------
    databases : array of whole numbers, shape (m, e)
        Each once.
    prior : array of shape (m,)
        Probabilities, sum 1.
    secret : array of shape (m,), or None
        Code of the secret of each database, 0, 1, ...; None where secrets overlap (the value of
        every entry is one).
    """

    databases: IntArray
    prior: FloatArray
    secret: IntArray | None

    def __post_init__(self) -> None:
        rows, prior = np.asarray(self.databases), weights("prior", self.prior)
        if rows.ndim != 2 or prior.shape != rows.shape[:1]:
            raise ValueError(
                f"prior must have one entry a database ({len(rows)}), got {prior.size}."
            )
        if len(np.unique(rows, axis=0)) < len(rows):
            raise ValueError("databases must all be different.")
        if self.secret is not None and np.shape(self.secret) != prior.shape:
            raise ValueError(
                f"secret must have one code a database ({len(rows)}), got {len(self.secret)}."
            )
        object.__setattr__(self, "prior", prior)
