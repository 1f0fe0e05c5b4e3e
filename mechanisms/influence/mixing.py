"""How fast a chain forgets: the quantities of MQMApprox (Song, Wang, Chaudhuri 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mechanisms.check import FloatArray, within
from mechanisms.influence.chain import stationary_laws
from mechanisms.influence.separations import NodeGroup

_Groups = Callable[[int], Iterator[NodeGroup]]


def smallest_stationary_mass(transition: FloatArray) -> float:
    """Return the smallest stationary probability; 0 where the chain is not irreducible."""
    laws = stationary_laws(transition)
    return float(laws[0].min()) if len(laws) == 1 else 0.0


def spectral_gap(transition: FloatArray) -> float:
    """Return the gap g of MQMApprox in [0, 2]; 0 where the chain is not irreducible.

    ``2 min(1 - |lambda|)`` over the eigenvalues of P but one 1 if P is reversible, else
    ``min(1 - |lambda|)`` over those of ``P P*`` but one 1, with P* the reversed chain.
    (Song et al. 2017, Section 4.4.)
    """
    laws = stationary_laws(transition)
    if len(laws) > 1 or not laws[0].min() > 0:
        return 0.0
    root = np.sqrt(laws[0])
    # Similar to P, and symmetric exactly where P is reversible.
    matrix = root[:, None] * transition / root
    reversible = np.allclose(matrix, matrix.T, rtol=0.0, atol=1e-12)
    symmetric = (matrix + matrix.T) / 2 if reversible else matrix @ matrix.T
    sizes = np.sort(np.abs(np.linalg.eigvalsh(symmetric)))[:-1]
    gap = 1 - (sizes[-1] if sizes.size else 0.0)
    return float(np.clip(2 * gap if reversible else gap, 0.0, 2.0))


def mixing_groups(smallest_mass: float, gap: float, length: int) -> _Groups:
    """Return the one group of nodes of a chain that is known by its mixing alone."""
    within("smallest_mass", smallest_mass, 0, 1)
    within("gap", gap, 0, 2)

    def groups(b_max: int) -> Iterator[NodeGroup]:
        bound = mixing_bound(smallest_mass, gap, b_max)[None, :, None]
        yield NodeGroup(
            first=1,
            last=length,
            length=length,
            left=2 * bound,
            right=bound,
            columns=np.zeros(1, dtype=np.int64),
        )

    return groups


def mixing_bound(smallest_mass: float, gap: float, b_max: int) -> FloatArray:
    """Return ``T(t) = log (1 + D_t)/(1 - D_t)`` for t up to `b_max`; inf where D_t >= 1."""
    with np.errstate(divide="ignore"):
        log_d = -gap * np.arange(1, b_max + 1) / 2 - np.log(smallest_mass)
    d = np.exp(np.minimum(log_d, 0.0))
    with np.errstate(divide="ignore"):
        return np.where(log_d < 0, np.log1p(d) - np.log1p(-d), np.inf)
