"""Check-ins of one city: TSMC2014 files and tables derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from bench.datasets.checkins.checkin_labels import common_labels, folded, merged_labels
from bench.datasets.checkins.checkin_rows import FARTHEST, OFFSET, TIME, seconds
from bench.datasets.checkins.checkin_stream import TEXT_TIME, blocks, decoded, fixed, malformed
from bench.datasets.checkins.foursquare_venues import NUMBER
from bench.datasets.sequences.sequence_file import moments, order_entries, read_columns
from bench.datasets.sequences.sequence_statistics import (
    SequenceStatistics,
    Steps,
    check_steps,
    from_entries,
)
from bench.datasets.source import DataError, locate
from mechanisms.check import one_of, positive, within

COLUMNS = {"user": pa.int32(), "venue": pa.binary(), "category_id": pa.binary(),
           "category": pa.binary(), "lat": pa.float64(), "lon": pa.float64(),
           "offset": pa.int32(), "time": TEXT_TIME}  # fmt: skip
PATTERNS = (r"\d+", r"[^\t]+", r"[^\t]*", r"[^\t]*", NUMBER, NUMBER, OFFSET, TIME)
# The tables with a header: user, venue, category, latitude, longitude, local time.
HEADERS = (
    ("user_id", "venue_id", "category", "lat", "lon", "local_time"),
    ("user_id", "POI_id", "POI_catname", "latitude", "longitude", "local_time"),
)
NEW_YORK = "foursquare/nyc_checkins_193users_joined.csv.gz"


@dataclass(frozen=True, kw_only=True)
class CityCheckIns:
    """Check-ins of a city's users as sequences of the 78 merged labels.

    Rows are ordered by local time within users, ties as in the file; identical rows count once.
    There is no country: the public group is the calendar month or a square of the map.

    Parameters
    ----------
    path : str or None
        A TSMC2014 file (tab-separated, latin-1, no header) or a comma-separated table with the
        columns ``user_id, venue_id, category, lat, lon, local_time`` (or those of GETNext); None
        looks for the New York table in the folder named by ``BENCH_DATA``, then beside the
        checkout.
    group : {"month", "square"}
    degrees : float in (0, inf)
        Side of a square, in degrees of latitude and longitude.
    train : float in (0, 1)
        Share of the check-ins, in order of time, that train.
    steps : {"all", "changes"}

    References
    ----------
    Yang, Zhang, Zheng, Yu (2015), IEEE Transactions on SMC 45(1).
    """

    path: str | None = None
    group: Literal["month", "square"] = "square"
    degrees: float = 0.1
    train: float = 0.8
    steps: Steps = "all"

    synthetic = False

    def __post_init__(self) -> None:
        one_of("group", self.group, ("month", "square"))
        positive("degrees", self.degrees, infinite=False)
        within("train", self.train, 0, 1, ends="()")
        check_steps(self.steps)

    @cached_property
    def sequence_statistics(self) -> SequenceStatistics:
        """The file's statistics."""
        path = locate(NEW_YORK, self.path)
        table = original(path) if path.name.endswith(".txt") else with_header(path)
        # Also false where a place is no number.
        there = (table["lat"].abs() <= 90) & (table["lon"].abs() <= 180)
        if not there.all():
            row = int(np.argmin(there.to_numpy()))
            raise DataError(
                f"{path} must have lat within +-90 and lon within +-180, got "
                f"{table['lat'].iloc[row]:g} and {table['lon'].iloc[row]:g} in data row {row + 1} "
                f"({int((~there).sum())} such rows)."
            )
        merged = merged_labels()
        label = table["category"].map({n: merged.get(folded(n), n) for n in set(table["category"])})
        entries = order_entries(
            user=table["user"],
            moment=table["moment"],
            label=label,
            group=self._groups(table),
            venue=table["venue"],
            train=self.train,
            labels=common_labels(),
        )
        return from_entries(entries, self.steps)

    def _groups(self, table: pd.DataFrame) -> pd.Series:
        if self.group == "month":
            return pd.to_datetime(table["moment"], unit="s").dt.strftime("%Y-%m")
        corner = np.floor(table[["lat", "lon"]].to_numpy() / self.degrees) * self.degrees + 0.0
        exponent = Decimal(str(self.degrees)).as_tuple().exponent
        digits = max(2, -int(exponent))  # so that no two squares have one name
        names = [f"{lat:.{digits}f} {lon:.{digits}f}" for lat, lon in corner]
        return pd.Series(names, index=table.index)


def original(path: Path) -> pd.DataFrame:
    """Read a TSMC2014 file; ``moment`` is local time in seconds."""
    wanted = [name for name in COLUMNS if name != "category_id"]
    parts = []
    for batch in blocks(path, COLUMNS, PATTERNS, wanted):
        plain = {name: batch.column(name).to_numpy() for name in ("user", "lat", "lon")}
        texts = {
            n: [decoded(t) for t in batch.column(n).to_pylist()] for n in ("venue", "category")
        }
        offset = batch.column("offset").to_numpy()
        try:
            if (np.abs(offset.astype(np.int64)) > FARTHEST).any():
                raise ValueError("an offset out of range")
            local = seconds(fixed(batch.column("time"), 30)) + 60 * offset
        except ValueError as error:
            raise malformed(path, PATTERNS, str(error)) from error
        parts.append(pd.DataFrame(plain | texts | {"moment": local.astype(np.float64)}))
    return pd.concat(parts, ignore_index=True)


def with_header(path: Path) -> pd.DataFrame:
    """Read a comma-separated table; ``moment`` is local time in seconds."""
    try:
        found = pd.read_csv(path, nrows=0, encoding="utf-8-sig").columns
    except (ValueError, OSError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}.") from error
    for header in HEADERS:
        if set(header) <= set(found):
            table = read_columns(str(path), header).set_axis(
                ["user", "venue", "category", "lat", "lon", "time"], axis=1
            )
            # Local wall-clock time orders a user's check-ins; an offset written behind it is cut.
            clock = table["time"].str.slice(0, 19)
            places = table[["lat", "lon"]].apply(pd.to_numeric, errors="coerce")
            if places.isna().any(axis=None):
                raise DataError(f"{path} must have a number in every lat and lon.")
            return table.assign(moment=moments(clock, str(path)), **places)
    raise DataError(
        f"{path} must have the columns {', '.join(HEADERS[0])}; it has {', '.join(found)}."
    )
