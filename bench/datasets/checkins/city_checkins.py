"""Check-ins of one city: TSMC2014 files and tables derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from bench.datasets.checkins.checkin_labels import common_labels, fold, merged_labels
from bench.datasets.sequences.sequence_file import order_entries
from bench.datasets.sequences.sequence_statistics import (
    SequenceStatistics,
    Steps,
    check_steps,
    from_entries,
)
from bench.datasets.source import DataError, locate
from bench.datasets.table.labels import Labels
from bench.datasets.table.place import Place
from bench.datasets.table.table_file import TableFile
from bench.datasets.table.text_table import TextTable
from bench.datasets.table.times import SECOND, check_unit
from bench.datasets.table.utf8_stream import MIXED
from mechanisms.check import FloatArray, IntArray, one_of, positive, within

COLUMNS = ("user", "venue", "category_id", "category", "lat", "lon", "offset", "utc")
USED = ("user", "venue", "category", "lat", "lon", "offset", "utc")
# The tables with a header: user, venue, category, latitude, longitude, then local time, or minutes
# from UTC to local time and UTC.
HEADERS = (
    ("user_id", "venue_id", "category", "lat", "lon", "local_time"),
    ("user_id", "POI_id", "POI_catname", "latitude", "longitude", "local_time"),
    ("userId", "venueId", "venueCategory", "latitude", "longitude", "timezoneOffset",
     "utcTimestamp"),
)  # fmt: skip
FARTHEST = 1440  # minutes of an offset
UTC_TIME = "%a %b %d %H:%M:%S %z %Y"
NEW_YORK = "foursquare/nyc_checkins_193users_joined.csv.gz"


@dataclass(frozen=True, kw_only=True)
class CityCheckIns:
    """Check-ins of a city's users as sequences of the 78 merged labels.

    Rows are ordered by local time within users, ties as in the file; identical rows count once.
    There is no country: the public group is the calendar month or a square of the map.

    Parameters
    ----------
    path : str or None
        A TSMC2014 file (``.txt``: tab-separated, latin-1, no header), or a CSV, TSV or parquet file
        with the columns ``user_id, venue_id, category, lat, lon, local_time``, those of GETNext,
        or ``userId, venueId, venueCategory, latitude, longitude, timezoneOffset, utcTimestamp``;
        None looks for the New York table in the folder named by ``BENCH_DATA``, then beside the
        checkout.
    group : {"month", "square"}
    degrees : float in (0, inf)
        Side of a square, in degrees of latitude and longitude.
    train : float in (0, 1)
        Share of the check-ins, in order of time, that train.
    steps : {"all", "changes"}
    unit : {"s", "ms", "us", "ns"}, or None
        Of local times that are numbers since 1970; None finds the one under which all of them lie
        in 1990 to 2100, and tells it.

    References
    ----------
    Yang, Zhang, Zheng, Yu (2015), IEEE Transactions on SMC 45(1).
    """

    path: str | None = None
    group: Literal["month", "square"] = "square"
    degrees: float = 0.1
    train: float = 0.8
    steps: Steps = "all"
    unit: str | None = None

    synthetic = False

    def __post_init__(self) -> None:
        one_of("group", self.group, ("month", "square"))
        positive("degrees", self.degrees, infinite=False)
        within("train", self.train, 0, 1, ends="()")
        check_steps(self.steps)
        check_unit(self.unit)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The file's statistics."""
        path = locate(NEW_YORK, self.path)
        table, names = original(path) if path.name.endswith(".txt") else with_header(path)
        user, venue, category, latitude, longitude, *when = names
        lat, lon = table.numbers(latitude), table.numbers(longitude)
        there = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
        if not there.all():
            row = int(there.argmin())
            raise DataError(
                f"{path} must have lat within +-90 and lon within +-180, got {lat[row]:g} and "
                f"{lon[row]:g} in data row {row + 1} ({int((~there).sum())} such rows)."
            )
        if len(when) == 2:
            local, told = local_from_utc(table, *when), ""
        else:
            local, told = table.clock(when[0], unit=self.unit, local=True)
        kept = table.labels(category)
        merged = merged_labels()
        entries = order_entries(
            user=table.labels(user),
            moment=local,
            label=kept.renamed({name: merged.get(fold(name), name) for name in kept.names}),
            group=self._groups(local, lat, lon),
            venue=table.labels(venue),
            train=self.train,
            labels=common_labels(),
            notes=(*table.notes, *filter(None, [told])),
        )
        return from_entries(entries, self.steps)

    def _groups(self, local: IntArray, lat: FloatArray, lon: FloatArray) -> Labels:
        if self.group == "month":
            months, codes = np.unique(
                local.astype("datetime64[ns]").astype("datetime64[M]"), return_inverse=True
            )
            names = [str(month) for month in months]
        else:
            corner = np.floor(np.stack([lat, lon], axis=1) / self.degrees)
            corners, codes = np.unique(corner, axis=0, return_inverse=True)
            exponent = Decimal(str(self.degrees)).as_tuple().exponent
            digits = max(2, -int(exponent))  # so that no two squares have one name
            names = [
                " ".join(f"{c:.{digits}f}" for c in row * self.degrees + 0.0) for row in corners
            ]
        return Labels(where=Place("", self.group), names=tuple(names), codes=codes)


def original(path: Path) -> tuple[TextTable, tuple[str, ...]]:
    """Read a TSMC2014 file, in UTF-8 or latin-1, and the names of the columns used."""
    return TableFile(
        path=str(path), separator="tab", encoding=MIXED, names=COLUMNS, missing=("",)
    ).read(*USED, quoted=False), USED


def with_header(path: Path) -> tuple[TextTable, tuple[str, ...]]:
    """Read a table of one of the known headers, and the names of the columns used."""
    file = TableFile(path=str(path), missing=("",))
    for header in HEADERS:
        if set(header) <= set(file.header):
            return file.read(*header), header
    known = "; or ".join(", ".join(header) for header in HEADERS)
    raise DataError(f"{path} must have the columns {known}; it has {', '.join(file.header)}.")


def local_from_utc(table: TextTable, offset: str, utc: str) -> IntArray:
    """Return local times in nanoseconds since 1970: UTC moved by minutes."""
    minutes = table.numbers(offset)
    texts = table.text(utc).to_pandas()
    moments = pd.to_datetime(texts, format=UTC_TIME, errors="coerce", utc=True)
    bad = moments.isna().to_numpy() | (minutes % 1 != 0) | (np.abs(minutes) > FARTHEST)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"{table.path} must have times such as 'Tue Apr 03 18:00:06 +0000 2012' and offsets in "
            f"minutes, got {texts[row]!r} and {minutes[row]:g} in data row {row + 1} "
            f"({int(bad.sum())} such rows)."
        )
    since = moments.dt.as_unit("ns").astype("int64").to_numpy()
    return since + 60 * SECOND * minutes.astype(np.int64)
