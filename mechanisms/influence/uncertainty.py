"""Influence under a prior of which only bounds are known.

Two readings of "only bounds l <= p <= u are known" (Bai, He, Gu, Kifer, Maeng 2026, Section
6.3.2). ``"joint"``: they bound the joint probabilities P(x_L, s), and the masses of the secrets
are free. ``"conditional"``: they bound the conditionals P(x_L | s), or the masses are known. The
conditional formula is *not* valid where the joint is what is bounded.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mechanisms.check import FloatArray, finite, within
from mechanisms.influence.curve import InfluenceCurve

Reading = Literal["joint", "conditional"]


def joint_influence(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the influence of each ordered pair of secrets, bounds on joint probabilities.

    Parameters
    ----------
    lower, upper : arrays of shape (n_secrets, n_values)
        ``lower[s, d] <= P(x_L = d, s) <= upper[s, d]``, with ``0 <= lower``.

    Returns
    -------
    array of shape (n_secrets, n_secrets)
        Entry [s, t]: largest ``log P(d | s) / P(d | t)`` over d and the box, tight over the box;
        an upper bound where the whole table must also sum to 1. inf where P(d | t) may vanish.
    """
    lower, upper = _box(lower, upper)
    # Largest: d at its upper end and all other values at their lower ends; smallest: reversed.
    high = _share(upper, lower.sum(axis=1, keepdims=True) - lower)
    low = _share(lower, upper.sum(axis=1, keepdims=True) - upper)
    return _largest_ratio(high, low)


def conditional_influence(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the influence of each ordered pair, bounds on ``P(x_L = d | s)``; shapes as above."""
    lower, upper = _box(lower, upper)
    return _largest_ratio(upper, lower)


def excess(spread: float, reading: Reading = "joint") -> float:
    """Return what ``l = (1 - t) p`` and ``u = (1 + t) p`` add to a nominal influence, in nats.

    ``log((1 + t) / (1 - t))`` for conditionals; twice that for the joint, an upper bound that is
    approached for kept assignments of small probability, as those of many kept cells are.

    Parameters
    ----------
    spread : float in [0, 1)
        Relative uncertainty t.
    reading : {"joint", "conditional"}
        What the bounds bound.

    Examples
    --------
    >>> round(excess(0.2, "conditional"), 4), round(excess(0.2), 4)
    (0.4055, 0.8109)
    """
    within("spread", spread, 0, 1, ends="[)")
    if reading not in ("joint", "conditional"):
        raise ValueError(f"reading must be 'joint' or 'conditional', got reading={reading!r}.")
    once = float(np.log1p(spread) - np.log1p(-spread))
    return 2 * once if reading == "joint" else once


def uncertain_curve(
    curve: InfluenceCurve, spread: float, reading: Reading = "joint"
) -> InfluenceCurve:
    """Return an upper bound on the curve when the prior is known within a factor ``1 +- spread``.

    The nominal curve plus `excess` at every b below `curve.cells`: the bound does not decay in b.
    An epsilon at or below it leaves only group privacy of all cells.
    """
    shift = excess(spread, reading)

    def shifted(rows: FloatArray) -> FloatArray:
        return np.where(np.arange(rows.shape[-1]) >= curve.cells, 0.0, rows + shift)

    note = f"{reading} probabilities known within a factor 1 +- {spread:g}"
    return InfluenceCurve(
        values=shifted(curve.values),
        cells=curve.cells,
        direction=curve.direction if spread == 0 else "upper bound",
        pairs=None if curve.pairs is None else shifted(curve.pairs),
        assumption="; ".join(filter(None, [curve.assumption, note])),
    )


def _box(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = finite("lower", lower), finite("upper", upper)
    if low.ndim != 2 or low.shape != high.shape:
        raise ValueError(
            "lower and upper must share one shape (n_secrets, n_values), "
            f"got {low.shape} and {high.shape}."
        )
    if not ((low >= 0) & (low <= high)).all():
        raise ValueError("lower must be in [0, upper] everywhere.")
    if not (high.sum(axis=1) > 0).all():
        raise ValueError("upper must leave mass to every secret, got a row of zeros.")
    return low, high


def _share(part: FloatArray, others: FloatArray) -> FloatArray:
    total = part + np.maximum(others, 0.0)
    return np.divide(part, total, out=np.zeros_like(part), where=total > 0)


def _largest_ratio(high: FloatArray, low: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(high)[:, None, :] - np.log(low)[None, :, :]
    ratio[np.isnan(ratio)] = -np.inf  # 0/0: a value that neither secret can show
    result = ratio.max(axis=2)
    np.fill_diagonal(result, 0.0)
    return result
