"""Writes synthetic check-ins of any size in the format of the global Foursquare files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from bench.datasets.checkins.checkin_labels import merged_labels
from bench.datasets.checkins.checkin_times import MONTHS
from bench.datasets.checkins.foursquare import CHECKINS, CITIES, POIS
from bench.datasets.checkins.foursquare_checkins import DAY
from mechanisms.check import IntArray, whole
from tests.support.synthetic_walks import DAYS, RECIPE, walks

FIRST_DAY = np.datetime64("2012-04-03")
BATCH = 1 << 20
WEEKDAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")  # 1970-01-01 was a Thursday


def write_files(folder: Path, check_ins: int, *, venues: int | None = None, seed: int = 0) -> None:
    """Write the three files with about `check_ins` SYNTHETIC check-ins, in order of UTC time.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    check_ins : int
        At least 10,000.
    venues : int or None
        None takes one venue for nine check-ins, as in the original.
    seed : int
    """
    whole("check_ins", check_ins, low=10_000)
    venues = check_ins // 9 if venues is None else whole("venues", venues)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    users = max(len(RECIPE.groups), round(check_ins / RECIPE.mean_length))
    recipe = dataclasses.replace(RECIPE, users=users, seed=seed)
    group, length, steps = walks(recipe)
    offset = 60 * rng.integers(-11, 13, size=len(recipe.groups))
    user, state, step = _flatten(list(steps))
    # Sorted uniform times of a user: ranks of exponential gaps.
    gaps = rng.standard_exponential(user.size)
    order = np.lexsort((step, user))
    total = np.cumsum(gaps[order])
    ends = np.cumsum(length[: user.max() + 1])
    start = np.concatenate([[0.0], total[ends[:-1] - 1]])
    span = total[ends - 1] - start + rng.standard_exponential(ends.size)
    share = (total - start[user[order]]) / span[user[order]]
    stamp = np.minimum((share * DAYS * DAY).astype(np.int64), DAYS * DAY - 1)
    by_time = np.argsort(stamp, kind="stable")
    order, stamp = order[by_time], stamp[by_time]
    user, state = user[order], state[order]
    ids, first, size = _write_venues(folder / POIS, recipe.groups, venues, rng)
    cell = group[user] * len(recipe.states) + state
    venue = first[cell] + (rng.random(cell.size) ** 2 * size[cell]).astype(np.int64)
    _write_rows(folder / CHECKINS, user, ids, venue, stamp, offset[group[user]])
    cities = [f"City {i}\t{i % 90}.5\t-{i}.25\t{c}\tCountry {c}\tProvincial capital\n"
              for i, c in enumerate(recipe.groups)]  # fmt: skip
    (folder / CITIES).write_text("".join(cities), encoding="utf-8")


def _flatten(steps: list[IntArray]) -> tuple[NDArray[np.integer], ...]:
    sizes = [state.size for state in steps]
    user = np.concatenate([np.arange(n, dtype=np.int32) for n in sizes])
    step = np.repeat(np.arange(len(sizes), dtype=np.int16), sizes)
    return user, np.concatenate([s.astype(np.int8) for s in steps]), step


def _write_venues(
    path: Path, countries: tuple[str, ...], venues: int, rng: np.random.Generator
) -> tuple[pa.Array, IntArray, IntArray]:
    """Write venues of every country and label; return ids, and each cell's first venue and size."""
    raw: dict[str, list[str]] = {}
    for name, label in merged_labels().items():
        raw.setdefault(label, []).append(name)
    cells = len(countries) * len(RECIPE.states)
    size = 1 + rng.multinomial(max(0, venues - cells), np.full(cells, 1 / cells))
    first = np.cumsum(size) - size
    total = int(size.sum())
    text = np.frombuffer(rng.bytes(12 * total).hex().encode(), dtype="S24")
    ids = pa.array(text.astype(object), type=pa.binary()).cast(pa.string())
    country = np.repeat(np.repeat(countries, len(RECIPE.states)), size)
    pools = [raw[label] for label in RECIPE.states]
    most = max(map(len, pools))
    table = np.array([[pool[i % len(pool)] for i in range(most)] for pool in pools])
    kind = np.repeat(np.tile(np.arange(len(RECIPE.states)), len(countries)), size)
    category = table[kind, rng.integers(0, most, size=total)]
    rows = pa.table(
        {
            "venue": ids, "lat": np.round(rng.uniform(-60, 70, total), 6),
            "lon": np.round(rng.uniform(-180, 180, total), 6), "category": category.astype(object),
            "country": country.astype(object),
        }
    )  # fmt: skip
    pacsv.write_csv(rows, path, _options())
    return ids, first, size


def _write_rows(
    path: Path,
    user: NDArray[np.integer],
    ids: pa.Array,
    venue: IntArray,
    stamp: IntArray,
    offset: IntArray,
) -> None:
    days = FIRST_DAY + np.arange(DAYS)
    dates = [_date(day) for day in days]
    date, year = pa.array([d for d, _ in dates]), pa.array([y for _, y in dates])
    clock = pa.array([f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in range(DAY)])
    schema = pa.schema(
        {"user": pa.int32(), "venue": pa.string(), "time": pa.string(), "offset": pa.int32()}
    )
    with pacsv.CSVWriter(path, schema, write_options=_options()) as writer:
        for start in range(0, user.size, BATCH):
            part = slice(start, start + BATCH)
            day, second = np.divmod(stamp[part], DAY)
            time = pc.binary_join_element_wise(
                date.take(pa.array(day)), clock.take(pa.array(second)), "+0000",
                year.take(pa.array(day)), " ",
            )  # fmt: skip
            columns = [pa.array(user[part] + 1, type=pa.int32()), ids.take(pa.array(venue[part])),
                       time, pa.array(offset[part], type=pa.int32())]  # fmt: skip
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _date(day: np.datetime64) -> tuple[str, str]:
    year, month, number = str(day).split("-")
    weekday = WEEKDAYS[int(day.astype(np.int64)) % 7]
    return f"{weekday} {MONTHS[int(month) - 1]} {number}", year


def _options() -> pacsv.WriteOptions:
    return pacsv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
