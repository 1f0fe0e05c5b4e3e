"""Classes of Gaussian receivers, by how strong their prior is against linear statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechanisms.check import BoolArray, FloatArray, positive, within
from mechanisms.deterministic.gaussian_gain import GaussianGain

Spread = Literal["condition", "eigenvalue", "marginal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianReceivers:
    """Gaussian receivers who are not too wrong about the statistics, nor too sure of one entry.

    Q_x holds N(mu, S) where, with T = A x the released statistics,

    - ``(T - A mu)' (A S A')^-1 (T - A mu) <= r1``: the statistics do not surprise them too much;
    - for every entry ``1 / (1 - R_i^2) <= r2``, or a stronger condition chosen by `spread`.

    Parameters
    ----------
    r1 : float in (0, inf)
    r2 : float in (1, inf)
    spread : {"condition", "eigenvalue", "marginal"}
        "condition" is the paper's class, for the mean alone:
        ``cond(Phi) <= r2 (1 - sigma_i^2 / |sigma|^2)`` with Phi the correlation matrix;
        "eigenvalue" puts 1 / lam_min(Phi) in place of cond(Phi), a larger class;
        "marginal" bounds ``1 / (1 - R_i^2)`` itself, the largest class with this kappa.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), section 5.1.
    """

    r1: float
    r2: float
    spread: Spread = "marginal"

    def __post_init__(self) -> None:
        positive("r1", self.r1, infinite=False)
        within("r2", self.r2, 1, math.inf, ends="()")
        if self.spread not in ("condition", "eigenvalue", "marginal"):
            raise ValueError(
                'spread must be "condition", "eigenvalue" or "marginal", '
                f"got spread={self.spread!r}."
            )

    @property
    def name(self) -> str:
        """How tables name the class."""
        return f"Gaussian receivers with r1={self.r1:g}, r2={self.r2:g} ({self.spread})"

    def leaves_class(self, mechanism: object) -> str:
        """Return the reason: the posterior given an exact statistic is degenerate."""
        del mechanism
        return (
            "given an exact statistic the posterior is degenerate, given a noisy one its r2 grows"
        )

    def admits(self, gain: GaussianGain, x: FloatArray) -> BoolArray:
        """Return at which databases `x` ``(..., n)`` a receiver belongs to the class: (...)."""
        if needed_spread(gain, self.spread) > self.r2:
            return np.zeros(np.shape(x)[:-1], dtype=bool)
        return surprise(gain, x) <= self.r1


def smallest_class(
    gain: GaussianGain, x: FloatArray, *, spread: Spread = "marginal"
) -> tuple[float, float]:
    """Return the smallest (r1, r2) whose class admits a receiver at database `x`.

    Parameters
    ----------
    gain : GaussianGain
        The receiver and the exact statistics; its noise is left out of account.
    x : array of shape (n,)
    spread : {"condition", "eigenvalue", "marginal"}
        The first two need a single statistic with equal weights: the mean, or the sum.

    Returns
    -------
    r1, r2 : float
        r2 is inf where no class admits the receiver: a singular correlation matrix, or under
        "marginal" statistics that determine an entry.
    """
    return float(surprise(gain, x)), needed_spread(gain, spread)


def surprise(gain: GaussianGain, x: FloatArray) -> FloatArray:
    """Return ``(T - A mu)' (A S A')^-1 (T - A mu)`` at databases ``(..., n)``, shape (...)."""
    clean = replace(gain, noise=None)
    return clean.surprise(np.asarray(x, dtype=np.float64) @ clean.matrix.T)


def needed_spread(gain: GaussianGain, spread: Spread) -> float:
    """Return the smallest r2 that admits a receiver; inf where none does."""
    if spread == "marginal":
        smallest = float(replace(gain, noise=None).gain()[1].min())
        return 1 / smallest if smallest > 0 else math.inf
    weights = gain.matrix
    if len(weights) != 1 or (weights != weights[0, 0]).any() or weights[0, 0] == 0:
        raise ValueError(
            f'spread must be "marginal" for statistics other than the mean, got {spread!r}.'
        )
    receiver = gain.receiver
    values = np.linalg.eigvalsh(receiver.correlation)
    # Rounding must not turn a singular matrix into one with a huge condition number.
    if values[0] <= receiver.size * np.finfo(np.float64).eps * values[-1]:
        return math.inf
    numerator = values[-1] / values[0] if spread == "condition" else 1 / values[0]
    shares = receiver.deviations**2 / (receiver.deviations**2).sum()
    largest = 1 - float(shares.max())
    return float(numerator / largest) if largest > 0 else math.inf
