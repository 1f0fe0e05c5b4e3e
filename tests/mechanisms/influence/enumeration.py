"""Small chains with every sequence listed: the slow route that tests compare with."""

from itertools import product

import numpy as np

from mechanisms.laws.sequence import SequenceLaw


def random_chain_law(seed, *, states=None, length=None, zeros=False, value=None, lengths=None):
    """Return the laws of all possible values at a random position of a random chain."""
    rng = np.random.default_rng(seed)
    k = states or int(rng.integers(2, 4))
    n = length or int(rng.integers(1, 6))
    transition = rng.dirichlet(np.ones(k), k)
    if zeros:
        transition[0] = np.eye(k)[-1]
    initial = rng.dirichlet(np.ones(k))
    position = int(rng.integers(1, n + 1))
    marginal = initial @ np.linalg.matrix_power(transition, position - 1)
    return [
        SequenceLaw(
            transition=transition, initial=initial, lengths=lengths or (n,), position=position,
            value=v,
        )
        for v in range(k)
        if marginal[v] > 0
    ]  # fmt: skip


def listed(law):
    """Return (sequences, probabilities) of the first sequence of a law, by multiplication."""
    k, n = law.initial.size, law.lengths[0]
    rows = np.array(list(product(range(k), repeat=n)))
    weights = law.initial[rows[:, 0]]
    for t in range(1, n):
        weights = weights * law.transition[rows[:, t - 1], rows[:, t]]
    weights = weights * (rows[:, law.position - 1] == law.value)
    return rows, weights / weights.sum()
