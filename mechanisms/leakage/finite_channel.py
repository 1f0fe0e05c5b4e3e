"""Exact leakage of mechanisms whose outputs can be listed."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.integer_grid import CELLS
from mechanisms.leakage.pair import FinitePair
from mechanisms.privacy.bracket import NotComputableError


def channel_pair(
    first: tuple[FiniteLaw, FloatArray], second: tuple[FiniteLaw, FloatArray], k: int
) -> FinitePair:
    """Compare k releases of one answer under two finite laws.

    Parameters
    ----------
    first, second : (law, channel)
        Each law with the log probabilities of the c outputs given each of its atoms, (a, c).
    k : int
        Releases, independent given the answer; ``c ** k`` outputs are listed.
    """
    n_outputs = first[1].shape[1]
    atoms = max(law.weights.size for law, _ in (first, second))
    if atoms * n_outputs**k > CELLS:
        raise NotComputableError(
            f"{n_outputs} outputs in {k} release(s) of {atoms} answers are too many to list"
        )
    logs = []
    for law, channel in (first, second):
        joint = channel
        for _ in range(k - 1):
            joint = (joint[:, :, None] + channel[:, None, :]).reshape(len(channel), -1)
        with np.errstate(divide="ignore"):
            weighted = joint + np.log(law.weights)[:, None]
        logs.append(np.logaddexp.reduce(weighted, axis=0))
    return FinitePair.from_logs(first=logs[0], second=logs[1])
