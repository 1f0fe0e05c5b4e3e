"""Scenarios: a dataset, a query, secrets, and what curator and adversary are assumed to know.

Open `base` first: what the harness asks of a scenario. Then `numeric_column`, the smallest one, or
`property_subsets`, that of the main job (`numeric_table` is the same on a table of one's own,
`statistics` and `subsets` are its parts). Chains: `chain_model` is what `chain_count` and
`chain_histogram` share. `sequences` holds recorded label sequences, for rankings.
"""

from importlib import import_module
from typing import Any

HOMES = {
    "ChainCount": "bench.scenarios.chain_count",
    "ChainHistogram": "bench.scenarios.chain_histogram",
    "NumericColumn": "bench.scenarios.numeric_column",
    "PropertySubsets": "bench.scenarios.property_subsets",
    "Sequences": "bench.scenarios.sequences",
}
__all__ = list(HOMES)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Load a scenario when it is asked for."""
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
