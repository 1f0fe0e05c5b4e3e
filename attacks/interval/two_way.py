"""Exact intervals of two-way tables by network flow.

Cells are arcs from rows to columns, totals are arcs from a source to rows, from columns to a sink,
and back: a table that fits is a circulation within the arcs' limits. From one such table a cell
can rise by as much as can flow back from its column to its row through the other arcs' slack, and
all flows may be taken whole. Each flow found is a new table, which also shows how far other cells
can go, and each smallest cut bounds every cell that crosses it; only cells that these leave open
need flows of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from attacks.interval.propagation import InconsistentReleaseError
from mechanisms.check import IntArray
from mechanisms.deterministic.count_table import BoolArray, Margin

Progress = Callable[[int, int], None]
CAPACITY = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arcs:
    """Arcs between nodes, each with limits of its flow; the first ones are the table's cells."""

    tail: IntArray
    head: IntArray
    lower: IntArray
    upper: IntArray
    n_nodes: int

    def kept(self, which: BoolArray) -> Arcs:
        """Return some of the arcs."""
        return Arcs(
            tail=self.tail[which],
            head=self.head[which],
            lower=self.lower[which],
            upper=self.upper[which],
            n_nodes=self.n_nodes,
        )


def two_way_intervals(
    lower: IntArray,
    upper: IntArray,
    margins: Sequence[Margin],
    progress: Progress | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the smallest and largest count of every cell over all tables that fit; exact.

    Parameters
    ----------
    lower, upper : int arrays of shape (r, c)
        Finite limits, such as `propagate` returns.
    margins : sequence of Margin
        Of rows, of columns, of both, the grand total; exact or in intervals.
    progress : callable (done, total), optional
        Called with the number of cells that are settled, after each flow.
    """
    arcs = _arcs(lower, upper, margins)
    search = _Search(arcs, lower.size)
    search.run(progress)
    return search.least.reshape(lower.shape), search.most.reshape(lower.shape)


def _arcs(lower: IntArray, upper: IntArray, margins: Sequence[Margin]) -> Arcs:
    """Return the arcs source -> rows -> columns -> sink -> source."""
    r, c = lower.shape
    row, column = np.indices((r, c)).reshape(2, -1)
    source, sink = r + c, r + c + 1
    sides: list[tuple[IntArray, IntArray, tuple[int, ...], int | tuple[int, int]]] = [
        (np.full(r, source), np.arange(r), (0,), 1),
        (r + np.arange(c), np.full(c, sink), (1,), 0),
        (np.array([sink]), np.array([source]), (), (0, 1)),
    ]
    tail, head = [row], [r + column]
    low, high = [lower.ravel()], [upper.ravel()]
    for tails, heads, axes, summed in sides:
        tail.append(tails)
        head.append(heads)
        low.append(np.atleast_1d(lower.sum(axis=summed)))
        high.append(np.atleast_1d(upper.sum(axis=summed)))
        for margin in margins:
            if margin.axes == axes:
                low[-1] = np.maximum(low[-1], np.atleast_1d(margin.lower))
                high[-1] = np.minimum(high[-1], np.atleast_1d(margin.upper))
    return Arcs(
        tail=np.concatenate(tail),
        head=np.concatenate(head),
        lower=np.concatenate(low),
        upper=np.concatenate(high),
        n_nodes=r + c + 2,
    )


class _Network:
    """Flows over arcs that can vary, on one sparsity pattern for all of them.

    Two further nodes, `start` and `end`, are joined to every other: a flow leaves from `start`
    through the one tap that is opened, so that it is no larger than asked for.
    """

    def __init__(self, arcs: Arcs) -> None:
        n, m = arcs.n_nodes, arcs.tail.size
        self.arcs, self.start, self.end = arcs, n, n + 1
        nodes = np.arange(n)
        tails = [arcs.tail, arcs.head, np.full(n, n), nodes, nodes, np.full(n, n + 1)]
        heads = [arcs.head, arcs.tail, nodes, np.full(n, n), np.full(n, n + 1), nodes]
        size = 2 * m + 4 * n
        pattern = csr_array(
            (np.arange(size), (np.concatenate(tails), np.concatenate(heads))), shape=(n + 2, n + 2)
        )
        pattern.sort_indices()
        place = np.empty(size, dtype=np.int64)
        place[pattern.data] = np.arange(size)
        self.indices = pattern.indices.astype(np.int32)
        self.indptr = pattern.indptr.astype(np.int32)
        self.keys = _keys(pattern)
        self.forward, self.backward = place[:m], place[m : 2 * m]
        self.tap, self.drain = place[2 * m : 2 * m + n], place[2 * m + 2 * n : 2 * m + 3 * n]

    def graph(self, capacity: IntArray) -> csr_array:
        """Return the graph with these capacities, one an entry of the pattern."""
        size = self.start + 2
        return csr_array((capacity.astype(np.int32), self.indices, self.indptr), shape=(size, size))

    def slack(self, capacity: IntArray) -> csr_array:
        """Return the graph of the arcs that have capacity."""
        graph = self.graph(capacity).copy()  # zeros are taken out in place
        graph.eliminate_zeros()
        return graph

    def residual(self, flow: IntArray) -> IntArray:
        """Return the slack of every arc, forward and backward."""
        capacity = np.zeros(self.indices.size, dtype=np.int64)
        capacity[self.forward] = self.arcs.upper - flow
        capacity[self.backward] = flow - self.arcs.lower
        return capacity

    def push(self, capacity: IntArray, sink: int) -> tuple[int, IntArray, BoolArray]:
        """Return a largest flow from `start`, its change of every arc, and its smallest cut.

        The cut is given as the nodes on the side of `start`.
        """
        result = maximum_flow(self.graph(capacity), self.start, sink)
        # The flow's own pattern leaves out arcs without capacity.
        moved = np.zeros(self.indices.size, dtype=np.int64)
        moved[np.searchsorted(self.keys, _keys(result.flow))] = result.flow.data
        left = self.slack(capacity - moved)
        reached = np.zeros(self.start + 2, dtype=bool)
        reached[breadth_first_order(left, self.start, return_predecessors=False)] = True
        return int(result.flow_value), moved[self.forward], reached[: self.start]


def _keys(graph: csr_array) -> IntArray:
    """Return one number for each entry's row and column, ascending with sorted indices."""
    n = graph.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(graph.indptr))
    return rows * n + graph.indices


class _Search:
    """Counts seen so far in tables that fit, and proved limits; done where they meet."""

    def __init__(self, arcs: Arcs, n_cells: int) -> None:
        free = arcs.lower < arcs.upper
        self.cells = np.flatnonzero(free[:n_cells])  # the free arcs' first ones
        self.network = _Network(arcs.kept(free))
        self.flow = self._feasible(arcs)
        self.least, self.most = arcs.lower[:n_cells].copy(), arcs.upper[:n_cells].copy()
        k = self.cells.size
        self.low, self.high = self.network.arcs.lower[:k].copy(), self.network.arcs.upper[:k].copy()
        self.seen_low, self.seen_high = self.flow[:k].copy(), self.flow[:k].copy()

    def _feasible(self, arcs: Arcs) -> IntArray:
        """Return one table that fits, as flows over the free arcs."""
        network = self.network
        excess = np.zeros(arcs.n_nodes, dtype=np.int64)
        np.add.at(excess, arcs.head, arcs.lower)
        np.add.at(excess, arcs.tail, -arcs.lower)
        needed = int(excess[excess > 0].sum())
        room = network.arcs.upper - network.arcs.lower
        if max(needed, int(room.max(initial=0))) > CAPACITY:
            raise ValueError(
                f"uncertain counts must be at most {CAPACITY} for exact intervals, got more."
            )
        capacity = network.residual(network.arcs.lower)
        capacity[network.tap] = np.maximum(excess, 0)
        capacity[network.drain] = np.maximum(-excess, 0)
        value, moved, _ = network.push(capacity, network.end)
        if value < needed:
            raise InconsistentReleaseError(
                "totals must fit the cells: no table of whole counts has these rows and columns."
            )
        return network.arcs.lower + moved

    def run(self, progress: Progress | None) -> None:
        """Settle every cell."""
        self._fix_bridges()
        for up in (True, False):
            for cell in np.argsort(self.low - self.high, kind="stable"):
                seen, limit = (self.seen_high, self.high) if up else (self.seen_low, self.low)
                if seen[cell] != limit[cell]:
                    self._settle(int(cell), up)
                    if progress is not None:
                        settled = (self.seen_high == self.high) & (self.seen_low == self.low)
                        progress(int(settled.sum()), settled.size)
        if progress is not None:
            progress(self.cells.size, self.cells.size)
        self.least[self.cells], self.most[self.cells] = self.low, self.high

    def _fix_bridges(self) -> None:
        """Settle cells on no cycle of slack arcs: they have one count in every table that fits."""
        network, k = self.network, self.cells.size
        graph = network.slack(network.residual(self.flow))
        _, component = connected_components(graph, connection="strong")
        fixed = (component[network.arcs.tail] != component[network.arcs.head])[:k]
        self.low[fixed] = self.high[fixed] = self.flow[:k][fixed]

    def _settle(self, cell: int, up: bool) -> None:
        """Find how far a cell can rise or fall: the rest carries what it gives up or takes."""
        network, arcs, k = self.network, self.network.arcs, self.cells.size
        capacity = network.residual(self.flow)
        room = (arcs.upper - self.flow if up else self.flow - arcs.lower)[cell]
        start, sink = (arcs.head, arcs.tail) if up else (arcs.tail, arcs.head)
        capacity[network.forward[cell]] = capacity[network.backward[cell]] = 0
        capacity[network.tap[start[cell]]] = room
        value, moved, reached = network.push(capacity, int(sink[cell]))
        self.flow = self.flow + moved
        self.flow[cell] += value if up else -value
        np.minimum(self.seen_low, self.flow[:k], out=self.seen_low)
        np.maximum(self.seen_high, self.flow[:k], out=self.seen_high)
        if value < room:
            self._cut(reached)
        if up:
            self.high[cell] = self.seen_high[cell]
        else:
            self.low[cell] = self.seen_low[cell]

    def _cut(self, reached: BoolArray) -> None:
        """Bound all cells that cross a cut: what enters a set of nodes must leave it."""
        arcs, k = self.network.arcs, self.cells.size
        leaving = reached[arcs.tail] & ~reached[arcs.head]
        entering = ~reached[arcs.tail] & reached[arcs.head]
        slack = self._constant(reached)
        out, into = leaving[:k], entering[:k]
        np.minimum(self.high, np.where(into, arcs.lower[:k] + slack, self.high), out=self.high)
        np.maximum(self.low, np.where(out, arcs.upper[:k] - slack, self.low), out=self.low)

    def _constant(self, reached: BoolArray) -> int:
        """Return the free arcs' slack over the cut, the same for every table that fits."""
        arcs = self.network.arcs
        leaving = reached[arcs.tail] & ~reached[arcs.head]
        entering = ~reached[arcs.tail] & reached[arcs.head]
        return int(
            (arcs.upper - self.flow)[leaving].sum() + (self.flow - arcs.lower)[entering].sum()
        )
