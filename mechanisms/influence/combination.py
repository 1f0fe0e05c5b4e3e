"""Pointwise maxima of influence curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.influence.curve import Direction, InfluenceCurve


def pointwise_max(curves: Sequence[InfluenceCurve]) -> InfluenceCurve:
    """Return the curve of a union of secret pairs, of independent parts, or of priors.

    For several priors the result may lie below the curve of the definition, which uses one set
    of cells for all priors. Theorem 3 holds prior by prior, so guarantees stay valid.
    """
    table = _aligned(curves)
    cells = max(curve.cells for curve in curves)
    pairs = np.concatenate(
        [
            _extended(
                curve, table.shape[1], curve.values[None] if curve.pairs is None else curve.pairs
            )
            for curve in curves
        ]
    )
    return InfluenceCurve(
        values=table.max(axis=0),
        cells=cells,
        direction=_weakest(curves),
        pairs=pairs,
        assumption=_joined(curves),
    )


def _aligned(curves: Sequence[InfluenceCurve]) -> FloatArray:
    if not curves:
        raise ValueError("curves must not be empty.")
    cells = max(curve.cells for curve in curves)
    # Wide enough to show where the curve of fewer cells falls to 0.
    ends = [curve.cells + 1 for curve in curves if curve.cells < cells]
    width = max([curve.values.size for curve in curves] + ends)
    return np.stack([_extended(curve, width, curve.values[None])[0] for curve in curves])


def _extended(curve: InfluenceCurve, width: int, rows: FloatArray) -> FloatArray:
    """Continue rows to `width` columns: the last value up to the number of cells, then 0."""
    columns = np.arange(width)
    extended = rows[:, np.minimum(columns, rows.shape[1] - 1)]
    return np.where(columns >= curve.cells, 0.0, extended)


def _weakest(curves: Sequence[InfluenceCurve]) -> Direction:
    return "exact" if all(curve.direction == "exact" for curve in curves) else "upper bound"


def _joined(curves: Sequence[InfluenceCurve]) -> str:
    return "; ".join(dict.fromkeys(c.assumption for c in curves if c.assumption))
