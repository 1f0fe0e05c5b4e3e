"""Real activity sequences for the ranking study; none of the files is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bench.datasets.activities.mvad import careers, read_mvad
from bench.datasets.sequences.sequence_file import ALL
from bench.datasets.sequences.sequence_statistics import (
    Entries,
    SequenceStatistics,
    Steps,
    check_steps,
    from_entries,
)
from bench.datasets.source import DataError, locate
from mechanisms.check import whole, within

SMARTPHONE = "har_labels/uci_har"
SMARTPHONE_FILES = ("activity_labels.txt", "y_train.txt", "subject_train.txt", "y_test.txt",
                    "subject_test.txt")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CareerRanking:
    """Monthly states of 712 school leavers (mvad), some of them queried.

    Parameters
    ----------
    path : str or None
        CSV with a header and columns ``Jul.93`` to ``Jun.99``; None looks in the folder named
        by ``BENCH_DATA``.
    group : str or None
        Column of the public groups, such as ``male`` or ``Grammar``.
    held_out : float in (0, 1)
        Share of the persons that are queried; the others train.
    seed : int
        Of the choice.
    steps : {"all", "changes"}

    References
    ----------
    McVicar and Anyadike-Danes (2002).
    """

    path: str | None = None
    group: str | None = "male"
    held_out: float = 0.5
    seed: int = 0
    steps: Steps = "all"

    synthetic = False

    def __post_init__(self) -> None:
        within("held_out", self.held_out, 0, 1, ends="()")
        whole("seed", self.seed, low=0)
        check_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The file's statistics."""
        wanted = () if self.group is None else (self.group,)
        table, months = read_mvad(self.path, *wanted)
        names = [ALL] * len(table) if self.group is None else [
            f"{self.group}={value}" for value in table.text(self.group).to_pylist()
        ]  # fmt: skip
        chosen = np.random.default_rng(self.seed).permutation(len(table))
        queried = np.zeros(len(table), dtype=bool)
        queried[chosen[: round(self.held_out * len(table))]] = True
        return of_people(careers(table, months), names, queried.tolist(), self.steps)


@dataclass(frozen=True, kw_only=True)
class SmartphoneActivities:
    """Activities of 30 people in windows of 2.56 s (UCI HAR); its test subjects are queried.

    Parameters
    ----------
    folder : str or None
        With ``y_{train,test}.txt``, ``subject_{train,test}.txt`` and ``activity_labels.txt``; None
        looks in the folder named by ``BENCH_DATA``.
    steps : {"all", "changes"}

    References
    ----------
    Anguita et al. (2013), UCI Machine Learning Repository 240.
    """

    folder: str | None = None
    steps: Steps = "all"

    synthetic = False

    def __post_init__(self) -> None:
        check_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The files' statistics."""
        root = locate(SMARTPHONE, self.folder, *SMARTPHONE_FILES)
        names = dict(line.split() for line in _lines(root / "activity_labels.txt"))
        walks, queried = [], []
        for part in ("train", "test"):
            labels, subjects = (_lines(root / f"{kind}_{part}.txt") for kind in ("y", "subject"))
            if len(labels) != len(subjects) or not set(labels) <= set(names):
                raise DataError(f"{root}: y_{part}.txt does not fit subject_{part}.txt.")
            cuts = [i for i in range(1, len(subjects)) if subjects[i] != subjects[i - 1]]
            for start, stop in zip([0, *cuts], [*cuts, len(subjects)], strict=True):
                walks.append([names[label] for label in labels[start:stop]])
                queried.append(part == "test")
        return of_people(walks, [ALL] * len(walks), queried, self.steps)


def of_people(
    walks: Sequence[Sequence[str]], groups: Sequence[str], queried: Sequence[bool], steps: Steps
) -> SequenceStatistics:
    """Count sequences of labels, each of one group, queried or training as a whole."""
    names = tuple(sorted({label for walk in walks for label in walk}))
    places, sizes = tuple(sorted(set(groups))), [len(walk) for walk in walks]
    code = {label: i for i, label in enumerate(names)}
    return from_entries(
        Entries(
            states=names,
            groups=places,
            sequence=np.repeat(np.arange(len(walks)), sizes),
            state=np.array([code[label] for walk in walks for label in walk]),
            group=np.repeat([places.index(group) for group in groups], sizes),
            training=np.repeat(~np.array(queried), sizes),
        ),
        steps,
    )


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text().splitlines() if line.strip()]
