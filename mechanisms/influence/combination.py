"""Pointwise maxima of influence curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.influence.curve import Direction, InfluenceCurve


def pointwise_max(curves: Sequence[InfluenceCurve]) -> InfluenceCurve:
    """Return the curve of a union of secret pairs, of independent parts, or of priors.

    For several priors the result may lie below the curve of the definition, which uses one set
    of entries for all priors. Theorem 3 holds prior by prior, so guarantees stay valid.
    """
    table = _align(curves)
    entries = max(curve.entries for curve in curves)
    pairs = np.concatenate(
        [
            _extend(
                curve, table.shape[1], curve.values[None] if curve.pairs is None else curve.pairs
            )
            for curve in curves
        ]
    )
    return InfluenceCurve(
        values=table.max(axis=0),
        entries=entries,
        direction=_weakest(curves),
        pairs=pairs,
        assumption=_join_assumptions(curves),
    )


def _align(curves: Sequence[InfluenceCurve]) -> FloatArray:
    if not curves:
        raise ValueError("curves must not be empty.")
    entries = max(curve.entries for curve in curves)
    # Wide enough to show where the curve of fewer entries falls to 0.
    ends = [curve.entries + 1 for curve in curves if curve.entries < entries]
    width = max([curve.values.size for curve in curves] + ends)
    return np.stack([_extend(curve, width, curve.values[None])[0] for curve in curves])


def _extend(curve: InfluenceCurve, width: int, rows: FloatArray) -> FloatArray:
    """Continue rows to `width` columns: the last value up to the number of entries, then 0."""
    columns = np.arange(width)
    extended = rows[:, np.minimum(columns, rows.shape[1] - 1)]
    return np.where(columns >= curve.entries, 0.0, extended)


def _weakest(curves: Sequence[InfluenceCurve]) -> Direction:
    return "exact" if all(curve.direction == "exact" for curve in curves) else "upper bound"


def _join_assumptions(curves: Sequence[InfluenceCurve]) -> str:
    return "; ".join(dict.fromkeys(c.assumption for c in curves if c.assumption))
