"""The receivers of a scenario that releases a table of counts, and what they gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from mechanisms.check import FloatArray, IntArray
from mechanisms.deterministic.count_table import counts
from mechanisms.privacy.bracket import NotComputableError
from mechanisms.privacy.notion import PlayedCell
from mechanisms.privacy.persuasive.cell_priors import CellPrior
from mechanisms.privacy.persuasive.loss_quantile import exact_kappa
from mechanisms.privacy.persuasive.notion import Gains, Receivers, worst
from mechanisms.privacy.persuasive.receiver_class import ReceiverClass


@runtime_checkable
class AdmitsCells(Protocol):
    """A class of receivers with independent cells that knows which of them it admits."""

    def admits_cells(self, prior: CellPrior, table: IntArray) -> bool:
        """Whether a receiver belongs to the class at a table ``(*shape,)``."""


@runtime_checkable
class HasCellGains(Protocol):
    """A mechanism that knows what receivers with independent cells gain by its releases.

    Cells are released one by one, and nothing ties them together.
    """

    @property
    def deterministic(self) -> bool:
        """Whether the release is a function of the table."""

    @property
    def ties(self) -> str:
        """Why the posterior of a cell is not its own; empty where it is."""

    def cell_outcomes(self, table: IntArray, prior: CellPrior) -> tuple[FloatArray, FloatArray]:
        """Return gains and probabilities of each cell's releases, each ``(*shape, outcomes)``."""

    def cell_gains(self, releases: IntArray, table: IntArray, prior: CellPrior) -> FloatArray:
        """Return each cell's gain in releases ``(n, *shape)`` of one table: (n, *shape)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellReceivers(Receivers):
    """Receivers who think the cells of a table independent.

    Parameters
    ----------
    priors : tuple of CellPrior
    """

    priors: tuple[CellPrior, ...]

    def gains(self, cell: PlayedCell, admitted: ReceiverClass | None, delta: float) -> Gains:
        """Return the gains over all cells of all worlds' tables; see `Receivers.gains`."""
        mechanism = cell.mechanism
        if not isinstance(mechanism, HasCellGains):
            raise NotComputableError(
                f"the gain of receivers with independent cells is not known for "
                f"{type(mechanism).__name__}"
            )
        if mechanism.ties:
            raise NotComputableError(mechanism.ties)
        if admitted is not None and not isinstance(admitted, AdmitsCells):
            raise NotComputableError(
                f"receivers with independent cells are none of the class {admitted.name}"
            )
        if cell.n_releases > 1 and not mechanism.deterministic:
            raise NotComputableError("the joint law of several random releases is not computed")
        tables = counts("answers", cell.answers, trials=True)
        distinct, where = np.unique(tables.reshape(len(tables), -1), axis=0, return_inverse=True)
        found, realised = [], []
        for number, flat in enumerate(distinct):
            table = flat.reshape(tables.shape[1:])
            releases = cell.releases[where.ravel() == number, 0].astype(np.int64)
            for prior in self.priors:
                if admitted is not None and not admitted.admits_cells(prior, table):
                    continue
                found.append(exact_kappa(*mechanism.cell_outcomes(table, prior), delta=delta))
                gained = mechanism.cell_gains(releases, table, prior).reshape(len(releases), -1)
                realised.append(gained.T)
        return Gains(
            exact=worst(found),
            realised=tuple(realised),
            deterministic=mechanism.deterministic,
        )
