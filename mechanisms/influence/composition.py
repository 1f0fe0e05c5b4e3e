"""Composition of per-entry private releases whose points on the influence curve differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.check import finite, whole
from mechanisms.influence.curve import InfluenceCurve


def composed_points_epsilon(
    penalties: Sequence[float], sizes: Sequence[int], per_entry_epsilons: Sequence[float]
) -> float:
    """Return ``max_l a_l + sum_l b_l eps_l``, the Pufferfish epsilon of adaptive releases.

    Parameters
    ----------
    penalties : sequence of float in [0, inf)
        Influence a_l of the point at which release l was analysed.
    sizes : sequence of int, at least 0
        Size b_l of its high-influence part; (a_l, b_l) lies on or above the curve.
    per_entry_epsilons : sequence of float in [0, inf)
        Per-entry epsilon of each release.

    Returns
    -------
    float
        Never below `InfluenceCurve.pufferfish_epsilon` of the sum of the per-entry epsilons,
        which chooses one point for all releases: use that where the curve is at hand.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Theorem 4, with ``eps_puffer,l = a_l + b_l eps_l``.
    """
    a, epsilons = finite("penalties", penalties), finite("per_entry_epsilons", per_entry_epsilons)
    b = np.array([whole("sizes", size, low=0) for size in sizes])
    if not a.shape == b.shape == epsilons.shape:
        raise ValueError(
            "penalties, sizes and per_entry_epsilons must have one entry a release, "
            f"got {a.size}, {b.size} and {epsilons.size}."
        )
    if min(a.min(), epsilons.min()) < 0:
        raise ValueError("penalties and per_entry_epsilons must not be negative.")
    return float(a.max() + b @ epsilons)


def separately_analysed_epsilon(
    curve: InfluenceCurve, per_entry_epsilons: Sequence[float]
) -> float:
    """Return Theorem 4's epsilon where every release takes the point that is best for it alone.

    What one gets from releases that were each reported with a Pufferfish epsilon of their own,
    and point; the curve's `pufferfish_epsilon` of the sum is the sharper form.

    Parameters
    ----------
    curve : InfluenceCurve
    per_entry_epsilons : sequence of float in [0, inf)
    """
    sizes = np.arange(curve.entries + 1)
    penalties = np.array([curve.at(b) for b in sizes.tolist()])
    best = [int((penalties + sizes * e).argmin()) for e in per_entry_epsilons]
    return composed_points_epsilon([float(penalties[b]) for b in best], best, per_entry_epsilons)
