"""The exact influence curve of a small network, every set of nodes tried: an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mechanisms.influence.bayesian_network import (
    TABLE_LIMIT,
    _curve,
    _influence,
    _no_bound,
    _secret_nodes,
)
from mechanisms.influence.curve import InfluenceCurve
from mechanisms.influence.network import BayesianNetwork

EXACT_NODES = 12


def exact_network_curve(
    network: BayesianNetwork, *, secrets: Sequence[str] | None = None
) -> InfluenceCurve:
    """Return the exact curve by trying every set of nodes to set aside.

    Secrets are all pairs of possible values of each node of `secrets` (all nodes by default).
    Cost doubles with each node: at most 12 nodes.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Definition 2.
    """
    names = sorted(network.sizes)
    if len(names) > EXACT_NODES:
        raise ValueError(
            f"network must have at most {EXACT_NODES} nodes for the exact curve, "
            f"got {len(names)}; use greedy_network_curve."
        )
    rows = []
    for node in _secret_nodes(network, secrets):
        others = [name for name in names if name != node]
        law = network.marginal(node)
        best = _no_bound(law, len(names))
        for b in range(1, len(names)):
            for companions in combinations(others, b - 1):
                found = _influence(network, law, (node, *companions))
                if found is None:
                    raise ValueError(
                        f"network must have small tables for the exact curve, got more than "
                        f"{TABLE_LIMIT} entries around {node}."
                    )
                best[:, b] = np.minimum(best[:, b], found)
        rows.append(best)
    return _curve(rows, len(names), "exact")
