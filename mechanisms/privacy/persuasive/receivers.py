"""Classes of receivers' priors, and whether posteriors stay in them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.check import FloatArray, IntArray, within
from mechanisms.privacy.persuasive.cell_priors import CellPrior
from mechanisms.privacy.persuasive.finite_receiver import FiniteKernel

SAME_LAW = 1e-9
EDGE = 1e-12  # rounding must not put a receiver at the edge outside


@dataclass(frozen=True, slots=True)
class AnyPrior:
    """Every prior on the databases: conjugate to every mechanism."""

    name: str = "every prior"

    def leaves_class(self, mechanism: object) -> None:
        """Return None: a posterior is a prior again."""
        del mechanism


@dataclass(frozen=True, slots=True)
class TwoPointPriors:
    """Priors on two neighbouring databases: conjugate to every mechanism.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), section 4.
    """

    name: str = "two-point priors on neighbours"

    def leaves_class(self, mechanism: object) -> None:
        """Return None: Bayes' rule never adds a possible database."""
        del mechanism


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedPriors:
    """A finite list of priors.

    Parameters
    ----------
    priors : array of shape (q, k)
    name : str
    """

    priors: FloatArray
    name: str = "listed priors"

    def leaves_class(self, mechanism: object) -> str | None:
        """Return the first posterior of a listed mechanism that is not listed itself."""
        if not isinstance(mechanism, FiniteKernel):
            return "posteriors of a mechanism that is not a finite kernel are not listed"
        posteriors = mechanism.posterior(self.priors)
        possible = np.asarray(self.priors) @ mechanism.probabilities > 0
        for q, t in np.argwhere(possible):
            gaps = np.abs(np.asarray(self.priors) - posteriors[q, t]).max(axis=1)
            if gaps.min() > SAME_LAW:
                return f"prior {q} after output {t} is none of the {len(self.priors)} listed"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCountReceivers:
    """Receivers with independent cells who find a suppressed count likely enough.

    ``Q_i(low <= z < threshold) >= alpha`` for every cell i.

    Parameters
    ----------
    threshold : int
    alpha : float in (0, 1]
    low : int
        1 where zeros are published, else 0.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), section 5.2.
    """

    threshold: int
    alpha: float
    low: int = 0

    def __post_init__(self) -> None:
        within("alpha", self.alpha, 0, 1, ends="(]")

    @property
    def name(self) -> str:
        """How tables name the class."""
        return f"independent cells with P({self.low} <= count < {self.threshold}) >= {self.alpha:g}"

    def admits_cells(self, prior: CellPrior, table: IntArray) -> bool:
        """Whether a receiver finds a small count likely enough in every cell of a table."""
        low, high = np.full(table.shape, self.low), np.full(table.shape, self.threshold - 1)
        return bool((prior.log_probability(low, high, table) >= math.log(self.alpha) - EDGE).all())

    def leaves_class(self, mechanism: object) -> str | None:
        """Return the reason: a published count leaves a posterior without small counts."""
        del mechanism
        return "after a published count the posterior gives small counts probability 0"
