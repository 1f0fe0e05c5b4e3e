"""Activities at home, the last days of each home queried; none of the files is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from bench.datasets.activities.home_files import FOLDER, NAMES, name_of, read_home, read_names
from bench.datasets.sequences.sequence_statistics import (
    Entries,
    SequenceStatistics,
    Steps,
    check_steps,
    from_entries,
)
from bench.datasets.source import DataError, locate
from mechanisms.check import within

DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class HomeActivities:
    """Activities in homes, one sequence a home; the home is the public group.

    Parameters
    ----------
    folder : str or None
        With ``houseA.activities`` (lines ``start TAB seconds TAB activity`` in order of time) and
        ``houseABC.activity_names`` (lines ``activity TAB name``); None looks in the folder named
        by ``BENCH_DATA``.
    homes : sequence of str
        Letters, with one list of activities: A, B and C, or D and E.
    train : float in (0, 1)
        Share of a home's days, from the first on, that train.
    steps : {"all", "changes"}

    References
    ----------
    Van Kasteren et al. (2008); Tapia, Intille, Larson (2004).
    """

    folder: str | None = None
    homes: Sequence[str] = ("A", "B", "C")
    train: float = 0.5
    steps: Steps = "all"

    synthetic = False

    def __post_init__(self) -> None:
        if not self.homes or not any(set(self.homes) <= set(letters) for letters in ("ABC", "DE")):
            raise ValueError(f"homes must be of A, B, C or of D, E, got homes={list(self.homes)}.")
        if len(set(self.homes)) < len(self.homes):
            raise ValueError(f"homes must be distinct, got homes={list(self.homes)}.")
        within("train", self.train, 0, 1, ends="()")
        check_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The files' statistics."""
        listed = NAMES["ABC" if set(self.homes) <= set("ABC") else "DE"]
        files = [name_of(home) for home in self.homes]
        root = locate(FOLDER, self.folder, listed, *files)
        names = read_names(root / listed)
        tables = []
        for home, file in zip(self.homes, files, strict=True):
            table = read_home(root / file)
            if not table["activity"].isin(list(names)).all():
                raise DataError(f"{root / file} must hold known activities; names are in {listed}.")
            day = table["start"] // DAY
            border = day.iloc[0] + self.train * (day.iloc[-1] - day.iloc[0] + 1)
            tables.append(table.assign(home=home, training=day < border))
        rows = pd.concat(tables, ignore_index=True)
        number = pd.factorize(rows["home"])[0]
        return from_entries(
            Entries(
                states=tuple(names.values()),
                groups=tuple(f"home {home}" for home in self.homes),
                sequence=number,
                state=pd.Index(list(names)).get_indexer(rows["activity"]),
                group=number,
                training=rows["training"].to_numpy(),
            ),
            self.steps,
        )
