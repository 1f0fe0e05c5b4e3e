"""What the ranking study keeps of label sequences: counts, transitions and lengths."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from bench.datasets.source import DataError
from mechanisms.check import IntArray, one_of

OTHER = "Other"
CHUNK = 1_000_000

Steps = Literal["all", "changes"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SequenceStatistics:
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
        Entries that depend on each other in the query part, hidden ones between them included, of
        each user; all at least 1.
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
        if self.lengths.size == 0 or self.lengths.sum() < self.query.sum():
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
    def sequence_statistics(self) -> SequenceStatistics:
        """The sequences' statistics; raise DataError where they cannot be read."""

    @property
    def synthetic(self) -> bool:
        """Whether the sequences are synthetic."""


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
    owner : array of shape (n,), or None
        Whose sequence an entry belongs to, not decreasing, where one has several that depend on
        each other; None: each sequence stands by itself.
    hidden : array of shape (n,), or None
        Steps that were not observed between an entry and the owner's entry before.
    notes : tuple of str
    """

    states: tuple[str, ...]
    groups: tuple[str, ...]
    sequence: NDArray[np.integer]
    state: NDArray[np.integer]
    group: NDArray[np.integer]
    training: NDArray[np.bool_]
    owner: NDArray[np.integer] | None = None
    hidden: NDArray[np.integer] | None = None
    notes: tuple[str, ...] = ()

    @property
    def together(self) -> NDArray[np.integer]:
        """Which entries depend on each other: those of an owner."""
        return self.sequence if self.owner is None else self.owner


def with_notes_on(
    statistics: SequenceStatistics, population: object, *unheeded: str
) -> SequenceStatistics:
    """Tell which options a synthetic stand-in does not heed, where they are not the defaults."""
    defaults = {field.name: field.default for field in dataclasses.fields(population)}  # type: ignore[arg-type]
    notes = [
        f"{name}={getattr(population, name)!r} has no effect on the SYNTHETIC population"
        for name in unheeded
        if getattr(population, name) != defaults[name]
    ]
    return dataclasses.replace(statistics, notes=(*statistics.notes, *notes))


def check_steps(steps: str) -> None:
    """Refuse what is no kind of steps."""
    one_of("steps", steps, get_args(Steps))


def from_entries(entries: Entries, steps: Steps = "all") -> SequenceStatistics:
    """Count entries; with ``steps="changes"`` a repeated label inside a part is no entry.

    Works on sequences of about a million entries at a time, so that memory stays that of the
    entries themselves.
    """
    return accumulate(_split(entries), steps, entries.notes)


def _split(entries: Entries) -> Iterator[Entries]:
    """Yield all entries of some owners, about CHUNK entries at a time."""
    n, whose = entries.state.size, entries.together
    columns = {
        name: column
        for name in ("sequence", "state", "group", "training", "owner", "hidden")
        if (column := getattr(entries, name)) is not None
    }
    ends = [0, *np.unique(np.searchsorted(whose, whose[CHUNK:n:CHUNK])).tolist(), n]
    for start, stop in itertools.pairwise(ends):
        own = {name: column[start:stop] for name, column in columns.items()}
        yield dataclasses.replace(entries, **own)


def accumulate(parts: Iterable[Entries], steps: Steps, notes: Sequence[str]) -> SequenceStatistics:
    """Count entries in parts of the same states and groups, no sequence in two of them."""
    check_steps(steps)
    states, groups, moved, counted, lengths = zip(
        *((part.states, part.groups, *_counts(part, steps)) for part in parts), strict=True
    )
    counts = np.sum(counted, axis=0)
    return SequenceStatistics(
        states=states[0],
        groups=groups[0],
        transitions=np.sum(moved, axis=0),
        training=counts[0],
        query=counts[1],
        lengths=np.concatenate(lengths),
        notes=tuple(notes),
    )


def _counts(part: Entries, steps: Steps) -> tuple[NDArray[np.integer], ...]:
    """Return transitions (k, k), label counts (2, G, k) and the lengths of query parts."""
    k, g, n = len(part.states), len(part.groups), part.state.size
    state, training, sequence = part.state.astype(np.intp), part.training, part.sequence
    joined = np.zeros(n, dtype=bool)  # with the entry before
    joined[1:] = (sequence[1:] == sequence[:-1]) & (training[1:] == training[:-1])
    kept = np.ones(n, dtype=bool)
    if steps == "changes":
        kept[1:] = ~joined[1:] | (state[1:] != state[:-1])
    moved = np.flatnonzero(joined & training & kept)
    transitions = np.bincount(state[moved - 1] * k + state[moved], minlength=k * k)
    cell = part.group.astype(np.intp) * k + state + (g * k) * ~training
    counts = np.bincount(cell[kept], minlength=2 * g * k)
    whose = part.together - part.together[:1]
    lengths = np.bincount(whose[~training & kept], minlength=1)
    if part.hidden is not None:
        inside = np.append(False, whose[1:] == whose[:-1]) & ~training
        hidden = np.bincount(whose[inside], part.hidden[inside], minlength=lengths.size)
        lengths = np.where(lengths > 0, lengths + hidden[: lengths.size].astype(np.int64), 0)
    return transitions.reshape(k, k), counts.reshape(2, g, k), lengths[lengths > 0]
