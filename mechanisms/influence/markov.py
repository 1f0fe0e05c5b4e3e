"""The a(b)-influence curve of a finite Markov chain, every node and value pair a secret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.check import whole, within
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.separations import node_groups

COLUMNS = 64  # value pairs per pass: the tables of one pass stay in cache
EXACT = 1e-9
FIRST_WIDTH = 32
SMALLEST_EPSILON = 0.05


def chain_curve(
    chain: MarkovChain,
    lengths: int | Sequence[int],
    *,
    b_max: int | None = None,
    tolerance: float = EXACT,
) -> InfluenceCurve:
    """Return the influence curve of independent sequences drawn from one chain.

    Secrets are all pairs (X_i = s, X_i = t) of possible values at every position i.

    Parameters
    ----------
    chain : MarkovChain
        Transition matrix and law (or laws) of the first state.
    lengths : int or sequence of int
        Lengths of the sequences. Independent sequences never help each other's attacker, and a
        shorter sequence is a beginning of a longer one, whose influence is at least as large (cut
        the entries set aside to the beginning). So the longest decides.
    b_max : int or None
        Largest tabulated b; beyond it the curve is held at its last value. None tabulates until
        no larger b could serve an epsilon of .05 or more.
    tolerance : float in [0, inf)
        Nodes whose laws agree within this many nats share one computation, at the larger
        influence: 1e-9 is exact for all purposes, .01 makes long chains far from stationarity
        fast.

    Returns
    -------
    InfluenceCurve
        Exact (above by at most `tolerance`; "upper bound" for a tolerance above 1e-9). `pairs`
        holds a row per pair of values, the largest over positions. Zero transition probabilities
        may make it infinite.

    Notes
    -----
    ``a(b) = max over i, s < t of min over (dl, dr) of max(F(s, t), F(t, s))``, where F adds what
    the nearest kept entries on both sides tell; for one pair (s, t) the two maxima separate by the
    Markov property. (Bai, He, Gu, Kifer, Maeng 2026, Definition 2 and Section 6.4.)

    Setting b entries aside buys ``(epsilon - a(b)) / b``, more than b + 1 entries could buy with no
    influence at all once ``a(b) (b + 1) <= epsilon``; there the search for `b_max` ends.

    Examples
    --------
    >>> chain = MarkovChain(transition=np.array([[0.6, 0.4], [0.2, 0.8]]))
    >>> chain_curve(chain, 60, b_max=3).values.round(4)
    array([   inf, 2.1972, 1.5506, 0.904 ])
    """
    length = longest(lengths)
    within("tolerance", tolerance, 0, np.inf, ends="[)")
    if b_max is not None:
        return _tabulate(chain, length, min(whole("b_max", b_max), length), tolerance)
    width = FIRST_WIDTH
    while True:
        curve = _tabulate(chain, length, min(width, length), tolerance)
        if width >= length or curve.at(width) * (width + 1) <= SMALLEST_EPSILON:
            return curve
        width *= 2


def _tabulate(chain: MarkovChain, length: int, b_max: int, tolerance: float) -> InfluenceCurve:
    size = len(chain.transition)
    rows = np.full((size * (size - 1) // 2, b_max + 1), -np.inf)
    for group in node_groups([chain], length, b_max, tolerance):
        for start in range(0, group.columns.size, COLUMNS):
            part = group.select(slice(start, start + COLUMNS))
            rows[part.columns, 0] = np.inf  # a kept secret entry tells all
            for b in range(1, min(b_max, length - 1) + 1):
                for _, _, influence in part.minima(b, joint=False):
                    rows[part.columns, b] = np.maximum(rows[part.columns, b], influence.max(axis=0))
    rows = rows[rows[:, 0] > -np.inf]
    if b_max == length:
        rows[:, length] = 0.0
    rows = np.minimum.accumulate(np.maximum(rows, 0.0), axis=1)  # rounding only
    return InfluenceCurve(
        values=rows.max(axis=0) if rows.size else np.zeros(b_max + 1),
        entries=length,
        direction="exact" if tolerance <= EXACT else "upper bound",
        pairs=rows if rows.size else None,
    )


def longest(lengths: int | Sequence[int]) -> int:
    """Return the largest of one or several lengths, each a whole number of at least 1."""
    if isinstance(lengths, Sequence | np.ndarray):
        if len(lengths) == 0:
            raise ValueError("lengths must not be empty.")
        return max(whole("lengths", length) for length in lengths)
    return whole("lengths", lengths)
