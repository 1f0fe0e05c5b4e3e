"""Receiver operating characteristics with ties, infinite scores and interpolation."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from mechanisms.check import FloatArray, IntArray


def pair_scores(
    secret: IntArray, score: FloatArray, pair: tuple[int, int]
) -> tuple[IntArray, FloatArray]:
    """Return (label, log-odds) of the worlds of one pair; label 1 is the pair's second secret.

    Raises
    ------
    ValueError
        If a score is NaN.
    """
    low, high = pair
    keep = (secret == low) | (secret == high)
    first, second = score[keep, low], score[keep, high]
    if np.isnan(first).any() or np.isnan(second).any():
        raise ValueError("scores must not be NaN.")
    odds = np.zeros(first.size)
    np.subtract(second, first, out=odds, where=first != second)
    return (secret[keep] == high).astype(np.int64), odds


def roc_points(label: IntArray, odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (fpr, tpr) at every distinct threshold, from (0, 0) to (1, 1).

    Between the points the curve is linear: the randomised test.
    """
    check_samples(label, odds)
    order = np.argsort(-odds, kind="stable")
    ranked, hits = odds[order], label[order]
    last = np.append(ranked[1:] != ranked[:-1], True)
    tpr = np.cumsum(hits)[last] / hits.sum()
    fpr = np.cumsum(1 - hits)[last] / (1 - hits).sum()
    return np.append(0.0, fpr), np.append(0.0, tpr)


def auc(label: IntArray, odds: FloatArray) -> float:
    """Return P[odds of a 1 > odds of a 0] + P[tie]/2.

    Examples
    --------
    >>> auc(np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 1.0, 0.0]))
    0.75
    """
    check_samples(label, odds)
    ones = int(label.sum())
    ranks = rankdata(odds)
    return float((ranks[label == 1].sum() - ones * (ones + 1) / 2) / (ones * (label.size - ones)))


def tpr_at(label: IntArray, odds: FloatArray, fpr: float) -> float:
    """Return the TPR at this FPR, interpolated: the randomised Neyman-Pearson test."""
    fprs, tprs = roc_points(label, odds)
    steps = np.flatnonzero(fprs <= fpr)
    left = steps[-1]
    if left + 1 == fprs.size:
        return float(tprs[left])
    share = (fpr - fprs[left]) / (fprs[left + 1] - fprs[left])
    return float(tprs[left] + share * (tprs[left + 1] - tprs[left]))


def best_threshold(label: IntArray, odds: FloatArray) -> float:
    """Return the threshold that maximises TPR - FPR; the test is ``odds >= threshold``."""
    fpr, tpr = roc_points(label, odds)
    best = int((tpr - fpr).argmax())
    return np.inf if best == 0 else float(np.unique(odds)[::-1][best - 1])


def check_samples(label: IntArray, odds: FloatArray) -> None:
    """Refuse odds that are NaN, and labels other than 0 and 1, both present."""
    if np.isnan(odds).any():
        raise ValueError("scores must not be NaN.")
    if label.size == 0 or label.min() == label.max():
        raise ValueError("a ROC needs worlds of both secrets, got one class only.")
    if not np.isin(label, (0, 1)).all():
        raise ValueError(f"labels must be 0 or 1, got {np.unique(label).tolist()}.")
