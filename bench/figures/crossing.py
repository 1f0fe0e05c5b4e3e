"""Where two mechanisms cost the same: the crossing of their error curves, with an interval."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mechanisms.check import FloatArray


def crossing(
    table: pd.DataFrame, metric: str, axis: str, rising: str, level: str
) -> tuple[float, float, float]:
    """Return (value, lower, upper): where `rising` becomes as large as `level` along `axis`.

    Curves are linear between grid points. The ends come from the ends of both 95 % intervals:
    conservative, at least 95 %. NaN where the curves do not cross on the grid.
    """

    def curve(mechanism: str, column: str) -> FloatArray:
        rows = table[(table["mechanism"] == mechanism) & (table["metric"] == metric)]
        rows = rows[rows["statistic"] == ""].sort_values(axis)
        return rows[column].to_numpy(dtype=np.float64)

    if axis not in table:
        return (float("nan"),) * 3
    own = table[(table["mechanism"] == rising) & (table["metric"] == metric)]
    x = np.sort(own.loc[own["statistic"] == "", axis].to_numpy(dtype=np.float64))

    def root(first: str, second: str) -> float:
        gaps = curve(rising, first) - curve(level, second)
        above = np.flatnonzero((gaps[:-1] < 0) & (gaps[1:] >= 0))
        if not above.size:
            return float("nan")
        i = above[0]
        return float(x[i] + (x[i + 1] - x[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    return root("value", "value"), root("upper", "lower"), root("lower", "upper")
