"""Where two mechanisms cost the same: the crossing of their error curves, with an interval."""

from __future__ import annotations

import numpy as np
import pandas as pd


def crossing(
    table: pd.DataFrame, metric: str, axis: str, rising: str, level: str
) -> tuple[float, float, float]:
    """Return (value, lower, upper): where `rising` becomes as large as `level` along `axis`.

    Curves are linear between grid points. The ends come from the ends of both 95 % intervals:
    conservative, at least 95 %. NaN where the curves do not cross on the grid.
    """
    if axis not in table:
        return (float("nan"),) * 3
    rows = table[(table["metric"] == metric) & (table["statistic"] == "")].dropna(subset=[axis])
    first_rows, second_rows = (rows[rows["mechanism"] == name] for name in (rising, level))
    both = first_rows.merge(second_rows, on=axis, suffixes=("", "_level")).sort_values(axis)
    x = both[axis].to_numpy(dtype=np.float64)

    def root(first: str, second: str) -> float:
        gaps = (both[first] - both[f"{second}_level"]).to_numpy(dtype=np.float64)
        above = np.flatnonzero((gaps[:-1] < 0) & (gaps[1:] >= 0))
        if not above.size:
            return float("nan")
        i = above[0]
        return float(x[i] + (x[i + 1] - x[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    return root("value", "value"), root("upper", "lower"), root("lower", "upper")
