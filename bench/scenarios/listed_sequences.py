"""All databases of short sequences of a chain, with their probabilities."""

from __future__ import annotations

import numpy as np

from mechanisms.base import NotOfferedError
from mechanisms.collapse.knowledge import DatabasePrior
from mechanisms.influence.chain import MarkovChain
from mechanisms.laws.sequence import every_sequence
from mechanisms.privacy.bracket import NotComputableError


def listed_sequences(
    chain: MarkovChain, lengths: tuple[int, ...], position: int | None
) -> DatabasePrior:
    """List the databases of independent sequences, one after the other.

    Parameters
    ----------
    chain : MarkovChain
    lengths : tuple of int
    position : int or None
        Of the secret entry in the first sequence, from 1; None where there is more than one.

    Raises
    ------
    NotOfferedError
        If there are more than 1,024 databases.
    """
    try:
        rows = every_sequence(len(chain.transition), sum(lengths))
    except NotComputableError as reason:
        raise NotOfferedError(str(reason)) from reason
    prior, start = np.ones(len(rows)), 0
    for length in lengths:
        steps = rows[:, start : start + length]
        prior = prior * chain.first_law[steps[:, 0]]
        prior = prior * chain.transition[steps[:, :-1], steps[:, 1:]].prod(axis=1)
        start += length
    secret = None if position is None else rows[:, position - 1]
    return DatabasePrior(databases=rows, prior=prior / prior.sum(), secret=secret)
