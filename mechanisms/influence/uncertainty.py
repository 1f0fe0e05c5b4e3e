"""Influence under a prior of which only bounds are known.

Two readings of "only bounds l <= p <= u are known" (Bai, He, Gu, Kifer, Maeng 2026, Section
6.3.2). ``"joint"``: they bound the joint probabilities P(x_L, s), and the masses of the secrets
are free. ``"conditional"``: they bound the conditionals P(x_L | s), or the masses are known. The
conditional formula is *not* valid where the joint is what is bounded.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mechanisms.check import FloatArray, one_of, within
from mechanisms.influence.curve import InfluenceCurve

UncertaintyOn = Literal["joint", "conditional"]


def uncertainty_penalty(spread: float, uncertainty_on: UncertaintyOn = "joint") -> float:
    """Return what ``l = (1 - t) p`` and ``u = (1 + t) p`` add to a nominal influence, in nats.

    ``log((1 + t) / (1 - t))`` for conditionals; twice that for the joint, an upper bound that is
    approached for kept assignments of small probability, as those of many kept entries are.

    Parameters
    ----------
    spread : float in [0, 1)
        Relative uncertainty t.
    uncertainty_on : {"joint", "conditional"}
        What the bounds bound.

    Examples
    --------
    >>> round(uncertainty_penalty(0.2, "conditional"), 4), round(uncertainty_penalty(0.2), 4)
    (0.4055, 0.8109)
    """
    within("spread", spread, 0, 1, ends="[)")
    one_of("uncertainty_on", uncertainty_on, ("joint", "conditional"))
    once = float(np.log1p(spread) - np.log1p(-spread))
    return 2 * once if uncertainty_on == "joint" else once


def uncertain_curve(
    curve: InfluenceCurve, spread: float, uncertainty_on: UncertaintyOn = "joint"
) -> InfluenceCurve:
    """Return an upper bound on the curve when the prior is known within a factor ``1 +- spread``.

    The nominal curve plus `uncertainty_penalty` at every b below `curve.entries`: the bound does
    not decay in b. An epsilon at or below it leaves only group privacy of all entries.
    """
    shift = uncertainty_penalty(spread, uncertainty_on)

    def shift_rows(rows: FloatArray) -> FloatArray:
        return np.where(np.arange(rows.shape[-1]) >= curve.entries, 0.0, rows + shift)

    note = f"{uncertainty_on} probabilities known within a factor 1 +- {spread:g}"
    return InfluenceCurve(
        values=shift_rows(curve.values),
        entries=curve.entries,
        direction=curve.direction if spread == 0 else "upper bound",
        pairs=None if curve.pairs is None else shift_rows(curve.pairs),
        assumption="; ".join(filter(None, [curve.assumption, note])),
    )
