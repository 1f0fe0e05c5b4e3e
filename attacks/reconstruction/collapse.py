"""Exact reconstruction from repeated runs of the mechanisms that collapse (Bai et al. 2026)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import Array, IntArray
from mechanisms.collapse.parity import PARITY

UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reconstruction:
    """Databases that are known with certainty, and since which run.

    Attributes
    ----------
    databases : array of shape (n, e)
        Entries; `UNKNOWN` (-1) throughout where the runs do not reveal the database.
    revealed_at : array of shape (n,)
        Number of runs, from 1, after which the database was certain; 0 where it is not.
    """

    databases: IntArray
    revealed_at: IntArray

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whether each database is revealed, shape (n,)."""
        return self.revealed_at > 0


class Reconstructor(Protocol):
    """An attack that rebuilds whole databases without error, or says that it cannot yet."""

    def reconstruct(self, releases: Array) -> Reconstruction:
        """Rebuild databases from runs ``(n, n_releases, *release_shape)`` on each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedComponent:
    """Against `DecoyDatabase`: the component that changes is the decoy, the other is the data."""

    def reconstruct(self, releases: Array) -> Reconstruction:
        """Rebuild databases from runs ``(n, k, 2, e)``."""
        pairs = np.asarray(releases, dtype=np.int64)
        same = (pairs == pairs[:, :1]).all(axis=-1)
        at = _first_change(~same.all(axis=-1))
        rows = np.arange(len(pairs))
        true_side = same[rows, at].argmax(axis=-1)  # at the change one side alone is as before
        return _where_changed(pairs[rows, 0, true_side], at)


@dataclass(frozen=True, slots=True, kw_only=True)
class XorReconstruction:
    """Against `ParityRelease`: all differences xor the parity give the first bit, it the rest."""

    def reconstruct(self, releases: Array) -> Reconstruction:
        """Rebuild databases from runs ``(n, k, n_bits)``."""
        runs = np.asarray(releases, dtype=np.int64)
        at = _first_change(runs[:, :, 0] != runs[:, :1, 0])
        rows = np.arange(len(runs))
        one, other = runs[:, 0], runs[rows, at]
        starts_with_parity = one[:, :1] == PARITY
        differences = np.where(starts_with_parity, other, one)[:, 1:]
        parity = np.where(starts_with_parity, one, other)[:, 1]
        first = (differences.sum(axis=1) + parity) % 2
        bits = np.column_stack([first, differences ^ first[:, None]])
        return _where_changed(bits, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonElement:
    """Against `CasePair`: two different outputs share one case, the true one."""

    def reconstruct(self, releases: Array) -> Reconstruction:
        """Rebuild databases ``(secret, member)`` from runs ``(n, k, 2)``."""
        cases = np.asarray(releases, dtype=np.int64)
        same = cases == cases[:, :1]
        at = _first_change(~same.all(axis=-1))
        rows = np.arange(len(cases))
        side = same[rows, at].argmax(axis=-1)
        return _where_changed(np.column_stack([1 - side, cases[rows, 0, side]]), at)


def _first_change(changed: Array) -> IntArray:
    """Return the index of the first run that differs from run 0, or 0 where none does."""
    return changed.argmax(axis=1)


def _where_changed(databases: IntArray, at: IntArray) -> Reconstruction:
    return Reconstruction(
        databases=np.where(at[:, None] > 0, databases, UNKNOWN),
        revealed_at=np.where(at > 0, at + 1, 0),
    )
