"""Sweeps read back from the store as tidy tables."""

from __future__ import annotations

import pandas as pd

from bench.core.cell import Cell, tidy
from bench.store.run_schema import Sweep
from bench.store.tracking import Store, StoreError


def latest_sweep(store: Store, experiment: str | None, name: str | None = None) -> Sweep:
    """Return the latest sweep of an experiment (or of all), or the one of this id."""
    sweeps = [s for s in store.sweeps(experiment) if name in (None, s.run_id, s.sweep)]
    if not sweeps:
        wanted = name or experiment or "any experiment"
        known = sorted({s.experiment for s in store.sweeps()}) or ["none"]
        raise StoreError(
            f"the store {store.uri} holds no finished sweep of {wanted}; "
            f"there are sweeps of: {', '.join(known)}."
        )
    return sweeps[0]


def table_of(store: Store, sweep: Sweep) -> pd.DataFrame:
    """Return the tidy table of a sweep, from its cells' runs alone."""
    return tidy(
        [
            (Cell(name=name, labels=labels, spec={}, digest=""), result)
            for labels, name, result in store.results(sweep)
        ]
    )
