"""Influence curves of discrete Bayesian networks, the value of any node a secret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.check import FloatArray, whole
from mechanisms.influence.curve import Direction, InfluenceCurve
from mechanisms.influence.network import TABLE_LIMIT, BayesianNetwork, eliminate


def greedy_network_curve(
    network: BayesianNetwork,
    *,
    secrets: Sequence[str] | None = None,
    b_max: int | None = None,
    beam: int = 4,
) -> InfluenceCurve:
    """Return an upper bound on the curve that is feasible for networks of tens of nodes.

    From the secret node on, the node next to the set (in the moral graph) that leaves the least
    influence is added; every set that was tried bounds every value pair. Sets whose neighbours
    need a table of more than 2^20 entries are passed over. A zero probability may hold it at inf
    where the exact curve is finite.

    Parameters
    ----------
    network : BayesianNetwork
    secrets : sequence of str, optional
        Nodes whose values are secret; all by default.
    b_max : int, optional
        Largest tabulated b; the number of nodes by default.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Section 6.3.1: a minimum over candidate sets around the
    secret node, here those of the greedy search.
    """
    n = len(network.sizes)
    b_max = n if b_max is None else min(whole("b_max", b_max), n)
    rows = []
    for node in _secret_nodes(network, secrets):
        law = network.marginal(node)
        best = _no_bound(law, n)
        tried: list[tuple[str, ...]] = [(node,)]
        for b in range(1, min(b_max, n - 1) + 1):
            found = [_influence(network, law, aside) for aside in tried]
            for influence in found:
                if influence is not None:
                    best[:, b] = np.minimum(best[:, b], influence)
            ranked = sorted(zip(tried, found, strict=True), key=lambda x: _rank(network, *x))
            grown = {
                frozenset(aside) | {q}
                for aside, _ in ranked[:beam]
                for q in _neighbours(network, aside)
            }
            if any(not _neighbours(network, aside) for aside in tried):
                best[:, b:] = 0.0  # the rest is independent of the secret
                break
            tried = sorted((node, *sorted(aside - {node})) for aside in grown)
        rows.append(best[:, : b_max + 1])
    return _curve(rows, n, "upper bound")


def _influence(
    network: BayesianNetwork, law: FloatArray, aside: tuple[str, ...]
) -> FloatArray | None:
    """Return the influence of all other nodes on each value pair of ``aside[0]``.

    Only the tables that touch the set aside depend on the secret, and they hold no kept nodes but
    the neighbours x_Q of the set: ``P(x_L | s) / P(x_L | t) = f(s, x_Q) P(t) / (f(t, x_Q) P(s))``
    with f their product summed over the other nodes aside. Not `exact`, or where that needs too
    large a table, values x_Q that the other tables rule out are kept: an upper bound.
    """
    neighbours = tuple(_neighbours(network, aside))
    s, t = _value_pairs(law)
    if not neighbours:
        return np.zeros(s.size)
    factors = [table.factor for table in network.tables]
    touching = [f for f in factors if not set(aside).isdisjoint(f[0])]
    weight = eliminate(touching, (aside[0], *neighbours), network.sizes, limit=TABLE_LIMIT)
    if weight is None:
        return None
    weight = weight.reshape(law.size, -1)
    others = [f for f in factors if set(aside).isdisjoint(f[0])]
    if any((table == 0).any() for _, table in others):
        events = [(scope, (table > 0).astype(np.float64)) for scope, table in others]
        possible = eliminate(events, neighbours, network.sizes, limit=TABLE_LIMIT)
        if possible is not None:
            weight = weight[:, possible.ravel() > 0]
    with np.errstate(divide="ignore"):
        log_weight = np.log(weight)
    pairs = np.empty(s.size)
    for index, (one, other) in enumerate(zip(s, t, strict=True)):
        shown = (weight[one] > 0) | (weight[other] > 0)
        ratio = log_weight[one, shown] - log_weight[other, shown]
        pairs[index] = np.abs(ratio - np.log(law[one] / law[other])).max()
    return pairs


def _neighbours(network: BayesianNetwork, aside: tuple[str, ...]) -> list[str]:
    """Return the kept nodes that share a table with the set aside (moral graph)."""
    scopes = [table.factor[0] for table in network.tables]
    near = {name for scope in scopes if not set(aside).isdisjoint(scope) for name in scope}
    return sorted(near - set(aside))


def _rank(
    network: BayesianNetwork, candidate: tuple[str, ...], influence: FloatArray | None
) -> tuple[float, float, float]:
    """Order candidates: fewest infinite pairs, then the least influence, then fewest values."""
    sizes = [network.sizes[name] for name in _neighbours(network, candidate)]
    values = float(np.log(sizes).sum())
    if influence is None:
        return np.inf, np.inf, values
    finite = influence[np.isfinite(influence)]
    worst = float(finite.max()) if finite.size else 0.0
    return float(influence.size - finite.size), worst, values


def _value_pairs(law: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    s, t = np.triu_indices(law.size, 1)
    valid = (law[s] > 0) & (law[t] > 0)
    return s[valid], t[valid]


def _no_bound(law: FloatArray, n: int) -> FloatArray:
    best = np.full((_value_pairs(law)[0].size, n + 1), np.inf)
    best[:, n] = 0.0
    return best


def _secret_nodes(network: BayesianNetwork, secrets: Sequence[str] | None) -> list[str]:
    nodes = list(network.sizes) if secrets is None else list(secrets)
    unknown = [node for node in nodes if node not in network.sizes]
    if unknown or not nodes:
        raise ValueError(f"secrets must be nodes of the network, got {unknown or nodes}.")
    return nodes


def _curve(rows: Sequence[FloatArray], n: int, direction: Direction) -> InfluenceCurve:
    pairs = np.minimum.accumulate(np.concatenate(rows), axis=1)
    return InfluenceCurve(
        values=pairs.max(axis=0) if pairs.size else np.zeros(pairs.shape[1]),
        entries=n,
        direction=direction,
        pairs=pairs if pairs.size else None,
    )
