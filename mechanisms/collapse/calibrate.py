"""The mechanisms that collapse, set up for the databases that a scenario says are possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray
from mechanisms.collapse.case_pair import CasePair, Interval
from mechanisms.collapse.decoy import DecoyDatabase
from mechanisms.collapse.knowledge import DatabasePrior
from mechanisms.collapse.parity import MOST_BITS, ParityRelease
from mechanisms.privacy.budget import NoBudget

CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoy:
    """Calibrates to `DecoyDatabase` under the scenario's prior; there is no dial."""

    requires: ClassVar = (DatabasePrior,)
    accepts: ClassVar = NoBudget

    def calibrate(self, known: DatabasePrior, *, budget: NoBudget) -> DecoyDatabase:
        """Return the mechanism; the secret must have two values."""
        del budget
        if known.secret is None or set(np.asarray(known.secret).tolist()) != {0, 1}:
            raise NotApplicableError("a decoy needs one secret of two values for each database")
        return DecoyDatabase(databases=known.databases, prior=known.prior, secret=known.secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Calibrates to `ParityRelease` where the prior makes bits independent with one share."""

    requires: ClassVar = (DatabasePrior,)
    accepts: ClassVar = NoBudget
    allow_two_bits: bool = False

    def calibrate(self, known: DatabasePrior, *, budget: NoBudget) -> ParityRelease:
        """Return the mechanism; databases must be all rows of bits, independent alike."""
        del budget
        rows = np.asarray(known.databases)
        n_bits = rows.shape[1]
        if not np.isin(rows, (0, 1)).all() or n_bits > MOST_BITS:
            raise NotApplicableError(f"a parity needs databases of bits, {MOST_BITS} at most")
        if n_bits < 2 or (n_bits == 2 and not self.allow_two_bits):
            raise NotApplicableError(
                "a parity needs 3 bits or more: of 2 it is the second bit itself"
            )
        share = float(known.prior @ rows[:, 0])
        alike = np.where(rows == 1, share, 1 - share).prod(axis=1)
        if not _same(known.prior, alike) or not np.isclose(alike.sum(), 1):
            raise NotApplicableError(
                "a parity needs a prior of independent bits with one share, all rows possible"
            )
        return ParityRelease(n_bits=n_bits, share=share, allow_two_bits=self.allow_two_bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """Calibrates to `CasePair` for a class of priors that holds the scenario's own.

    Parameters
    ----------
    share_if_true, share_if_false : (float, float)
        Ends of the intervals of P(member | secret) and P(member | no secret) over the class.
    """

    requires: ClassVar = (DatabasePrior,)
    accepts: ClassVar = NoBudget
    share_if_true: Interval
    share_if_false: Interval

    def __post_init__(self) -> None:
        self._mechanism()

    def _mechanism(self) -> CasePair:
        return CasePair(share_if_true=self.share_if_true, share_if_false=self.share_if_false)

    def calibrate(self, known: DatabasePrior, *, budget: NoBudget) -> CasePair:
        """Return the mechanism; databases must be rows (secret, member) of bits."""
        del budget
        rows = np.asarray(known.databases)
        secret = None if known.secret is None else np.asarray(known.secret)
        pairs = rows.shape[1] == 2 and np.isin(rows, (0, 1)).all()
        if not pairs or secret is None or (secret != rows[:, 0]).any():
            raise NotApplicableError("case pairs need databases that are rows (secret, member)")
        for value, (low, high) in ((1, self.share_if_true), (0, self.share_if_false)):
            mass = known.prior * (rows[:, 0] == value)
            share = float(mass @ rows[:, 1] / mass.sum())
            if not low - CLOSE <= share <= high + CLOSE:
                raise NotApplicableError(
                    f"P(member | secret = {value}) must be in [{low:g}, {high:g}], the class of "
                    f"priors of the claim; the scenario has {share:g}"
                )
        return self._mechanism()


def _same(first: FloatArray, second: FloatArray) -> bool:
    return bool(np.allclose(first, second, rtol=0, atol=CLOSE))
