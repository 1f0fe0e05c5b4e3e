"""What an experiment computes: a study lists cells and computes one of them.

Open `cross` first (scenarios x mechanisms x budgets), then `game` (worlds, releases, attackers,
scores), `cell_rows` (from a game to rows) and `ledger` (certificates and verdicts). `grid` holds
the axes. `curve` is the other study: computed quantities against a parameter, no worlds.
"""

from importlib import import_module
from typing import Any

HOMES = {"Cross": "bench.study.cross", "Curve": "bench.study.curve"}
__all__ = list(HOMES)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Load a study when it is asked for."""
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
