"""Influence curves and Pufferfish losses from the definition, by enumeration of all data."""

from itertools import combinations, pairwise, product

import numpy as np


def chain_table(transition, initial, length):
    """Joint law of a chain, one axis per entry."""
    size = len(transition)
    table = np.zeros((size,) * length)
    for path in product(range(size), repeat=length):
        mass = initial[path[0]]
        for one, other in pairwise(path):
            mass *= transition[one, other]
        table[path] = mass
    return table


def conditional(table, node, value):
    """Law of all entries given X_node = value."""
    kept = np.zeros_like(table)
    index = [slice(None)] * table.ndim
    index[node] = value
    kept[tuple(index)] = table[tuple(index)]
    return kept / kept.sum()


def log_ratio(p, q):
    """Largest |log p / q|, 0/0 ignored."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log(p) - np.log(q))
    return float(np.nanmax(np.where((p == 0) & (q == 0), np.nan, ratio)))


def secret_pairs(table):
    for node in range(table.ndim):
        masses = table.sum(axis=tuple(j for j in range(table.ndim) if j != node))
        values = np.flatnonzero(masses > 0)
        for s, t in combinations(values, 2):
            yield node, s, t


def pair_curve(tables, node, s, t):
    """a*(b) for one pair and a class of laws: every set of kept entries is tried."""
    n = tables[0].ndim
    sides = [(conditional(x, node, s), conditional(x, node, t)) for x in tables]
    curve = np.full(n + 1, np.inf)
    for b in range(n + 1):
        for aside in combinations(range(n), b):
            if b == n:
                worst = 0.0
            else:
                worst = max(log_ratio(p.sum(axis=aside), q.sum(axis=aside)) for p, q in sides)
            curve[b] = min(curve[b], worst)
    return curve


def influence_curve(tables):
    """a(b) over all positions and value pairs."""
    pairs = [pair_curve(tables, *pair) for pair in secret_pairs(tables[0])]
    return np.max(pairs, axis=0) if pairs else np.zeros(tables[0].ndim + 1)


def randomized_response_loss(table, epsilon):
    """Exact Pufferfish loss of releasing every entry through k-ary randomised response."""
    size, n = table.shape[0], table.ndim
    kernel = np.ones((size, size)) + (np.exp(epsilon) - 1) * np.eye(size)
    kernel /= kernel.sum(axis=1, keepdims=True)

    def released(law):
        for axis in range(n):
            law = np.moveaxis(np.tensordot(law, kernel, axes=(axis, 0)), -1, axis)
        return law

    return max(
        log_ratio(
            released(conditional(table, *pair[:2])), released(conditional(table, pair[0], pair[2]))
        )
        for pair in secret_pairs(table)
    )


def laplace_count_loss(table, scale):
    """Pufferfish loss of the count of ones plus Lap(scale) for two states.

    The log ratio of two Laplace mixtures on the same atoms is monotone between neighbouring
    atoms only in pieces; a fine grid and both tails are searched.
    """
    n = table.ndim
    counts = np.indices(table.shape).sum(axis=0)
    grid = np.linspace(-1.0, n + 1.0, 50 * (n + 2) + 1)
    noise = np.exp(-np.abs(grid[:, None] - np.arange(n + 1)) / scale)

    def density(law):
        return noise @ np.bincount(counts.ravel(), weights=law.ravel(), minlength=n + 1)

    return max(
        log_ratio(density(conditional(table, i, s)), density(conditional(table, i, t)))
        for i, s, t in secret_pairs(table)
    )
