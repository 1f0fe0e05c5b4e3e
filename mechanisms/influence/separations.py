"""The best sets of nearby entries to set aside, for all nodes of a chain at once.

By the Markov property only the nearest kept entry on each side of a node matters, at distances dl
and dr. Setting aside b entries allows ``dl + dr = b + 1``, or one side set aside to its end. For a
fixed b the allowed dl of node i are the window [i - w, i - 1] with w = length - 1 - b, cut to
[1, b]: minima over prefixes, suffixes and sliding windows serve all nodes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.check import FloatArray, IntArray
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.sides import Sides


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeGroup:
    """Consecutive nodes of a chain that share their one-sided influences.

    Attributes
    ----------
    first, last, length : int
        1-based positions of the group, and the length of the chain.
    left, right : arrays of shape (n_orders, b_max, n_columns)
        One-sided influences by order of the value pair, distance and column (value pair).
    columns : array of shape (n_columns,)
        Index of each column's value pair.
    """

    first: int
    last: int
    length: int
    left: FloatArray
    right: FloatArray
    columns: IntArray

    def select(self, columns: slice) -> NodeGroup:
        """Return the group restricted to some columns."""
        return NodeGroup(
            first=self.first,
            last=self.last,
            length=self.length,
            left=self.left[:, :, columns],
            right=self.right[:, :, columns],
            columns=self.columns[columns],
        )

    def minima(self, b: int, *, joint: bool) -> Iterator[tuple[int, int, FloatArray]]:
        """Yield (first node, last node, influence) blocks that cover the group.

        The influence is the smallest over sets of exactly `b` entries around the node, for each
        node of the block (one row where all agree) and column; with `joint` the set serves all
        columns, and there is a single column. Needs ``1 <= b < length`` and tables up to b.
        """
        # The four blocks below are the four ways in which the window [i - w, i - 1] meets [1, b]:
        # cut on neither, one or both sides. Each is a running or sliding minimum of one table,
        # so that all nodes of a block cost no more than one.
        first, last, window = self.first, self.last, self.length - 1 - b
        low, high = max(1, first - window), min(b, last - 1)
        two = _one_order(
            self.left[:, low - 1 : high] + self.right[:, b - high : b - low + 1][:, ::-1], joint
        )
        # Row d - 1 belongs to distance d. Node i keeps b - i + 1 on the right alone (all of the
        # left set aside), or i - window - 1 on the left alone.
        left = _one_order(self.left[:, :b], joint)
        right = _one_order(self.right[:, :b], joint)[::-1]
        nothing = np.full((1, two.shape[1]), np.inf)

        stop = min(last, window + 1, b)
        if first <= stop:  # windows [1, i - 1]
            prefix = np.concatenate([nothing, np.minimum.accumulate(two)])
            yield first, stop, np.minimum(prefix[first - 1 : stop], right[first - 1 : stop])
        start, stop = max(first, b + 1), min(last, window + 1)
        if start <= stop:  # windows [1, b]
            yield start, stop, two.min(axis=0, keepdims=True)
        start, stop = max(first, window + 2), min(last, b)
        if start <= stop:  # windows [i - window, i - 1]
            rows = slice(start - window - low, stop - window - low + 1)
            best = np.minimum(right[start - 1 : stop], left[start - window - 2 : stop - window - 1])
            yield start, stop, np.minimum(best, _sliding(two, window)[rows]) if window else best
        start = max(first, b + 1, window + 2)
        if start <= last:  # windows [i - window, b]
            suffix = np.concatenate([np.minimum.accumulate(two[::-1])[::-1], nothing])
            rows = slice(start - window - low, last - window - low + 1)
            yield (
                start,
                last,
                np.minimum(suffix[rows], left[start - window - 2 : last - window - 1]),
            )


def node_groups(
    chains: Sequence[MarkovChain], length: int, b_max: int, tolerance: float
) -> Iterator[NodeGroup]:
    """Yield the node groups of chains of one length; the value pairs of all chains are columns.

    Consecutive nodes join a group while their laws agree within `tolerance` (nats, in the log
    ratio of two states); the group then uses its largest ratio, an upper bound that exceeds the
    truth by at most `tolerance`. Nodes without a value pair are left out.
    """
    sides = [Sides(chain, length, b_max) for chain in chains]
    streams = [side.offsets() for side in sides]
    first, tops, starts = 1, [next(stream) for stream in streams], [np.empty(0)]
    starts = list(tops)
    for node in range(2, length + 1):
        offsets = [next(stream) for stream in streams]
        same = all(
            _joins(side, first, node, b_max, start, offset, tolerance)
            for side, start, offset in zip(sides, starts, offsets, strict=True)
        )
        if same:
            # The group answers with the largest of its members' ratios: an upper bound.
            tops = [np.maximum(top, new) for top, new in zip(tops, offsets, strict=True)]
            continue
        yield from _group(sides, first, node - 1, length, tops)
        first, tops, starts = node, offsets, list(offsets)
    yield from _group(sides, first, length, length, tops)


def _joins(
    side: Sides,
    first: int,
    node: int,
    b_max: int,
    start: FloatArray,
    offset: FloatArray,
    tolerance: float,
) -> bool:
    if side.settled > 1 and first - b_max < side.settled:
        return False  # the entries to the left have other possible states
    possible = side.supports[node - 1]
    valid = possible[:, None] & possible[None, :]
    return bool(np.isclose(start[valid], offset[valid], rtol=0.0, atol=tolerance).all())


def _group(
    sides: Sequence[Sides], first: int, last: int, length: int, offsets: Sequence[FloatArray]
) -> Iterator[NodeGroup]:
    lefts, rights, columns = [], [], []
    for side, offset in zip(sides, offsets, strict=True):
        s, t = np.triu_indices(len(offset), 1)
        possible = side.supports[first - 1]
        # A pair with an impossible value is no secret pair at this node.
        valid = np.flatnonzero(possible[s] & possible[t])
        s, t = s[valid], t[valid]
        left = side.left(first)
        with np.errstate(invalid="ignore"):
            both = np.stack([left[:, s, t] + offset[s, t], left[:, t, s] + offset[t, s]])
        # Only at distances that leave the chain can no state lead to s: never used.
        lefts.append(np.where(np.isnan(both), np.inf, both))
        rights.append(np.stack([side.right[:, s, t], side.right[:, t, s]]))
        columns.append(valid)
    group = NodeGroup(
        first=first,
        last=last,
        length=length,
        left=np.concatenate(lefts, axis=2),
        right=np.concatenate(rights, axis=2),
        columns=np.concatenate(columns),
    )
    if group.columns.size:
        yield group


def _one_order(table: FloatArray, joint: bool) -> FloatArray:
    # Both orders of a value pair count (Pufferfish privacy is two-sided), and one set of entries
    # that serves all pairs pays for the worst of them.
    worst = table.max(axis=0)
    return worst.max(axis=1, keepdims=True) if joint else worst


def _sliding(table: FloatArray, window: int) -> FloatArray:
    """Return minima of `window` consecutive rows, by doubling: row j covers [j, j + window)."""
    covered, minima = 1, table
    while 2 * covered <= window:
        minima = np.minimum(minima[:-covered], minima[covered:])
        covered *= 2
    rest = window - covered
    return np.minimum(minima[: len(minima) - rest], minima[rest:])
