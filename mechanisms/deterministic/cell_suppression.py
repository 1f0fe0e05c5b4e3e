"""Suppression of small cells of a table of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, whole, within
from mechanisms.deterministic.count_table import Axes, BoolArray, Margin, check_axes, counts
from mechanisms.deterministic.marks import PRIMARY, SECONDARY, Marks, with_one_mark
from mechanisms.deterministic.protection import ProtectionProblem, Suppression
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.persuasive.cell_priors import CellPrior, ListedPrior
from mechanisms.privacy.persuasive.kappa_claim import persuasive_guarantee
from mechanisms.privacy.persuasive.receivers import SmallCountReceivers

COUNTER_EXAMPLE = (
    "with totals released the cells are tied together: in rows (1, 1, 7, 1, 0) and (1, 0, 0, 2, 8) "
    "at threshold 2 all seven suppressed cells are recovered from the margins"
)

TIED = "released totals tie the cells together: a cell's posterior is not its own"
UNUSED = np.random.default_rng(0)  # of a release without chance


class SecondarySuppression(Protocol):
    """A method that chooses further cells to suppress, so that totals do not reveal small ones."""

    def suppress(self, problem: ProtectionProblem) -> Suppression:
        """Choose the complements of one table."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellSuppression:
    """Release a count where it is at least a threshold, else a mark.

    Parameters
    ----------
    threshold : int, at least 2
        h: smaller counts are suppressed.
    alpha : float in (0, 1], optional
        Of the receivers for whom the guarantee is stated; None states none.
    sensitive_below : int, optional
        r: counts from r on are not sensitive; by default the threshold. Above it nothing can be
        claimed, since sensitive counts are then released.
    publish_zeros : bool
        False suppresses zeros as other small counts, as in the paper. True publishes them: then
        suppressed counts are at least 1, and zeros count as not sensitive.
    margins : tuple of tuples of int
        Which totals are released beside, each by the axes that it keeps; () is the grand total.
    secondary : SecondarySuppression, optional
        Chooses complements where margins are released.
    marks : {"two", "one"}
        Whether the release tells primary from secondary cells. Without `secondary` every
        suppressed cell is marked primary.
    structural : boolean array of the table's shape, optional
        Cells that cannot hold a unit, such as husbands under ten: published as 0, never
        suppressed, and known to everyone. A count of 0 elsewhere is a true zero.
    """

    sees: ClassVar[Sees] = "answers"
    deterministic: ClassVar[bool] = True
    threshold: int
    alpha: float | None = None
    sensitive_below: int | None = None
    publish_zeros: bool = False
    margins: tuple[Axes, ...] = ()
    secondary: SecondarySuppression | None = None
    marks: Marks = "two"
    structural: BoolArray | None = None

    def __post_init__(self) -> None:
        whole("threshold", self.threshold, low=2)
        if self.alpha is not None:
            within("alpha", self.alpha, 0, 1, ends="(]")
        if self.sensitive_below is not None:
            whole("sensitive_below", self.sensitive_below, low=1)
        if self.marks not in ("two", "one"):
            raise ValueError(f'marks must be "two" or "one", got marks={self.marks!r}.')
        object.__setattr__(self, "margins", tuple(tuple(axes) for axes in self.margins))

    @property
    def smallest_suppressed(self) -> int:
        """Smallest count that is suppressed: 1 where zeros are published, else 0."""
        return int(self.publish_zeros)

    @property
    def guarantee(self) -> Guarantee | NoClaim:
        """``-log alpha`` under the primary rule with nothing else released; else no claim."""
        if self.margins or self.secondary is not None:
            return NoClaim(reason=COUNTER_EXAMPLE)
        if self.alpha is None:
            return NoClaim(reason="no class of receivers was stated (alpha)")
        sensitive = self.threshold if self.sensitive_below is None else self.sensitive_below
        if sensitive > self.threshold:
            return NoClaim(
                reason=f"counts from {self.threshold} to {sensitive - 1} are sensitive and released"
            )
        notes = [
            "the paper's definition of this score is lost: the guarantee rests on a reconstruction "
            f"(-log P(x_i) for counts below {sensitive}, 0 from there on), under which it is tight",
            "cells are independent for the receiver; nothing else is released",
        ]
        if self.publish_zeros:
            notes.append("zeros are published and not protected")
        return persuasive_guarantee(
            scores=f"negative log probability of every count below {sensitive}"
            + (", zeros excepted" if self.publish_zeros else ""),
            receivers=SmallCountReceivers(
                threshold=self.threshold, alpha=self.alpha, low=self.smallest_suppressed
            ),
            kappa=max(0.0, -math.log(self.alpha)),
            delta=0.0,
            theorem="Bon, Bailie, Rousseau and Robert (2026), Proposition 8",
            notes=tuple(notes),
        )

    def repeated_guarantee(self, n_releases: int) -> Guarantee | NoClaim:
        """Return the guarantee of one release: the same table again says nothing new."""
        del n_releases
        return self.guarantee

    def primary(self, table: Array) -> BoolArray:
        """Return which cells of counts ``(..., *shape)`` are suppressed for being small."""
        cells = np.asarray(table, dtype=np.int64)
        small = (cells < self.threshold) & (cells >= self.smallest_suppressed)
        if self.structural is None:
            return small
        structural = np.asarray(self.structural, dtype=bool)
        if structural.shape != cells.shape[cells.ndim - structural.ndim :]:
            raise ValueError(
                f"structural must have the table's shape, got {structural.shape} for cells "
                f"{cells.shape}."
            )
        if (cells * structural).any():
            raise ValueError("structural cells must have count 0, got a unit in one of them.")
        return small & ~structural

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Release tables ``(n_trials, *shape)`` with negative marks for suppressed cells."""
        del rng
        tables = counts("counts", x, trials=True)
        released = np.where(self.primary(tables), PRIMARY, tables)
        if self.secondary is None:
            return released
        # Complements are a function of the table: equal tables are solved once.
        distinct, where = np.unique(tables.reshape(len(tables), -1), axis=0, return_inverse=True)
        shape = tables.shape[1:]
        chosen = [self.complements(table.reshape(shape)).complements for table in distinct]
        released[np.stack(chosen)[where.ravel()]] = SECONDARY
        return with_one_mark(released) if self.marks == "one" else released

    def complements(self, table: Array) -> Suppression:
        """Choose the secondary cells of one table ``(*shape,)``, with what is known of them."""
        if self.secondary is None:
            raise ValueError("secondary must name a method to choose complements, got None.")
        return self.secondary.suppress(self.protection(table))

    def protection(self, table: Array) -> ProtectionProblem:
        """Return the problem that secondary suppression solves for one table."""
        cells = counts("table", table)
        return ProtectionProblem(
            table=cells,
            primary=self.primary(cells),
            margins=self.margins,
            threshold=self.threshold,
            publish_zeros=self.publish_zeros,
            marks=self.marks,
            structural=self.structural,
        )

    def public_margins(self, table: Array) -> tuple[Margin, ...]:
        """Return the totals of one table ``(*shape,)`` that are released beside it."""
        check_axes(np.asarray(table).ndim, self.margins)
        return tuple(Margin.of(table, axes) for axes in self.margins)

    @property
    def ties(self) -> str:
        """Why a cell's posterior is not its own: released totals; empty without them."""
        return TIED if self.margins or self.secondary is not None else ""

    def losses(self, table: Array, priors: FloatArray) -> FloatArray:
        """Return each cell's score gain, for a receiver with independent cells; exact.

        Only the primary rule is reckoned with: no margins, no complements.

        Parameters
        ----------
        table : array of shape (*shape,)
        priors : array of shape (*shape, s)
            Probability of each count 0 to s - 1 in each cell; rows sum to 1.
        """
        cells = counts("table", table)
        pmf = np.asarray(priors, dtype=np.float64)
        if pmf.shape[:-1] != cells.shape or cells.max() >= pmf.shape[-1]:
            raise ValueError(
                f"priors must have shape {(*cells.shape, int(cells.max()) + 1)} or more counts, "
                f"got {pmf.shape}."
            )
        return self.cell_gains(self.release(cells[None], UNUSED), cells, ListedPrior(pmf=pmf))[0]

    def cell_outcomes(self, table: IntArray, prior: CellPrior) -> tuple[FloatArray, FloatArray]:
        """Return gain and probability 1 of each cell's only release, each ``(*shape, 1)``."""
        released = np.where(self.primary(table), PRIMARY, table)
        gains = self.cell_gains(released[None], table, prior)[0][..., None]
        return gains, np.ones(gains.shape)

    def cell_gains(self, releases: IntArray, table: IntArray, prior: CellPrior) -> FloatArray:
        """Return the score gains by releases ``(n, *shape)`` of one table: (n, *shape)."""
        low = np.full(table.shape, self.smallest_suppressed)
        sensitive = self.threshold if self.sensitive_below is None else self.sensitive_below
        own = prior.log_probability(table, table, table)
        hidden = prior.log_probability(low, np.full(table.shape, self.threshold - 1), table)
        # A suppressed count's probability rises by 1 / Q(suppressed), a released one's to 1.
        known = np.where(releases < 0, hidden, own)
        protected = (table >= low) & (table < sensitive) & (own > -np.inf)
        if self.structural is not None:
            protected &= ~np.asarray(self.structural, dtype=bool)
        return -np.where(protected, known, 0.0)
