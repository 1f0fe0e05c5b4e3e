"""Discrete Bayesian networks: conditional tables, and marginals by variable elimination."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mechanisms.check import FloatArray, finite

ROW_TOLERANCE = 1e-3  # published tables are printed with few digits; rows are rescaled to 1
TABLE_LIMIT = 1 << 20

Factor = tuple[tuple[str, ...], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConditionalTable:
    """Law of one variable given its parents.

    Parameters
    ----------
    variable : str
    parents : tuple of str
    table : array of shape (*parent sizes, size)
        Probabilities of the variable's states along the last axis, which sums to 1.
    """

    variable: str
    parents: tuple[str, ...]
    table: FloatArray

    def __post_init__(self) -> None:
        table = finite(f"table of {self.variable}", self.table)
        if table.ndim != len(self.parents) + 1:
            raise ValueError(
                f"table of {self.variable} must have an axis per parent and one of its own, "
                f"got {table.ndim} for {len(self.parents)} parents."
            )
        sums = table.sum(axis=-1, keepdims=True)
        if (table < 0).any() or not (np.abs(sums - 1) <= ROW_TOLERANCE).all():
            raise ValueError(
                f"table of {self.variable} must be non-negative with rows that sum to 1, "
                f"got minimum {table.min():g}, sums {sums.min():g} to {sums.max():g}."
            )
        table = table / sums
        table.flags.writeable = False
        object.__setattr__(self, "table", table)

    @property
    def factor(self) -> Factor:
        """The table with the names of its axes."""
        return (*self.parents, self.variable), self.table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BayesianNetwork:
    """A discrete Bayesian network.

    Raises
    ------
    ValueError
        If a parent is unknown, sizes disagree, a variable has two tables, or there is a cycle.
    """

    tables: tuple[ConditionalTable, ...]
    sizes: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        sizes = {table.variable: table.table.shape[-1] for table in self.tables}
        if not sizes or len(sizes) < len(self.tables):
            raise ValueError("tables must hold exactly one table per variable.")
        for table in self.tables:
            unknown = [parent for parent in table.parents if parent not in sizes]
            if unknown:
                raise ValueError(f"{table.variable} must have known parents, got {unknown[0]!r}.")
            expected = tuple(sizes[name] for name in table.factor[0])
            if table.table.shape != expected:
                raise ValueError(
                    f"table of {table.variable} must have shape {expected} "
                    f"(parents, own states), got {table.table.shape}."
                )
        placed: set[str] = set()
        waiting = list(self.tables)
        while waiting:
            ready = [table for table in waiting if placed.issuperset(table.parents)]
            if not ready:
                raise ValueError(
                    f"tables must be free of cycles, got one at {waiting[0].variable}."
                )
            placed |= {table.variable for table in ready}
            waiting = [table for table in waiting if table.variable not in placed]
        object.__setattr__(self, "sizes", sizes)

    def marginal(self, variable: str) -> FloatArray:
        """Return the law of one variable, shape (size,)."""
        by_name = {table.variable: table for table in self.tables}
        if variable not in by_name:
            raise ValueError(f"variable must be one of the network's, got variable={variable!r}.")
        needed, frontier = set[str](), [variable]
        while frontier:
            name = frontier.pop()
            if name not in needed:
                needed.add(name)
                frontier.extend(by_name[name].parents)
        factors = [by_name[name].factor for name in needed]
        law = eliminate(factors, (variable,), self.sizes, limit=1 << 26)
        if law is None:
            raise ValueError(f"variable must have a tractable law, got {variable!r}.")
        return law


def eliminate(
    factors: Sequence[Factor], keep: tuple[str, ...], sizes: Mapping[str, int], *, limit: int
) -> FloatArray | None:
    """Sum the product of factors over all variables but `keep`, one variable at a time.

    Returns
    -------
    array of shape (sizes of keep), or None
        None where a table with more than `limit` entries would be needed. The next variable is
        always the one with the smallest table.
    """
    if _entries(keep, sizes) > limit:
        return None
    left = list(factors)
    remaining = {name for scope, _ in left for name in scope} - set(keep)
    while remaining:
        joined = {name: _scope([f for f in left if name in f[0]]) for name in remaining}
        name = min(sorted(joined), key=lambda variable: _entries(joined[variable], sizes))
        scope = joined[name]
        if _entries(scope, sizes) > limit:
            return None
        product = _product([f for f in left if name in f[0]], scope)
        axis = scope.index(name)
        left = [f for f in left if name not in f[0]]
        left.append((scope[:axis] + scope[axis + 1 :], product.sum(axis=axis)))
        remaining.remove(name)
    shape = tuple(sizes[name] for name in keep)
    return np.array(np.broadcast_to(_product(left, keep), shape))


def _entries(scope: Collection[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in scope)


def _scope(factors: Sequence[Factor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for scope, _ in factors for name in scope))


def _product(factors: Sequence[Factor], target: tuple[str, ...]) -> FloatArray:
    """Multiply factors along the axes `target`, which holds all their names."""
    result = np.ones((1,) * len(target))
    for scope, table in factors:
        order = sorted(range(len(scope)), key=lambda axis: target.index(scope[axis]))
        lengths = dict(zip(scope, table.shape, strict=True))
        shape = tuple(lengths.get(name, 1) for name in target)
        result = result * table.transpose(order).reshape(shape)
    return result
