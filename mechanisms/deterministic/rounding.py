"""Counts rounded to multiples of a base."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import Sees
from mechanisms.check import Array, IntArray, whole, within
from mechanisms.deterministic.count_table import counts
from mechanisms.privacy.guarantee import NoClaim
from mechanisms.privacy.persuasive.persuasive_guarantee import PersuasiveGuarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedCountReceivers:
    """Receivers with independent cells who find the true rounding interval likely enough.

    Q_x holds the priors with ``Q_i(z rounds to the same multiple as x_i) >= alpha``.
    """

    base: int
    alpha: float

    @property
    def name(self) -> str:
        """How tables name the class."""
        return f"independent cells with P(count rounds as the truth does) >= {self.alpha:g}"

    def leaves_class(self, mechanism: object) -> None:
        """Return None: a posterior lies wholly in the interval of the truth."""
        del mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """Release every count rounded to the nearest multiple of a base, halves upwards.

    Parameters
    ----------
    base : int, at least 2
    alpha : float in (0, 1], optional
        Of the receivers for whom a guarantee is stated; None states none.
    margins_released : bool
        Whether exact totals are released beside: then nothing is claimed.
    """

    sees: ClassVar[Sees] = "answers"
    base: int
    alpha: float | None = None
    margins_released: bool = False

    def __post_init__(self) -> None:
        whole("base", self.base, low=2)
        if self.alpha is not None:
            within("alpha", self.alpha, 0, 1, ends="(]")

    @property
    def guarantee(self) -> PersuasiveGuarantee | NoClaim:
        """``-log alpha``: the posterior is the prior restricted to the rounding interval.

        The gain is ``-log Q_i(interval)``, whatever the count, so the bound is tight. It says
        little: a receiver who is sure to within the base has nothing to gain, and no prior is
        protected for being vague.
        """
        if self.margins_released:
            return NoClaim(reason="totals tie rounded cells together: counts can be recovered")
        if self.alpha is None:
            return NoClaim(reason="rounding is deterministic, and no class of receivers was stated")
        return PersuasiveGuarantee(
            scores="negative log probability of every cell",
            receivers=RoundedCountReceivers(base=self.base, alpha=self.alpha),
            kappa=max(0.0, -math.log(self.alpha)),
            delta=0.0,
            theorem="Bon, Bailie, Rousseau and Robert (2026), as Proposition 8 (derived)",
            notes=("cells are independent for the receiver", "nothing else is released"),
        )

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Round tables ``(n_trials, *shape)``."""
        del rng
        cells = counts("counts", x, trials=True)
        return (cells + self.base // 2) // self.base * self.base

    def limits(self, released: Array) -> tuple[IntArray, IntArray]:
        """Return the smallest and largest count behind each released multiple."""
        low, high = self.base // 2, (self.base - 1) // 2
        return _limits(released, self.base, low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomRounding:
    """Release every count rounded to one of the two nearest multiples, unbiased.

    A count x between two multiples of the base is rounded up with probability
    ``(x mod base) / base``, so that the release's mean is x; a multiple stays.

    Parameters
    ----------
    base : int, at least 2
    """

    sees: ClassVar[Sees] = "answers"
    base: int

    def __post_init__(self) -> None:
        whole("base", self.base, low=2)

    @property
    def guarantee(self) -> NoClaim:
        """Claim nothing: some releases exclude neighbouring counts, and averages recover counts."""
        return NoClaim(
            reason="random rounding has bounded support: a release can exclude a neighbouring "
            "count, and the mean of several releases is the count"
        )

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Round tables ``(n_trials, *shape)``, every cell independently."""
        cells = counts("counts", x, trials=True)
        floor, rest = np.divmod(cells, self.base)
        up = rng.random(cells.shape) * self.base < rest
        return (floor + up) * self.base

    def limits(self, released: Array) -> tuple[IntArray, IntArray]:
        """Return the smallest and largest count behind each released multiple."""
        return _limits(released, self.base, self.base - 1, self.base - 1)


def _limits(released: Array, base: int, low: int, high: int) -> tuple[IntArray, IntArray]:
    cells = counts("released counts", released)
    if (cells % base).any():
        raise ValueError(f"released counts must be multiples of {base}, got one that is not.")
    return np.maximum(cells - low, 0), cells + high
