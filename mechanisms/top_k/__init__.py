"""Rankings of the K most frequent categories of correlated entries.

Open `calibrations` first (what is asked for), then `peeling` (K noisy picks) and `ranking` (the K
largest of a noised histogram). `training_majority` publishes what the public part already said.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "InfluenceTopK": "calibrations",
        "GroupTopK": "calibrations",
        "PeeledRanking": "peeling",
        "TopK": "ranking",
        "TrainingMajority": "training_majority",
    },
)
