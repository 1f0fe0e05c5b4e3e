"""Interval attack: which counts a hidden cell can have, given totals, marks and wholeness.

Open `feasible_intervals` first; `attack` is it in the benchmark. `cell_limits` reads a release,
`propagation` uses totals one by one, `two_way` (network flow) and `integer_bounds` all of them
together.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "IntervalAttack": "attack",
        "interval_attack": "feasible_intervals",
        "CellIntervals": "feasible_intervals",
        "suppressed_cells": "cell_limits",
        "rounded_cells": "cell_limits",
        "InconsistentReleaseError": "propagation",
    },
)
