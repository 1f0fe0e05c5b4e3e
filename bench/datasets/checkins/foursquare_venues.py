"""The tables of venues and cities of the global Foursquare check-ins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench.datasets.checkins.checkin_labels import common_labels, fold, merged_labels
from bench.datasets.checkins.checkin_stream import blocks, decode
from bench.datasets.sequences.sequence_statistics import OTHER
from bench.datasets.source import DataError

POI_COLUMNS = {"venue": pa.binary(24), "lat": pa.float64(), "lon": pa.float64(),
               "category": pa.binary(), "country": pa.binary()}  # fmt: skip
NUMBER = r"-?\d+(?:\.\d*)?(?:[eE]-?\d+)?"
POI_PATTERNS = (r"[0-9a-f]{24}", NUMBER, NUMBER, r"[^\t]*", r"[A-Z]{2}")
CITY_COLUMNS = {"city": pa.binary(), "lat": pa.float64(), "lon": pa.float64(),
                "country": pa.binary(), "name": pa.binary(), "kind": pa.binary()}  # fmt: skip
CITY_PATTERNS = (r"[^\t]*", NUMBER, NUMBER, r"[A-Z]{2}", r"[^\t]*", r"[^\t]*")


def read_countries(path: Path) -> tuple[str, ...]:
    """Return the codes of the countries that have a city, sorted."""
    found: set[bytes] = set()
    for batch in blocks(path, CITY_COLUMNS, CITY_PATTERNS, ["country"]):
        found.update(batch.column("country").to_pylist())
    return tuple(sorted(decode(code) for code in found))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Venues:
    """Label and country of every venue.

    Parameters
    ----------
    ids : Array of 24 bytes
        A venue's place among them is its code.
    state : array of int8
        Code among the common labels.
    group : array of int16
        Code among `countries`; -1 for a country without a city.
    countries : tuple of str
    unknown : array of bool
        Whether the venue's category is in no group of Appendix D.3.
    notes : tuple of str
    """

    ids: pa.Array
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
        ids.append(batch.column("venue"))
        category = batch.column("category").dictionary_encode()
        names = [decode(name) for name in category.dictionary.to_pylist()]
        common = [merged.get(fold(name)) for name in names]
        strange.update(name for name, label in zip(names, common, strict=True) if label is None)
        code = np.array([labels[label or OTHER] for label in common], dtype=np.int8)
        missing = np.array([label is None for label in common])
        at = category.indices.to_numpy()
        states.append(code[at])
        unknown.append(missing[at])
        country = batch.column("country").dictionary_encode()
        known = np.array([place.get(c, -1) for c in country.dictionary.to_pylist()], dtype=np.int16)
        groups.append(known[country.indices.to_numpy()])
    keys = pa.concat_arrays(ids)
    twice = len(keys) - len(keys.unique())
    if twice:
        raise DataError(f"{path} lists {twice} venues twice.")
    example = f", such as {sorted(strange)[0]!r}" if strange else ""
    return Venues(
        ids=keys,
        state=np.concatenate(states),
        group=np.concatenate(groups),
        countries=countries,
        unknown=np.concatenate(unknown),
        notes=(f"{len(strange)} unknown venue categories counted as {OTHER}{example}",)
        if strange
        else (),
    )
