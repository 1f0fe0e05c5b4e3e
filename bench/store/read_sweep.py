"""Cells and sweeps read back from the store: by the ids and keys that are needed, page by page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pandas as pd

from bench.core.cell import CellResult, RecordedCell, tidy
from bench.core.code_fingerprint import code_version
from bench.store.run_schema import SCHEMA, Sweep, cell_of, sweep_of
from bench.store.tracking import FINISHED_RUN, Store, StoreError

AT_A_TIME = 100
NEWEST = 100  # cells that tell how long one takes
CELLS = f"tags.kind = 'cell' AND {FINISHED_RUN}"
SWEEPS = f"tags.kind = 'sweep' AND {FINISHED_RUN}"


def find_finished(
    store: Store, experiment_id: str, sweep: str, keys: Collection[str]
) -> dict[str, str]:
    """Return the ids of the latest finished runs of these keys, as far as there are any.

    The sweep's own cells are read, then, for keys that are left, those that a sweep by the same
    code names, and those of interrupted sweeps, which nobody names.
    """
    found = _latest(store.search(experiment_id, f"{CELLS} AND tags.sweep = '{sweep}'"), keys)
    left = set(keys) - set(found)
    by_same_code = f"AND tags.code = '{code_version()}' AND tags.sweep != '{sweep}'"
    others = []
    for run in store.search(experiment_id, f"{SWEEPS} {by_same_code}") if left else ():
        other = sweep_of(run)
        others.append(other.sweep)
        runs = [run for key, run in zip(other.keys, other.runs, strict=False) if key in left]
        found |= _latest(_by_id(store, experiment_id, runs, f"AND {FINISHED_RUN}"), left)
        left -= set(found)
    if left:
        unnamed = "".join(f" AND tags.sweep != '{other}'" for other in dict.fromkeys(others))
        found |= _latest(store.search(experiment_id, f"{CELLS} {by_same_code}{unnamed}"), left)
    return found


def _latest(runs: Iterator[Any], keys: Collection[str]) -> dict[str, str]:
    """Return the id of the latest run of each key."""
    latest: dict[str, tuple[int, str]] = {}
    wanted = set(keys)
    for run in runs:
        key, rank = run.data.tags.get("cell_key", ""), (run.info.end_time, run.info.run_id)
        if key in wanted and rank > latest.get(key, (0, "")):
            latest[key] = rank
    return {key: run_id for key, (_, run_id) in latest.items()}


def _by_id(store: Store, experiment_id: str, ids: Sequence[str], more: str = "") -> Iterator[Any]:
    for start in range(0, len(ids), AT_A_TIME):
        listed = ", ".join(f"'{run_id}'" for run_id in ids[start : start + AT_A_TIME])
        yield from store.search(experiment_id, f"attributes.run_id IN ({listed}) {more}")


def read_cells(
    store: Store, experiment_id: str, runs: Sequence[str]
) -> Iterator[tuple[RecordedCell, CellResult]]:
    """Yield cells with their results by the ids of their runs, in this order.

    Raises
    ------
    StoreError
        If a run is gone.
    """
    for start in range(0, len(runs), AT_A_TIME):
        part = runs[start : start + AT_A_TIME]
        found = {run.info.run_id: cell_of(run) for run in _by_id(store, experiment_id, part)}
        lost = sum(run_id not in found for run_id in part)
        if lost:
            raise StoreError(f"the store {store.uri} has lost {lost} cells of a sweep.")
        yield from (found[run_id] for run_id in part)


def sweeps_of(store: Store, experiment: str | None = None) -> list[Sweep]:
    """Return the recorded sweeps, latest first, of one experiment or of all."""
    named = None if experiment is None else store.experiment_id(experiment, create=False)
    ids = store.experiment_ids() if experiment is None else [named] if named else []
    found = [sweep_of(run) for experiment_id in ids for run in store.search(experiment_id, SWEEPS)]
    return sorted(found, key=lambda sweep: sweep.ended, reverse=True)


def latest_sweep(store: Store, experiment: str | None, name: str | None = None) -> Sweep:
    """Return the latest sweep of an experiment (or of all), or the one of this id."""
    found = [s for s in sweeps_of(store, experiment) if name in (None, s.run_id, s.sweep)]
    sweeps = [s for s in found if s.schema == SCHEMA]
    if found and not sweeps:
        raise StoreError(older(store.uri, {s.schema for s in found}))
    if not sweeps:
        wanted = name or experiment or "any experiment"
        known = sorted({s.experiment for s in sweeps_of(store)}) or ["none"]
        raise StoreError(
            f"the store {store.uri} holds no finished sweep of {wanted}; "
            f"there are sweeps of: {', '.join(known)}."
        )
    return sweeps[0]


def told_of_older(store: Store, experiment: str) -> str:
    """Return a line where the store holds sweeps of other versions only, else no text."""
    schemas = {sweep.schema for sweep in sweeps_of(store, experiment)}
    return older(store.uri, schemas) if schemas and SCHEMA not in schemas else ""


def older(uri: str, schemas: set[str]) -> str:
    """Return the line for a store that another version of this software wrote."""
    return (
        f"the store {uri} was written by another version (schema {', '.join(sorted(schemas))}, "
        f"this one reads schema {SCHEMA}): old runs stay as they are, experiments are run anew."
    )


def table_of(store: Store, sweep: Sweep) -> pd.DataFrame:
    """Return the tidy table of a sweep, from its cells' runs alone."""
    experiment_id = store.experiment_id(sweep.experiment, create=False)
    assert experiment_id is not None
    return tidy(read_cells(store, experiment_id, sweep.runs))


def mean_seconds(store: Store, experiment: str) -> float | None:
    """Return the mean time of the newest recorded cells of an experiment, if there are any."""
    experiment_id = store.experiment_id(experiment, create=False)
    newest = store.search(experiment_id, CELLS, newest=NEWEST) if experiment_id else ()
    times = [float(run.data.tags.get("seconds", "0")) for run in newest]
    return sum(times) / len(times) if times else None
