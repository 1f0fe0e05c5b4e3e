"""A synthetic stand-in for Capture-24, fixed before any mechanism was run on it.

151 participants in four age bands of 43, 37, 37 and 34, one day of 30-second windows each, with 11
activities (Chan et al. 2024; Bai et al. 2026, Appendix D.1). The rest is synthetic: people sleep
for about a third of the day, sit for another, and an activity goes on for 3 to 150 minutes.
"""

from __future__ import annotations

import numpy as np

from bench.datasets.sequences.sequence_statistics import (
    Entries,
    SequenceStatistics,
    Steps,
    from_entries,
)
from bench.datasets.source import DataError
from mechanisms.check import FloatArray, IntArray
from mechanisms.influence.chain import stationary_law

ACTIVITIES = (
    "bicycling", "gym", "sitstand+activity", "sitstand+lowactivity", "sitting", "sleep", "sports",
    "standing", "vehicle", "walking", "walking+activity",
)  # fmt: skip
SHARES = (0.012, 0.006, 0.02, 0.05, 0.36, 0.34, 0.008, 0.052, 0.05, 0.062, 0.04)
MINUTES = (15.0, 30.0, 5.0, 6.0, 20.0, 150.0, 40.0, 4.0, 18.0, 3.0, 5.0)  # of one bout
BANDS = {"18-29": 43, "30-37": 37, "38-52": 37, "53+": 34}
WINDOWS = 2880
BAND_SPREAD = 0.35
SEED = 24
NOTE = "SYNTHETIC population: no real participant is in it"


def synthetic_statistics(held_out: int, steps: Steps) -> SequenceStatistics:
    """Walk all participants through a day; the first `held_out` of a band are queried.

    Raises
    ------
    DataError
        If nobody of a band is left to train.
    """
    for name, size in BANDS.items():
        if size <= held_out:
            raise DataError(
                f"held_out={held_out} leaves nobody of the {size} aged {name} to train."
            )
    rng = np.random.default_rng(SEED)
    k, people = len(ACTIVITIES), sum(BANDS.values())
    band = np.repeat(np.arange(len(BANDS)), list(BANDS.values()))
    leave = 1 / (2 * np.array(MINUTES))
    chains = []
    for _ in BANDS:
        wanted = np.array(SHARES) * np.exp(BAND_SPREAD * rng.standard_normal(k))
        flow = wanted * leave  # how often an activity begins, as it ends
        moves = np.tile(flow, (k, 1)) * np.exp(0.3 * rng.standard_normal((k, k)))
        np.fill_diagonal(moves, 0.0)
        moves /= moves.sum(axis=1, keepdims=True)
        chains.append(np.diag(1 - leave) + leave[:, None] * moves)
    accept, alias = alias_tables(np.concatenate(chains))
    first = alias_tables(np.stack([stationary_law(chain) for chain in chains]))
    walk = np.empty((people, WINDOWS), dtype=np.int64)
    (ready, other), row = first, band
    for step in range(WINDOWS):
        place = rng.random(people) * k
        column = place.astype(np.int64)
        keep = place - column < ready[row, column]
        walk[:, step] = np.where(keep, column, other[row, column])
        ready, other, row = accept, alias, band * k + walk[:, step]
    rank = np.concatenate([np.arange(size) for size in BANDS.values()])
    return from_entries(
        Entries(
            states=ACTIVITIES,
            groups=tuple(BANDS),
            sequence=np.repeat(np.arange(people), WINDOWS),
            state=walk.ravel(),
            group=np.repeat(band, WINDOWS),
            training=np.repeat(rank >= held_out, WINDOWS),
            notes=(NOTE,),
        ),
        steps,
    )


def alias_tables(laws: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the tables of the alias method (Walker 1977; Vose 1991), a row a law."""
    n, k = laws.shape
    accept, alias = np.ones((n, k)), np.tile(np.arange(k), (n, 1))
    for row, law in enumerate(laws):
        mass = (law * k).tolist()
        small = [i for i in range(k) if mass[i] < 1]
        large = [i for i in range(k) if mass[i] >= 1]
        while small and large:
            poor, rich = small.pop(), large[-1]
            accept[row, poor], alias[row, poor] = mass[poor], rich
            mass[rich] -= 1 - mass[poor]
            if mass[rich] < 1:
                small.append(large.pop())
    return accept, alias
