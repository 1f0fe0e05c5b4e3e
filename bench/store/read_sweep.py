"""Sweeps read back from the store as tidy tables."""

from __future__ import annotations

import pandas as pd

from bench.core.cell import Cell, tidy
from bench.store.run_schema import SCHEMA, Sweep
from bench.store.tracking import Store, StoreError


def latest_sweep(store: Store, experiment: str | None, name: str | None = None) -> Sweep:
    """Return the latest sweep of an experiment (or of all), or the one of this id."""
    found = [s for s in store.sweeps(experiment) if name in (None, s.run_id, s.sweep)]
    sweeps = [s for s in found if s.schema == SCHEMA]
    if found and not sweeps:
        raise StoreError(older(store.uri, {s.schema for s in found}))
    if not sweeps:
        wanted = name or experiment or "any experiment"
        known = sorted({s.experiment for s in store.sweeps()}) or ["none"]
        raise StoreError(
            f"the store {store.uri} holds no finished sweep of {wanted}; "
            f"there are sweeps of: {', '.join(known)}."
        )
    return sweeps[0]


def older(uri: str, schemas: set[str]) -> str:
    """Return the line for a store that another version of this software wrote."""
    return (
        f"the store {uri} was written by another version (schema {', '.join(sorted(schemas))}, "
        f"this one reads schema {SCHEMA}): run the experiment again; old runs stay as they are."
    )


def table_of(store: Store, sweep: Sweep) -> pd.DataFrame:
    """Return the tidy table of a sweep, from its cells' runs alone."""
    return tidy(
        [
            (Cell(name=name, labels=labels, spec={}, digest=""), result)
            for labels, name, result in store.results(sweep)
        ]
    )
