"""Where a chain comes from: a matrix in the configuration, or a fit to sequences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from bench.datasets.source import DataError
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
        """Whether the chain is made up."""


@dataclass(frozen=True, kw_only=True)
class GivenChain:
    """A chain written down in the configuration.

    Parameters
    ----------
    transition : nested sequence, k rows of k numbers
        From row to column; rows sum to 1.
    initial : "stationary", "free" or sequence of k numbers
        Law of the first state; "free" is every law.
    states : sequence of str, or None
        Labels; None numbers them from 0.
    """

    transition: Sequence[Sequence[float]]
    initial: str | Sequence[float] = "stationary"
    states_named: Sequence[str] | None = None
    lengths: tuple[int, ...] = ()
    synthetic: bool = True

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
        CSV with a header; one row an entry. Rows of one user in order of time, ties in file order;
        numbers are ordered as numbers, everything else as text (ISO dates sort right).
    user, time, label : str
        Names of the columns.
    states_named : sequence of str, or None
        All states; a label outside them is an error. None takes the labels found, sorted.
    smoothing : float in [0, 1)
        Mass given to every transition that was never seen.

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
    synthetic: bool = False

    @cached_property
    def sequences(self) -> list[list[str]]:
        """The label sequences, users in order of first appearance."""
        table = read_sequences(Path(self.path), (self.user, self.time, self.label))
        groups = table.groupby(self.user, sort=False)[self.label]
        return [list(labels) for _, labels in groups]

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


def read_sequences(path: Path, columns: tuple[str, str, str]) -> pd.DataFrame:
    """Read the three columns as text, sorted by time within users; refuse what does not fit."""
    user, time, label = columns
    try:
        table = pd.read_csv(path, dtype=str, na_filter=False)
    except FileNotFoundError:
        raise DataError(f"no file {path}.") from None
    except (OSError, ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        line = str(error).splitlines()[0]
        raise DataError(f"{path} cannot be read as CSV: {line}.") from error
    for name in columns:
        if name not in table:
            raise DataError(f"{path} has no column {name!r}; it has {', '.join(table.columns)}.")
    empty = (table[list(columns)] == "").any(axis=1)
    if empty.any() or table.empty:
        where = f"an empty cell in data row {int(empty.argmax()) + 1}" if len(table) else "no rows"
        raise DataError(f"{path} must have a user, a time and a label in every row, got {where}.")
    moments = pd.to_numeric(table[time], errors="coerce")
    keys = moments if moments.notna().all() else table[time]
    order = keys.argsort(kind="stable")
    return table[[user, time, label]].iloc[order.to_numpy()].reset_index(drop=True)


def chain_digest(chain: MarkovChain) -> str:
    """Return the sha256 of transition matrix and initial law."""
    total = hashlib.sha256(chain.transition.tobytes())
    initial = chain.initial
    total.update(initial.encode() if isinstance(initial, str) else initial.tobytes())
    return total.hexdigest()
