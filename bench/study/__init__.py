"""What an experiment computes: a study lists cells and computes one of them.

Open `cross` first (scenarios x mechanisms x budgets; `grid` holds the axes, `cell_spec` what
decides a cell's numbers), then `game` (releases, attackers, scores, on the worlds of
`shared_worlds`). From a game to rows: `evidence`, `entries` and `ledger` (certificates and
verdicts), `suspicion` (what would settle a suspect cell), `cell_rows`. A `session` keeps what cells
share. `curve` is the other study: computed quantities against a parameter, no worlds.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "Cross": "cross",
        "Curve": "curve",
    },
)
