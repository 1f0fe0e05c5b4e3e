"""Capture-24: activities of 151 people over a day, in the original format, or a stand-in."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bench.datasets.activities.recording_clock import RecordingClock
from bench.datasets.activities.synthetic_activities import synthetic_statistics
from bench.datasets.sequences.sequence_statistics import (
    Entries,
    SequenceStatistics,
    Steps,
    check_steps,
    from_entries,
    with_notes_on,
)
from bench.datasets.source import DataError, folder_with
from bench.datasets.table.table_file import TableFile
from bench.datasets.table.times import SECOND, check_unit
from mechanisms.check import IntArray, positive, whole

DICTIONARY = "annotation-label-dictionary.csv"
METADATA = "metadata.csv"
LABELS = "label:WillettsMET2018"


@dataclass(frozen=True, kw_only=True)
class Capture24:
    """Activity labels of windows of time, grouped by age band; some participants are queried.

    A window's label is the most frequent among its annotated and unannotated samples (ties: first
    in the order of the labels); no transition is counted over an unannotated or missing window. In
    the queried part such windows are hidden steps of the participant's one sequence: a claim counts
    them. With ``steps="changes"`` at least one change is taken to lie in such a gap.

    Parameters
    ----------
    folder : str or None
        With ``P001.csv.gz`` ..., ``annotation-label-dictionary.csv`` and ``metadata.csv``; None
        looks in the folder named by ``BENCH_DATA`` (or ``capture24`` in it), then beside the
        checkout; without the files a SYNTHETIC population stands in.
    window : float in (0, inf)
        Seconds.
    held_out : int
        Participants of each age band that are queried; the others train.
    labelling : str
        Column of the dictionary.
    steps : {"all", "changes"}
        Every window is a step, or only a change of activity, which the published text calls a
        transition.
    seed : int
        Of the choice of the held-out participants.
    unit : {"s", "ms", "us", "ns"}, or None
        Of times that are numbers, counted from any moment; None finds the one under which all of
        them lie in 1990 to 2100.

    Notes
    -----
    The stand-in does not heed `window`, `labelling`, `seed` and `unit`; it says so in the notes.

    References
    ----------
    Chan et al. (2024), CAPTURE-24, Scientific Data 11.
    """

    folder: str | None = None
    window: float = 30.0
    held_out: int = 8
    labelling: str = LABELS
    steps: Steps = "all"
    seed: int = 0
    unit: str | None = None

    def __post_init__(self) -> None:
        positive("window", self.window, infinite=False)
        whole("held_out", self.held_out)
        whole("seed", self.seed, low=0)
        check_unit(self.unit)
        check_steps(self.steps)
        if not isinstance(self.labelling, str) or not self.labelling:
            raise ValueError(f"labelling must name a column, got labelling={self.labelling!r}.")

    @property
    def _where(self) -> str | None:
        return folder_with(DICTIONARY, self.folder, "capture24")

    @property
    def synthetic(self) -> bool:
        """Whether the synthetic population stands in for the files."""
        return self._where is None

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The participants' statistics."""
        if self._where is None:
            stand_in = synthetic_statistics(self.held_out, self.steps)
            return with_notes_on(stand_in, self, "window", "labelling", "seed", "unit")
        files = sorted(Path(self._where).iterdir())
        stamp = tuple((file.name, file.stat().st_mtime_ns) for file in files)
        return read_capture24(
            self._where,
            stamp,
            self.window,
            self.held_out,
            self.labelling,
            self.steps,
            self.seed,
            self.unit,
        )


@functools.lru_cache(maxsize=4)
def read_capture24(
    folder: str, stamp: tuple[tuple[str, int], ...], window: float, held_out: int, labelling: str,
    steps: Steps, seed: int, unit: str | None,
) -> SequenceStatistics:  # fmt: skip
    """Read all participants once a process; `stamp` tells changed files apart."""
    del stamp
    root = Path(folder)
    names = label_names(root / DICTIONARY, labelling)
    ages = age_bands(root / METADATA)
    paths = sorted(root.glob("P[0-9]*.csv*"))
    files = {path.name.split(".")[0]: path for path in paths}
    if len(files) < len(paths):
        raise DataError(f"{root} has several files of one participant among its {len(paths)}.")
    if not files:
        raise DataError(f"{root} has no participants' files P001.csv.gz, P002.csv.gz, ...")
    absent = sorted(set(files) - set(ages))
    if absent:
        raise DataError(f"{root / METADATA} does not list {', '.join(absent[:3])}.")
    states, groups = tuple(sorted(set(names.values()))), tuple(sorted(set(ages.values())))
    queried = choose_held_out({pid: ages[pid] for pid in files}, held_out, seed)
    parts, unknown, set_back = [], 0, []
    for pid, path in files.items():
        pieces, strange, rows = sequences_of(path, names, states, window, unit)
        unknown += strange
        set_back += [f"{pid} in data row {row}" for row in rows]
        parts += [(pid, gap, piece) for gap, piece in pieces]
    if not parts:
        raise DataError(f"{root} has no annotated window.")
    sizes = [piece.size for _, _, piece in parts]
    hidden = np.zeros(sum(sizes), dtype=np.int64)
    hidden[np.cumsum(sizes) - sizes] = [gap for _, gap, _ in parts]
    number = {pid: i for i, pid in enumerate(files)}
    notes = [f"{len(files)} participants, {len(queried)} of them queried"]
    if unknown:
        notes.append(f"{unknown} samples with annotations outside the dictionary: unannotated")
    if set_back:
        listed = ", ".join(set_back[:3]) + (", ..." if len(set_back) > 3 else "")
        often = "once" if len(set_back) == 1 else f"{len(set_back)} times"
        notes.append(f"the local clock steps back {often} ({listed}): what follows is an hour on")
    if hidden.any():
        notes.append(f"{int(hidden.sum())} unannotated or missing windows inside recordings")
    return from_entries(
        Entries(
            states=states,
            groups=groups,
            sequence=np.repeat(np.arange(len(parts)), sizes),
            state=np.concatenate([piece for _, _, piece in parts]),
            group=np.repeat([groups.index(ages[pid]) for pid, _, _ in parts], sizes),
            training=np.repeat([pid not in queried for pid, _, _ in parts], sizes),
            owner=np.repeat([number[pid] for pid, _, _ in parts], sizes),
            hidden=hidden,
            notes=tuple(notes),
        ),
        steps,
    )


def label_names(path: Path, labelling: str) -> Mapping[str, str]:
    """Return the label of every annotation."""
    return _mapping(path, "annotation", labelling)


def age_bands(path: Path) -> Mapping[str, str]:
    """Return the age band of every participant."""
    return _mapping(path, "pid", "age")


def _mapping(path: Path, key: str, value: str) -> dict[str, str]:
    table = TableFile(path=str(path), missing=("",)).read(key, value)
    keys = table.labels(key)
    if keys.counts.max() > 1:
        raise DataError(f"{path} lists {keys.names[int(keys.counts.argmax())]!r} twice.")
    return dict(zip(keys.names, table.text(value).to_pylist(), strict=True))


def choose_held_out(ages: Mapping[str, str], held_out: int, seed: int) -> frozenset[str]:
    """Choose the queried participants of each age band; some must be left to train."""
    rng = np.random.default_rng(seed)
    chosen: list[str] = []
    for band in sorted(set(ages.values())):
        members = sorted(pid for pid, age in ages.items() if age == band)
        if len(members) <= held_out:
            raise DataError(
                f"held_out={held_out} leaves nobody of the {len(members)} aged {band} to train."
            )
        chosen += rng.choice(members, size=held_out, replace=False).tolist()
    return frozenset(chosen)


def sequences_of(
    path: Path, names: Mapping[str, str], states: Sequence[str], window: float,
    unit: str | None = None,
) -> tuple[list[tuple[int, IntArray]], int, list[int]]:  # fmt: skip
    """Return a participant's unbroken sequences of labels, and what is to be told.

    Returns
    -------
    list of (int, array of int)
        Each sequence, and the number of windows that are missing before it.
    int
        Samples whose annotation is not in the dictionary.
    list of int
        Data rows in which the local clock steps back.
    """
    code = {annotation: states.index(label) for annotation, label in names.items()}
    none = len(states)  # unannotated
    seen: dict[int, IntArray] = {}
    clock, unknown = RecordingClock(unit), 0
    for block in TableFile(path=str(path)).batches("time", "annotation"):
        texts = block.labels("annotation")
        known = np.array([code.get(kind, none) for kind in texts.names])
        strange = np.array([bool(kind) and kind not in code for kind in texts.names])
        unknown += int(texts.counts[strange].sum())
        place = clock.since_start(block, "time") // round(window * SECOND)
        windows, inverse = np.unique(place, return_inverse=True)
        counts = np.bincount(inverse * (none + 1) + known[texts.codes],
                             minlength=windows.size * (none + 1))  # fmt: skip
        for number, row in zip(windows.tolist(), counts.reshape(-1, none + 1), strict=True):
            seen[number] = seen[number] + row if number in seen else row
    found = sorted(n for n, row in seen.items() if row.argmax() < none)
    labels = np.array([seen[n].argmax() for n in found], dtype=np.int64)
    missing = np.diff(found) - 1
    cuts = np.flatnonzero(missing > 0) + 1
    gaps = [0, *missing[cuts - 1].tolist()]
    pieces = np.split(labels, cuts)
    found_pieces = [(g, p) for g, p in zip(gaps, pieces, strict=True) if p.size]
    return found_pieces, unknown, clock.set_back
