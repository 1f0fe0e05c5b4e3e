"""Where a chain comes from: a matrix in the configuration, or a fit to sequences."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from bench.datasets.sequences.public_part import PublicPart, codes_of
from bench.datasets.sequences.sequence_file import in_order, read_sequences, states_of
from bench.datasets.source import DataError
from bench.datasets.table.label_option import label_text
from bench.datasets.table.labels import Labels
from bench.datasets.table.table_file import TableFile
from mechanisms.check import IntArray
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.fit import SMOOTHING, FittedChain, fit_chain

LISTED = 5


class ChainSource(Protocol):
    """A chain, the labels of its states, and the lengths of the sequences behind it."""

    @property
    def chain(self) -> MarkovChain:
        """Transition matrix and law (or laws) of the first state."""

    @property
    def states(self) -> tuple[str, ...]:
        """Labels of the states, in the order of the matrix."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the sequences that the chain was fitted to; empty for a given one."""

    @property
    def digest(self) -> str:
        """Identity of the chain."""

    @property
    def synthetic(self) -> bool:
        """Whether the chain is invented rather than counted in records."""


@runtime_checkable
class HasSequences(Protocol):
    """A source that keeps the sequences that its chain was fitted to."""

    @property
    def sequences(self) -> Sequence[Sequence[Hashable]]:
        """The label sequences."""


@dataclass(frozen=True, kw_only=True)
class GivenChain:
    """A chain written down in the configuration.

    Parameters
    ----------
    transition : nested sequence, k rows of k numbers
        From row to column; rows sum to 1.
    initial : "stationary", "free" or sequence of k numbers
        Law of the first state; "free" is every law.
    states_named : sequence of str, int or bool, or None
        Labels; None numbers them from 0.
    """

    transition: Sequence[Sequence[float]]
    initial: str | Sequence[float] = "stationary"
    states_named: Sequence[str | int | bool] | None = None

    lengths: ClassVar[tuple[int, ...]] = ()
    synthetic = True

    @cached_property
    def chain(self) -> MarkovChain:
        """The chain; refuses a matrix that is none."""
        initial = self.initial if isinstance(self.initial, str) else np.array(self.initial)
        return MarkovChain(transition=np.array(self.transition), initial=initial)  # type: ignore[arg-type]

    @property
    def states(self) -> tuple[str, ...]:
        """Labels of the states."""
        size = len(self.chain.transition)
        given = self.states_named or range(size)
        names = tuple(label_text("states_named", name) for name in given)
        if len(set(names)) != size:
            raise ValueError(f"states_named must name {size} states, got {names}.")
        return names

    @property
    def digest(self) -> str:
        """Hash of matrix and initial law."""
        return chain_digest(self.chain)


@dataclass(frozen=True, kw_only=True)
class FittedSequences(PublicPart, TableFile):
    """A first-order chain fitted to the label sequences of a table's users, a row an entry.

    A user's rows are sorted by time, ties in file order; times are numbers of any size or ISO
    dates, which are compared as moments, whatever their offsets. Rows that repeat user, time and
    label count once.

    Parameters
    ----------
    user, time, label : str
        Names of the columns.
    states_named : sequence of str, int or bool, or None
        All states as the file writes them; a label outside them is an error. None takes the labels
        found, sorted.
    smoothing : float in [0, 1)
        Mass given to every transition that was never seen.

    Notes
    -----
    `path`, `separator`, `encoding`, `decimal`, `names` and `missing` are those of `TableFile`,
    `calibrate_on`, `public_share`, `part_seed` and `theta` those of `PublicPart`.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Appendix D.2.
    """

    user: str | int = "user"
    time: str | int = "time"
    label: str | int = "label"
    states_named: Sequence[str | int | bool] | None = None
    smoothing: float = SMOOTHING

    synthetic = False

    def __post_init__(self) -> None:
        TableFile.__post_init__(self)
        self.check_part()

    @cached_property
    def _rows(self) -> tuple[pd.DataFrame, Labels, tuple[str, ...]]:
        """Codes of the rows in order, the labels, and what was done while they were read."""
        table = read_sequences(self, self.user, self.time, self.label)
        label = table.labels(self.label)
        rows, notes = in_order(table.labels(self.user), table.order(self.time), label=label)
        return rows, label, (*table.notes, *notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many rows there are, and what was dropped, reordered or assumed."""
        return (*self._rows[2], *never_left_notes(self.fitted.never_left))

    @cached_property
    def sequences(self) -> list[list[str]]:
        """The label sequences, users in order of first appearance."""
        rows, label, _ = self._rows
        names = np.array(label.names, dtype=object)
        ends = np.flatnonzero(np.diff(rows["sequence"])) + 1
        return [part.tolist() for part in np.split(names[rows["label"]], ends)]

    @cached_property
    def fitted(self) -> FittedChain:
        """The fit: counts, smoothed chain, states never left."""
        _, label, _ = self._rows
        public, _ = self.parts(self.sequences)
        if self.states_named is None:
            return fit_chain(public, sorted(label.names), smoothing=self.smoothing)
        named = [label_text("states_named", name) for name in self.states_named]
        found = states_of(self.states_named, label, "states_named")
        if len(found) < len(named):
            raise DataError(f"states_named must be distinct, got {', '.join(named)}.")
        return fit_chain(public, found, smoothing=self.smoothing)

    @cached_property
    def user_chains(self) -> tuple[MarkovChain, ...]:
        """Chains of single users that Theta holds beside the fitted one."""
        public, _ = self.parts(self.sequences)
        return self.chains_of_users(public, self.fitted, self.smoothing)

    @cached_property
    def protected(self) -> list[IntArray]:
        """The sequences that are to be protected, as codes of the states."""
        return codes_of(self.parts(self.sequences)[1], self.fitted.states)

    @property
    def chain(self) -> MarkovChain:
        """The fitted chain, started from its stationary law."""
        return self.fitted.chain

    @property
    def states(self) -> tuple[str, ...]:
        """Labels of the states."""
        return tuple(str(state) for state in self.fitted.states)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Length of each user's sequence."""
        return tuple(len(sequence) for sequence in self.sequences)

    @property
    def digest(self) -> str:
        """Hash of the chains and of the protected sequences."""
        return chain_digest(self.chain, *self.user_chains, protected=self.protected)


def never_left_notes(states: Sequence[Hashable]) -> tuple[str, ...]:
    """Tell which states are never left, and what their rows of the chain were set to.

    Examples
    --------
    >>> never_left_notes(["4"])
    ('label 4 is never left: its row of the chain is set to uniform over the other labels',)
    """
    if not states:
        return ()
    listed = ", ".join(map(str, states[:LISTED])) + (", ..." if len(states) > LISTED else "")
    many = len(states) > 1
    return (
        f"{len(states)} labels are never left ({listed}): their rows of the chain are set to "
        "uniform over the other labels"
        if many
        else f"label {listed} is never left: its row of the chain is set to uniform over the other "
        "labels",
    )


def chain_digest(*chains: MarkovChain, protected: Sequence[IntArray] = ()) -> str:
    """Return the sha256 of chains and of the sequences that they protect."""
    total = hashlib.sha256()
    for chain in chains:
        initial = chain.initial
        total.update(chain.transition.tobytes())
        total.update(initial.encode() if isinstance(initial, str) else initial.tobytes())
    for codes in protected:
        total.update(f"{len(codes)}:".encode() + codes.tobytes())
    return total.hexdigest()
