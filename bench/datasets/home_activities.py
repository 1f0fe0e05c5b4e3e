"""Activities at home, the last days of each home queried; none of the files is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from bench.datasets.real_chains import DEVELOPMENT_DATA
from bench.datasets.source import DataError
from bench.datasets.tally import Entries, Steps, Tally, tallied
from mechanisms.check import within

DAY = 86_400
COLUMNS = ("start", "seconds", "activity")


@dataclass(frozen=True, kw_only=True)
class HomeActivities:
    """Activities in homes, one sequence a home; the home is the public group.

    Parameters
    ----------
    folder : str or None
        With ``houseA.activities`` (lines ``start TAB seconds TAB activity`` in order of time) and
        ``houseABC.activity_names`` (lines ``activity TAB name``); None looks beside the checkout,
        in ``../shared/data``.
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
    synthetic: bool = False

    def __post_init__(self) -> None:
        if not self.homes or not any(set(self.homes) <= set(letters) for letters in ("ABC", "DE")):
            raise ValueError(f"homes must be of A, B, C or of D, E, got homes={list(self.homes)}.")
        if len(set(self.homes)) < len(self.homes):
            raise ValueError(f"homes must be distinct, got homes={list(self.homes)}.")
        within("train", self.train, 0, 1, ends="()")

    @cached_property
    def tally(self) -> Tally:
        """The files' statistics."""
        root = DEVELOPMENT_DATA / "har_labels" / "adl_houses" if self.folder is None else Path(
            self.folder
        )  # fmt: skip
        letters = "ABC" if set(self.homes) <= set("ABC") else "DE"
        listed = _read(root / f"house{letters}.activity_names", ("activity", "name"))
        tables = []
        for home in self.homes:
            path = root / f"house{home}.activities"
            table = _read(path, COLUMNS)
            start = pd.to_numeric(table["start"], errors="coerce")
            if (
                not start.is_monotonic_increasing
                or not table["activity"].isin(listed["activity"]).all()
            ):
                raise DataError(
                    f"{path} must hold known activities, in order of time; names are in "
                    f"house{letters}.activity_names."
                )
            day = start // DAY
            border = day.iloc[0] + self.train * (day.iloc[-1] - day.iloc[0] + 1)
            tables.append(table.assign(home=home, training=day < border))
        rows = pd.concat(tables, ignore_index=True)
        return tallied(
            Entries(
                states=tuple(listed["name"]),
                groups=tuple(f"home {home}" for home in self.homes),
                sequence=pd.factorize(rows["home"])[0],
                state=pd.Index(listed["activity"]).get_indexer(rows["activity"]),
                group=pd.factorize(rows["home"])[0],
                training=rows["training"].to_numpy(),
            ),
            self.steps,
        )


def _read(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    if not path.is_file():
        raise DataError(f"no file {path}: give its folder.")
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line.strip()]
    if not rows or any(len(row) != len(columns) for row in rows):
        raise DataError(f"{path} must have lines of {', '.join(columns)} between tabs.")
    return pd.DataFrame(rows, columns=list(columns))
