"""Counts rounded to multiples of a base."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, whole, within
from mechanisms.deterministic.count_table import Axes, counts
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.persuasive.cell_priors import CellPrior
from mechanisms.privacy.persuasive.kappa_claim import persuasive_guarantee

EDGE = 1e-12  # rounding must not put a receiver at the edge outside
TIED = "released totals tie the cells together: a cell's posterior is not its own"
UNUSED = np.random.default_rng(0)  # of a release without chance


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

    def admits_cells(self, prior: CellPrior, table: IntArray) -> bool:
        """Whether a receiver finds every cell's true rounding interval likely enough."""
        low, high = Rounding(base=self.base).limits_of(table)
        return bool((prior.log_probability(low, high, table) >= math.log(self.alpha) - EDGE).all())

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
    margins : tuple of tuples of int
        Which exact totals are released beside, each by the axes that it keeps: then nothing is
        claimed.
    """

    sees: ClassVar[Sees] = "answers"
    deterministic: ClassVar[bool] = True
    base: int
    alpha: float | None = None
    margins: tuple[Axes, ...] = ()

    def __post_init__(self) -> None:
        whole("base", self.base, low=2)
        if self.alpha is not None:
            within("alpha", self.alpha, 0, 1, ends="(]")

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """``-log alpha``: the posterior is the prior restricted to the rounding interval.

        The gain is ``-log Q_i(interval)``, whatever the count, so the bound is tight. It says
        little: a receiver who is sure to within the base has nothing to gain, and no prior is
        protected for being vague.
        """
        if self.margins:
            return NoClaim(reason="totals tie rounded cells together: counts can be recovered")
        if self.alpha is None:
            return NoClaim(reason="rounding is deterministic, and no class of receivers was stated")
        return persuasive_guarantee(
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

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return the guarantee of one release: the same table again says nothing new."""
        del n_releases
        return self.guarantee

    def limits(self, released: Array) -> tuple[IntArray, IntArray]:
        """Return the smallest and largest count behind each released multiple."""
        low, high = self.base // 2, (self.base - 1) // 2
        return _limits(released, self.base, low, high)

    def limits_of(self, table: Array) -> tuple[IntArray, IntArray]:
        """Return the smallest and largest count that round as those of a table ``(*shape,)``."""
        return self.limits(self.release(np.asarray(table)[None], UNUSED)[0])

    @property
    def ties(self) -> str:
        """Why a cell's posterior is not its own: released totals; empty without them."""
        return TIED if self.margins else ""

    def cell_outcomes(self, table: IntArray, prior: CellPrior) -> tuple[FloatArray, FloatArray]:
        """Return gain and probability 1 of each cell's only release, each ``(*shape, 1)``."""
        gains = self.cell_gains(self.release(table[None], UNUSED), table, prior)[0][..., None]
        return gains, np.ones(gains.shape)

    def cell_gains(self, releases: IntArray, table: IntArray, prior: CellPrior) -> FloatArray:
        """Return the gains ``-log Q(interval)`` by releases ``(n, *shape)``: (n, *shape)."""
        low, high = self.limits(releases)
        return _gain(1.0, prior.log_probability(low, high, table), prior, table)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomRounding:
    """Release every count rounded to one of the two nearest multiples, unbiased.

    A count x between two multiples of the base is rounded up with probability
    ``(x mod base) / base``, so that the release's mean is x; a multiple stays.

    Parameters
    ----------
    base : int, at least 2
    margins : tuple of tuples of int
        Which exact totals are released beside, each by the axes that it keeps.
    """

    sees: ClassVar[Sees] = "answers"
    deterministic: ClassVar[bool] = False
    base: int
    margins: tuple[Axes, ...] = ()

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

    @property
    def ties(self) -> str:
        """Why a cell's posterior is not its own: released totals; empty without them."""
        return TIED if self.margins else ""

    def cell_outcomes(self, table: IntArray, prior: CellPrior) -> tuple[FloatArray, FloatArray]:
        """Return gains and probabilities of rounding down and up, each ``(*shape, 2)``."""
        floor, rest = np.divmod(table, self.base)
        both = np.stack([floor, floor + 1]) * self.base
        gains = np.moveaxis(self.cell_gains(both, table, prior), 0, -1)
        probabilities = np.stack([1 - rest / self.base, rest / self.base], axis=-1)
        return np.where(probabilities > 0, gains, 0.0), probabilities

    def cell_gains(self, releases: IntArray, table: IntArray, prior: CellPrior) -> FloatArray:
        """Return the gains by releases ``(n, *shape)`` of one table: (n, *shape).

        ``log m(x, v) - log sum over z of Q(z) m(z, v)``, with m the probability of the multiple v.
        """
        predicted = np.full(releases.shape, -np.inf)
        for step in range(1 - self.base, self.base):
            at = releases + step
            known = np.where(at >= 0, prior.log_probability(at, at, table), -np.inf)
            predicted = np.logaddexp(predicted, known + math.log(1 - abs(step) / self.base))
        return _gain(1 - np.abs(releases - table) / self.base, predicted, prior, table)


def _gain(
    given: FloatArray | float, predicted: FloatArray, prior: CellPrior, table: IntArray
) -> FloatArray:
    """Return ``log given - predicted``, a logarithm too; 0 where the prior excludes the truth."""
    possible = (prior.log_probability(table, table, table) > -np.inf) & (predicted > -np.inf)
    with np.errstate(divide="ignore"):
        return np.where(possible, np.log(given) - np.where(possible, predicted, 0.0), 0.0)


def _limits(released: Array, base: int, low: int, high: int) -> tuple[IntArray, IntArray]:
    cells = counts("released counts", released)
    if (cells % base).any():
        raise ValueError(f"released counts must be multiples of {base}, got one that is not.")
    return np.maximum(cells - low, 0), cells + high
