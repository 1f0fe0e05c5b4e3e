"""The global Foursquare check-ins (TIST2015) in their original format, or a stand-in."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.datasets.checkins.foursquare_checkins import read_checkins
from bench.datasets.checkins.foursquare_venues import read_countries, read_venues
from bench.datasets.checkins.synthetic_checkins import SyntheticCheckIns
from bench.datasets.sequences.sequence_statistics import (
    SequenceStatistics,
    Steps,
    check_steps,
    with_notes_on,
)
from bench.datasets.source import folder_with
from mechanisms.check import whole

CHECKINS, POIS, CITIES = (f"dataset_TIST2015_{name}.txt" for name in ("Checkins", "POIs", "Cities"))


@dataclass(frozen=True, kw_only=True)
class Foursquare:
    """Check-ins of users as sequences of 78 merged labels, grouped by the venue's country.

    A check-in belongs to the country of its venue; countries without a city in the city table are
    left out. A user's check-ins are ordered by local time (UTC + offset), then as in the file;
    identical rows count once, repeated visits each time. Days are counted from the first local
    day; what was dropped or merged is in the notes.

    Parameters
    ----------
    folder : str or None
        With the three files ``dataset_TIST2015_{Checkins,POIs,Cities}.txt``; None looks in the
        folder named by ``BENCH_DATA`` (or ``foursquare`` in it); without
        the files the embedded SYNTHETIC population stands in.
    training_days, days : int
        The first days train, those up to `days` are queried; without effect on the stand-in,
        which says so in the notes.
    steps : {"all", "changes"}
        Every check-in is a step, or only a change of label.

    References
    ----------
    Yang, Zhang, Qu (2016), "Participatory Cultural Mapping Based on Collective Behavior Data in
    Location-Based Social Networks", ACM TIST 7(3).
    """

    folder: str | None = None
    training_days: int = 400
    days: int = 500
    steps: Steps = "all"

    def __post_init__(self) -> None:
        if whole("training_days", self.training_days) >= whole("days", self.days):
            raise ValueError(
                f"training_days must be below days={self.days}, got {self.training_days}."
            )
        check_steps(self.steps)

    @property
    def _where(self) -> str | None:
        return folder_with(CHECKINS, self.folder, "foursquare")

    @property
    def synthetic(self) -> bool:
        """Whether the embedded population stands in for the files."""
        return self._where is None

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The files' statistics."""
        if self._where is None:
            stand_in = SyntheticCheckIns(steps=self.steps).sequence_statistics
            return with_notes_on(stand_in, self, "training_days", "days")
        folder = Path(self._where)
        stamp = tuple(
            (folder / name).stat().st_mtime_ns if (folder / name).is_file() else 0
            for name in (CHECKINS, POIS, CITIES)
        )
        return read_folder(str(folder), stamp, self.training_days, self.days, self.steps)


@functools.lru_cache(maxsize=4)
def read_folder(
    folder: str, stamp: tuple[int, ...], training_days: int, days: int, steps: Steps
) -> SequenceStatistics:
    """Read the three files once a process; `stamp` tells changed files apart."""
    del stamp
    root = Path(folder)
    countries = read_countries(root / CITIES)
    venues = read_venues(root / POIS, countries)
    return read_checkins(root / CHECKINS, venues, training_days, days, steps)
