"""Where a chain comes from: a matrix in the configuration, or a fit to sequences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd

from bench.datasets.sequences.sequence_file import in_order, moments, read_columns
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.fit import SMOOTHING, FittedChain, fit_chain


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


@dataclass(frozen=True, kw_only=True)
class GivenChain:
    """A chain written down in the configuration.

    Parameters
    ----------
    transition : nested sequence, k rows of k numbers
        From row to column; rows sum to 1.
    initial : "stationary", "free" or sequence of k numbers
        Law of the first state; "free" is every law.
    states_named : sequence of str, or None
        Labels; None numbers them from 0.
    """

    transition: Sequence[Sequence[float]]
    initial: str | Sequence[float] = "stationary"
    states_named: Sequence[str] | None = None

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
        names = tuple(self.states_named or (str(i) for i in range(size)))
        if len(set(names)) != size:
            raise ValueError(f"states_named must name {size} states, got {names}.")
        return names

    @property
    def digest(self) -> str:
        """Hash of matrix and initial law."""
        return chain_digest(self.chain)


@dataclass(frozen=True, kw_only=True)
class FittedSequences:
    """A first-order chain fitted to the label sequences of a file's users.

    Parameters
    ----------
    path : str
        CSV (also compressed) or parquet file with a header; one row an entry. A user's rows are
        sorted by time, ties in file order; times are all numbers or all ISO dates, which are
        compared as moments, whatever their offsets. Rows that repeat user, time and label count
        once.
    user, time, label : str
        Names of the columns.
    states_named : sequence of str, or None
        All states; a label outside them is an error. None takes the labels found, sorted.
    smoothing : float in [0, 1)
        Mass given to every transition that was never seen.
    separator, encoding : str
        Of a CSV.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Appendix D.2.
    """

    path: str
    user: str = "user"
    time: str = "time"
    label: str = "label"
    states_named: Sequence[str] | None = None
    smoothing: float = SMOOTHING
    separator: str = ","
    encoding: str = "utf-8"

    synthetic = False

    @cached_property
    def _rows(self) -> tuple[pd.DataFrame, list[str]]:
        columns = (self.user, self.time, self.label)
        table = read_columns(self.path, columns, self.separator, self.encoding)
        moment = moments(table[self.time], self.path)
        return in_order({"user": table[self.user], "moment": moment, "label": table[self.label]})

    @property
    def notes(self) -> tuple[str, ...]:
        """What was dropped or reordered while reading."""
        return tuple(self._rows[1])

    @cached_property
    def sequences(self) -> list[list[str]]:
        """The label sequences, users in order of first appearance."""
        table, _ = self._rows
        return [list(labels) for _, labels in table.groupby("sequence")["label"]]

    @cached_property
    def fitted(self) -> FittedChain:
        """The fit: counts, smoothed chain, states never left."""
        found = {label for sequence in self.sequences for label in sequence}
        names = self.states_named or sorted(found)
        return fit_chain(self.sequences, tuple(names), smoothing=self.smoothing)

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
        """Hash of the fitted chain."""
        return chain_digest(self.chain)


def chain_digest(chain: MarkovChain) -> str:
    """Return the sha256 of transition matrix and initial law."""
    total = hashlib.sha256(chain.transition.tobytes())
    initial = chain.initial
    total.update(initial.encode() if isinstance(initial, str) else initial.tobytes())
    return total.hexdigest()
