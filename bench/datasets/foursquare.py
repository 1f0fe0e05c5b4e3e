"""The global Foursquare check-ins (TIST2015) in their original format, or a stand-in."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from bench.datasets.checkin_labels import common_labels, folded, merged_labels
from bench.datasets.checkin_stream import (
    TEXT_TIME,
    TIME,
    blocks,
    by_user,
    decoded,
    fixed,
    malformed,
    seconds,
)
from bench.datasets.source import DataError, folder_with
from bench.datasets.synthetic_checkins import SyntheticCheckIns
from bench.datasets.tally import OTHER, Entries, Steps, Tally, tallied
from mechanisms.check import whole

CHECKINS, POIS, CITIES = (f"dataset_TIST2015_{name}.txt" for name in ("Checkins", "POIs", "Cities"))
DAY = 86_400
VENUE = pa.binary(24)
CHECKIN_COLUMNS = {"user": pa.int32(), "venue": VENUE, "time": TEXT_TIME, "offset": pa.int32()}
CHECKIN_PATTERNS = (r"\d+", r"[0-9a-f]{24}", TIME, r"-?\d+")
POI_COLUMNS = {"venue": VENUE, "lat": pa.float64(), "lon": pa.float64(), "category": pa.binary(),
               "country": pa.binary()}  # fmt: skip
NUMBER = r"-?\d+(?:\.\d*)?(?:[eE]-?\d+)?"
POI_PATTERNS = (r"[0-9a-f]{24}", NUMBER, NUMBER, r"[^\t]*", r"[A-Z]{2}")
CITY_COLUMNS = {"city": pa.binary(), "lat": pa.float64(), "lon": pa.float64(),
                "country": pa.binary(), "name": pa.binary(), "kind": pa.binary()}  # fmt: skip
CITY_PATTERNS = (r"[^\t]*", NUMBER, NUMBER, r"[A-Z]{2}", r"[^\t]*", r"[^\t]*")
MIXERS = tuple(np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


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
        With the three files ``dataset_TIST2015_{Checkins,POIs,Cities}.txt``; None takes the folder
        named by ``BENCH_DATA`` if they are there, else the embedded SYNTHETIC population.
    training_days, days : int
        The first days train, those up to `days` are queried.
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

    @property
    def _where(self) -> str | None:
        return folder_with(CHECKINS, self.folder)

    @property
    def synthetic(self) -> bool:
        """Whether the embedded population stands in for the files."""
        return self._where is None

    @cached_property
    def tally(self) -> Tally:
        """The files' statistics."""
        if self._where is None:
            return SyntheticCheckIns().tally
        folder = Path(self._where)
        stamp = tuple(
            (folder / name).stat().st_mtime_ns if (folder / name).is_file() else 0
            for name in (CHECKINS, POIS, CITIES)
        )
        return read_folder(str(folder), stamp, self.training_days, self.days, self.steps)


@functools.lru_cache(maxsize=4)
def read_folder(
    folder: str, stamp: tuple[int, ...], training_days: int, days: int, steps: Steps
) -> Tally:
    """Read the three files once a process; `stamp` tells changed files apart."""
    del stamp
    root = Path(folder)
    countries = read_countries(root / CITIES)
    venues = read_venues(root / POIS, countries)
    return tallied(read_checkins(root / CHECKINS, venues, training_days, days), steps)


def read_countries(path: Path) -> tuple[str, ...]:
    """Return the codes of the countries that have a city, sorted."""
    found: set[bytes] = set()
    for batch in blocks(path, CITY_COLUMNS, CITY_PATTERNS, ["country"]):
        found.update(batch.column("country").to_pylist())
    return tuple(sorted(decoded(code) for code in found))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Venues:
    """Label and country of every venue.

    Parameters
    ----------
    index : pandas.Index of uint64
        Mixed ids.
    state : array of int8
        Code among the common labels.
    group : array of int16
        Code among `countries`; -1 for a country without a city.
    countries : tuple of str
    unknown : array of bool
        Whether the venue's category is in no group of Appendix D.3.
    notes : tuple of str
    """

    index: pd.Index
    state: NDArray[np.int8]
    group: NDArray[np.int16]
    countries: tuple[str, ...]
    unknown: NDArray[np.bool_]
    notes: tuple[str, ...]


def read_venues(path: Path, countries: tuple[str, ...]) -> Venues:
    """Read the table of venues; refuse a venue that is listed twice."""
    merged, labels = merged_labels(), {label: i for i, label in enumerate(common_labels())}
    place = {code.encode(): i for i, code in enumerate(countries)}
    ids, states, groups, unknown = [], [], [], []
    strange: set[str] = set()
    for batch in blocks(path, POI_COLUMNS, POI_PATTERNS, ["venue", "category", "country"]):
        ids.append(mixed(fixed(batch.column("venue"), 24)))
        category = batch.column("category").dictionary_encode()
        names = [decoded(name) for name in category.dictionary.to_pylist()]
        common = [merged.get(folded(name)) for name in names]
        strange.update(name for name, label in zip(names, common, strict=True) if label is None)
        code = np.array([labels[label or OTHER] for label in common], dtype=np.int8)
        missing = np.array([label is None for label in common])
        at = category.indices.to_numpy()
        states.append(code[at])
        unknown.append(missing[at])
        country = batch.column("country").dictionary_encode()
        known = np.array([place.get(c, -1) for c in country.dictionary.to_pylist()], dtype=np.int16)
        groups.append(known[country.indices.to_numpy()])
    index = pd.Index(np.concatenate(ids))
    if not index.is_unique:
        raise DataError(f"{path} lists {int(index.duplicated().sum())} venues twice.")
    example = f", such as {sorted(strange)[0]!r}" if strange else ""
    return Venues(
        index=index,
        state=np.concatenate(states),
        group=np.concatenate(groups),
        countries=countries,
        unknown=np.concatenate(unknown),
        notes=(f"{len(strange)} unknown venue categories counted as {OTHER}{example}",)
        if strange
        else (),
    )


def mixed(ids: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return 24-character ids as 64-bit numbers; among n ids two agree with chance n^2 / 2^65."""
    words = np.ascontiguousarray(ids).view("<u8")
    total = np.zeros(len(words), dtype=np.uint64)
    for column, mixer in enumerate(MIXERS):
        total = (total ^ words[:, column]) * mixer
        total ^= total >> np.uint64(29)
    return total


def read_checkins(path: Path, venues: Venues, training_days: int, days: int) -> Entries:
    """Read the check-ins, order each user's by local time and cut off the days."""
    parts: dict[str, list[NDArray[np.int32]]] = {"user": [], "time": [], "venue": []}
    rows = foreign = nowhere = 0
    try:
        for batch in blocks(path, CHECKIN_COLUMNS, CHECKIN_PATTERNS, list(CHECKIN_COLUMNS)):
            rows += batch.num_rows
            venue = venues.index.get_indexer(mixed(fixed(batch.column("venue"), 24)))
            known = venue >= 0
            inside = known & (venues.group[venue] >= 0)
            nowhere += int((~known).sum())
            foreign += int((known & ~inside).sum())
            stamp = seconds(fixed(batch.column("time"), 30))
            local = stamp + 60 * batch.column("offset").to_numpy()
            for name, values in (("user", batch.column("user").to_numpy()), ("time", local),
                                 ("venue", venue.astype(np.int32))):  # fmt: skip
                parts[name].append(values if inside.all() else values[inside])
    except pa.ArrowInvalid as error:
        raise malformed(path, CHECKIN_PATTERNS, str(error)) from error
    user, time, venue = (np.concatenate(parts.pop(name)) for name in ("user", "time", "venue"))
    if not user.size:
        raise DataError(f"{path} has no check-in in a country of the city table.")
    day = time // DAY
    day -= day.min()
    kept = day < days
    beyond = int((~kept).sum())
    if beyond:
        user, time, venue, day = user[kept], time[kept], venue[kept], day[kept]
    del kept
    code = user_codes(user)
    del user
    order, late = by_user(code, time)
    code = np.repeat(np.arange(int(code.max()) + 1, dtype=np.int32), np.bincount(code))
    time, venue, day = time[order], venue[order], day[order]
    del order
    again = np.zeros(code.size, dtype=bool)
    again[1:] = (code[1:] == code[:-1]) & (time[1:] == time[:-1]) & (venue[1:] == venue[:-1])
    repeated = int(again.sum())
    if repeated:
        first = ~again
        code, venue, day = code[first], venue[first], day[first]
    single = int((np.bincount(code) == 1).sum())
    other = int(venues.unknown[venue].sum())
    told = (
        (rows, "check-ins read"),
        (nowhere, "check-ins at unlisted venues dropped"),
        (foreign, "check-ins in countries without a city dropped"),
        (beyond, f"check-ins after day {days} dropped"),
        (late, "check-ins before an earlier one in local time, sorted"),
        (repeated, "identical check-ins dropped"),
        (other, f"check-ins of unknown categories counted as {OTHER}"),
        (single, "users with one check-in, which has no step"),
    )
    return Entries(
        states=common_labels(),
        groups=venues.countries,
        sequence=code,
        state=venues.state[venue],
        group=venues.group[venue],
        training=day < training_days,
        notes=(*venues.notes, *(f"{count} {what}" for count, what in told if count)),
    )


def user_codes(user: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ids as codes 0, 1, ... in order of the ids."""
    if user.min() >= 0 and user.max() < 50_000_000:
        present = np.zeros(int(user.max()) + 1, dtype=np.int32)
        present[user] = 1
        return (np.cumsum(present, dtype=np.int32) - 1)[user]
    return np.unique(user, return_inverse=True)[1].astype(np.int32)
