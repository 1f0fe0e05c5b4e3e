"""Releases without noise and what protects them: statistics, suppressed and rounded tables.

Statistics: open `linear_statistics` first (the mean and its kin), then `gaussian_gain` (what a
Gaussian receiver gains, exactly) and `receiver_strength` (the classes that guarantees are stated
for). Tables: `cell_suppression` and `rounding` release, `marks` says what a suppressed cell alone
tells, `protection` what complements must achieve, `greedy_suppression` and `optimal_suppression`
choose them. `calibrations` is what configuration files name; `statistic_receivers` and
`cell_receivers` are the receivers of scenarios, for the ledger.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "LinearStatistics": "linear_statistics",
        "GaussianReceiver": "gaussian_receiver",
        "GaussianReceivers": "receiver_strength",
        "CellSuppression": "cell_suppression",
        "GreedySuppression": "greedy_suppression",
        "OptimalSuppression": "optimal_suppression",
        "Rounding": "rounding",
        "RandomRounding": "rounding",
        "Margin": "count_table",
        "NoiselessStatistics": "calibrations",
        "SuppressCells": "calibrations",
        "RoundCells": "calibrations",
        "RoundCellsAtRandom": "calibrations",
        "StatisticReceivers": "statistic_receivers",
        "CellReceivers": "cell_receivers",
        "CountTable": "knowledge",
    },
)
