"""The interval of a share of entries guessed right, averaged over games."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench.core.intervals import Estimate, clopper_pearson, mean
from mechanisms.check import FloatArray


def share_of_entries(fractions: FloatArray, entries: int) -> Estimate:
    """Estimate the mean of fractions in [0, 1], one a game of several entries; 95 %.

    Student's t over the games, as entries of one game share their noise; at least Clopper-Pearson
    over all entries, as games that end alike do not vary at all.

    Parameters
    ----------
    fractions : array of shape (n_games,)
    entries : int
        Of one game.
    """
    over_games = mean([fractions])
    n = fractions.size * entries
    hits = int(np.round(fractions * entries).sum())
    low, high = clopper_pearson(hits, n)
    return replace(
        over_games,
        lower=max(0.0, min(over_games.lower, float(low))),
        upper=min(1.0, max(over_games.upper, float(high))),
        method=f"Student t over {fractions.size} games, at least Clopper-Pearson over entries",
    )
