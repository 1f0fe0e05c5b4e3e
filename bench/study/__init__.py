"""What an experiment computes: a study lists cells and computes one of them.

Open `cross` first (scenarios x mechanisms x budgets), then `game` (worlds, releases, attackers,
scores), `cell_rows` (from a game to rows) and `ledger` (certificates and verdicts). `grid` holds
the axes. `curve` is the other study: computed quantities against a parameter, no worlds.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "Cross": "cross",
        "Curve": "curve",
    },
)
