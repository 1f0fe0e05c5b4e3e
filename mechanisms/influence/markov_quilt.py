"""Noise scales of the Markov Quilt Mechanism on chains (Song, Wang, Chaudhuri 2017).

The mechanism releases an L-Lipschitz query F (L1, one entry moves it by at most L) as
``F + L * sigma * Lap(1)`` per coordinate. For a node, a quilt of nearby kept entries separates
`card` entries from the rest and has max-influence e; then
``sigma = max over nodes of min over quilts with e < epsilon of card / (epsilon - e)``,
which is a total per-entry budget of ``1 / sigma``. The trivial quilt (card n, e = 0) always
serves. Secrets are all pairs (X_i = s, X_i = t), at every node, the ends included.

Every scale is that of the longest sequence: a quilt of a longer chain, cut to its beginning, is
one of the shorter chain with no more entries and no more influence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mechanisms.check import FloatArray, positive, whole, within
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.markov import longest
from mechanisms.influence.mixing import mixing_groups
from mechanisms.influence.separations import NodeGroup, node_groups

FIRST_WINDOW = 32

_Groups = Callable[[int], Iterator[NodeGroup]]


def exact_scale(
    chains: Sequence[MarkovChain],
    lengths: int | Sequence[int],
    epsilon: float,
    *,
    uncertainty_penalty: float = 0.0,
    database: int | None = None,
    tolerance: float = 1e-9,
) -> float:
    """Return sigma of MQMExact in (0, inf); 0 where no pair of values is possible.

    Parameters
    ----------
    chains : sequence of MarkovChain
        The class Theta: one chain, several, each from its law or laws of the first state.
    lengths : int or sequence of int
        Lengths of the independent sequences; the longest decides.
    epsilon : float in (0, inf)
        Pufferfish budget.
    uncertainty_penalty : float in [0, inf)
        Added to the max-influence of every quilt but the trivial one, for an uncertain prior
        (`mechanisms.influence.uncertainty.uncertainty_penalty`).
    database : int or None
        Entries of all users, where the uncertain table is that of the whole database: the trivial
        quilt of one user then pays the penalty, and only that of all entries does not. None: each
        user's own table is bounded, and users are independent.
    tolerance : float in [0, inf)
        As in `mechanisms.influence.markov.chain_curve`.

    Notes
    -----
    A quilt's influence is the largest over Theta and value pairs (Song et al. 2017, Algorithm 3);
    equal to the exact scale, or above by the effect of `tolerance` nats.
    """
    return float(
        node_scales(
            chains,
            lengths,
            epsilon,
            uncertainty_penalty=uncertainty_penalty,
            database=database,
            tolerance=tolerance,
        ).max()
    )


def node_scales(
    chains: Sequence[MarkovChain],
    lengths: int | Sequence[int],
    epsilon: float,
    *,
    uncertainty_penalty: float = 0.0,
    database: int | None = None,
    tolerance: float = 1e-9,
) -> FloatArray:
    """Return sigma_i of MQMExact for each node of the longest sequence, shape (length,)."""
    _same_states(chains)
    length = longest(lengths)

    def groups(b_max: int) -> Iterator[NodeGroup]:
        return node_groups(chains, length, b_max, tolerance)

    return _scales(groups, length, epsilon, uncertainty_penalty, database)


def approximate_scale(
    smallest_mass: float,
    gap: float,
    lengths: int | Sequence[int],
    epsilon: float,
    *,
    uncertainty_penalty: float = 0.0,
    database: int | None = None,
) -> float:
    """Return sigma of MQMApprox, at least that of MQMExact, for any law of the first state.

    Parameters
    ----------
    smallest_mass : float in [0, 1]
        Smallest stationary probability over states and chains of Theta.
    gap : float in [0, 2]
        Smallest spectral gap over Theta (`spectral_gap`).
    lengths, epsilon, uncertainty_penalty, database
        As in `exact_scale`.

    Notes
    -----
    With ``D_t = exp(-gap t / 2) / smallest_mass`` and ``T(t) = log (1 + D_t) / (1 - D_t)``, inf
    where ``D_t >= 1``, a quilt at distances a to the left and b to the right has influence at
    most ``2 T(a) + T(b)`` (Song et al. 2017, Lemma 4.8). All nodes and quilts are searched.
    """
    length = longest(lengths)
    groups = mixing_groups(smallest_mass, gap, length)
    return float(_scales(groups, length, epsilon, uncertainty_penalty, database).max())


def composed_epsilon(
    chains: Sequence[MarkovChain],
    length: int,
    per_entry_epsilon: float,
    *,
    uncertainty_penalty: float = 0.0,
    database: int | None = None,
    tolerance: float = 1e-9,
) -> float:
    """Return an upper bound on the joint Pufferfish loss of several releases.

    Parameters
    ----------
    per_entry_epsilon : float in [0, inf)
        Sum over releases k of ``L_k / b_k``, Lipschitz constant over Laplace scale.

    Returns
    -------
    float
        ``max over nodes of min over quilts of e + card * per_entry_epsilon``: every node keeps
        one quilt for all releases and pays its influence once.
    """
    _same_states(chains)

    def groups(b_max: int) -> Iterator[NodeGroup]:
        return node_groups(chains, length, b_max, tolerance)

    return _compose(
        groups, whole("length", length), per_entry_epsilon, uncertainty_penalty, database
    )


def approximate_composed_epsilon(
    smallest_mass: float,
    gap: float,
    length: int,
    per_entry_epsilon: float,
    *,
    uncertainty_penalty: float = 0.0,
    database: int | None = None,
) -> float:
    """Return `composed_epsilon` by the bounds of `approximate_scale`: an upper bound on it."""
    return _compose(
        mixing_groups(smallest_mass, gap, whole("length", length)),
        length,
        per_entry_epsilon,
        uncertainty_penalty,
        database,
    )


def _compose(
    groups: _Groups,
    length: int,
    per_entry_epsilon: float,
    uncertainty_penalty: float,
    database: int | None,
) -> float:
    within("per_entry_epsilon", per_entry_epsilon, 0, np.inf, ends="[)")
    b_max = min(FIRST_WINDOW, length)
    while True:
        influences = _influences(groups(b_max), length, b_max, uncertainty_penalty, database)
        losses = influences + np.arange(b_max + 1) * per_entry_epsilon
        trivial = min(
            penalty + card * per_entry_epsilon
            for card, penalty in _trivial_quilts(length, uncertainty_penalty, database)
        )
        worst = min(float(losses.min(axis=1).max()), trivial)
        # A larger quilt costs at least its entries and the penalty of the uncertainty.
        if b_max == length or b_max * per_entry_epsilon + uncertainty_penalty >= worst:
            return worst
        b_max = min(2 * b_max, length)


def _trivial_quilts(
    length: int, uncertainty_penalty: float, database: int | None
) -> tuple[tuple[int, float], ...]:
    """Return (card, influence) of the quilts that keep nothing of a user, or of anybody."""
    if database is None:
        return ((length, 0.0),)
    return ((length, uncertainty_penalty), (whole("database", database, low=length), 0.0))


def _scales(
    groups: _Groups,
    length: int,
    epsilon: float,
    uncertainty_penalty: float,
    database: int | None,
) -> FloatArray:
    positive("epsilon", epsilon, infinite=False)
    within("uncertainty_penalty", uncertainty_penalty, 0, np.inf, ends="[)")
    trivial = min(
        card / (epsilon - penalty)
        for card, penalty in _trivial_quilts(length, uncertainty_penalty, database)
        if penalty < epsilon
    )
    b_max = min(FIRST_WINDOW, length)
    while True:
        scales = np.zeros(length)  # a node without a secret pair needs no noise
        complete = True
        for group in groups(b_max):
            found = _group_scales(group, b_max, epsilon, uncertainty_penalty, trivial)
            scales[group.first - 1 : group.last] = found
            # A quilt of card b costs at least b / (epsilon - uncertainty_penalty): larger ones
            # may still help.
            complete = b_max == length or b_max + 1 >= found.max() * (epsilon - uncertainty_penalty)
            if not complete:
                break
        if complete:
            return scales
        b_max = min(2 * b_max, length)


def _group_scales(
    group: NodeGroup, b_max: int, epsilon: float, uncertainty_penalty: float, trivial: float
) -> FloatArray:
    scales = np.full(group.last - group.first + 1, trivial)
    for b in range(1, min(b_max, group.length - 1) + 1):
        if b >= scales.max() * (epsilon - uncertainty_penalty):
            break
        for first, last, influence in group.minima(b, joint=True):
            slack = epsilon - (np.maximum(influence[:, 0], 0.0) + uncertainty_penalty)
            cost = np.full(slack.size, np.inf)
            np.divide(float(b), slack, out=cost, where=slack > 0)
            rows = slice(first - group.first, last - group.first + 1)
            scales[rows] = np.minimum(scales[rows], cost)
    return scales


def _influences(
    groups: Iterator[NodeGroup],
    length: int,
    b_max: int,
    uncertainty_penalty: float,
    database: int | None,
) -> FloatArray:
    influences = np.zeros((length, b_max + 1))  # a node without a secret pair tells nothing
    for group in groups:
        influences[group.first - 1 : group.last, 0] = np.inf
        if b_max == length:  # nothing of the user's own is kept
            influences[group.first - 1 : group.last, length] = (
                0.0 if database is None else uncertainty_penalty
            )
        for b in range(1, min(b_max, length - 1) + 1):
            for first, last, influence in group.minima(b, joint=True):
                influences[first - 1 : last, b] = (
                    np.maximum(influence[:, 0], 0.0) + uncertainty_penalty
                )
    return influences


def _same_states(chains: Sequence[MarkovChain]) -> None:
    sizes = sorted({len(chain.transition) for chain in chains})
    if len(sizes) != 1:
        raise ValueError(f"chains must share their states, got numbers of states {sizes}.")
