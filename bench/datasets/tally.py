"""What the ranking study keeps of label sequences: counts, transitions and lengths."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.datasets.source import DataError
from mechanisms.check import IntArray

OTHER = "Other"
CHUNK = 4_000_000

Steps = Literal["all", "changes"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """Sufficient statistics of label sequences, split into training and query.

    Parameters
    ----------
    states : tuple of str
        The k labels.
    groups : tuple of str
        The G public groups of entries, such as countries.
    transitions : array of shape (k, k)
        Observed steps from row to column inside the training sequences.
    training, query : arrays of shape (G, k)
        Label counts of each part.
    lengths : array of shape (n,)
        Entries of each user's sequence in the query part, all at least 1.
    notes : tuple of str
        What was dropped, merged, reordered or counted while reading.
    """

    states: tuple[str, ...]
    groups: tuple[str, ...]
    transitions: IntArray
    training: IntArray
    query: IntArray
    lengths: IntArray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        k, g = len(self.states), len(self.groups)
        if len(set(self.states)) < k or len(set(self.groups)) < g:
            raise DataError("states and groups must be distinct.")
        shapes = (self.transitions.shape, self.training.shape, self.query.shape)
        if shapes != ((k, k), (g, k), (g, k)):
            raise DataError(f"counts must be of {g} groups and {k} states, got shapes {shapes}.")
        if not self.transitions.any():
            raise DataError("the training part must hold at least one step between two entries.")
        if self.lengths.size == 0 or self.lengths.sum() != self.query.sum():
            raise DataError("the query part must hold at least one entry, got none.")

    @property
    def digest(self) -> str:
        """The sha256 of names and counts."""
        total = hashlib.sha256("\x1f".join((*self.states, "\x1e", *self.groups)).encode())
        for counts in (self.transitions, self.training, self.query, np.sort(self.lengths)):
            total.update(np.ascontiguousarray(counts, dtype=np.int64).tobytes())
        return total.hexdigest()


class Population(Protocol):
    """Where sequences come from."""

    @property
    def tally(self) -> Tally:
        """The sequences' statistics; raise DataError where they cannot be read."""

    @property
    def synthetic(self) -> bool:
        """Whether the sequences are made up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entries:
    """Entries of sequences, each sequence in order, one sequence after the other.

    Parameters
    ----------
    states, groups : tuple of str
        Names of the codes below.
    sequence : array of shape (n,)
        Number of the sequence that an entry belongs to, not decreasing.
    state, group : arrays of shape (n,)
        Codes.
    training : array of bool, shape (n,)
        Whether an entry belongs to the training part; inside a sequence training comes first.
    notes : tuple of str
    """

    states: tuple[str, ...]
    groups: tuple[str, ...]
    sequence: NDArray[np.integer]
    state: NDArray[np.integer]
    group: NDArray[np.integer]
    training: NDArray[np.bool_]
    notes: tuple[str, ...] = ()


def tallied(entries: Entries, steps: Steps = "all") -> Tally:
    """Count entries; with ``steps="changes"`` a repeated label inside a part is no entry.

    Works on parts of 4 million entries, so that memory stays that of the entries themselves.
    """
    if steps not in ("all", "changes"):
        raise ValueError(f"steps must be 'all' or 'changes', got steps={steps!r}.")
    k, g, n = len(entries.states), len(entries.groups), entries.state.size
    transitions = np.zeros(k * k, dtype=np.int64)
    counts = np.zeros((2, g * k), dtype=np.int64)
    length_of = np.zeros(int(entries.sequence[-1]) + 1 if n else 0, dtype=np.int64)
    for start in range(0, n, CHUNK):
        stop = min(n, start + CHUNK)
        own = slice(start, stop)
        state, group = entries.state[own].astype(np.int64), entries.group[own].astype(np.int64)
        training, sequence = entries.training[own], entries.sequence[own]
        before = np.maximum(np.arange(start, stop) - 1, 0)
        joined = (entries.sequence[before] == sequence) & (entries.training[before] == training)
        if start == 0:
            joined[0] = False
        previous = entries.state[before].astype(np.int64)
        kept = ~(joined & (previous == state)) if steps == "changes" else np.ones_like(joined)
        moved = joined & training & kept
        transitions += np.bincount(previous[moved] * k + state[moved], minlength=k * k)
        cell = group * k + state
        for part, where in enumerate((training & kept, ~training & kept)):
            counts[part] += np.bincount(cell[where], minlength=g * k)
        length_of += np.bincount(sequence[~training & kept], minlength=length_of.size)
    return Tally(
        states=entries.states,
        groups=entries.groups,
        transitions=transitions.reshape(k, k),
        training=counts[0].reshape(g, k),
        query=counts[1].reshape(g, k),
        lengths=length_of[length_of > 0],
        notes=entries.notes,
    )
