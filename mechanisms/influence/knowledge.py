"""Typed facts about correlated entries: influence curves, chains, values and candidates.

A secret is the value of one entry, against any other value. What an entry belongs to (its
sequence, its group such as a country) and its time are public: sequences of known lengths are
compared, never sequences with and without an entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechanisms.base import Knowledge
from mechanisms.check import FloatArray, finite, one_of, positive, whole, within
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.curve import InfluenceCurve

PUBLIC = "the group and the time of every entry are public"
Utility = Literal["nearest", "largest"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveKnowledge(Knowledge):
    """How much entries reveal about each other, as an a(b)-influence curve.

    Parameters
    ----------
    curve : InfluenceCurve
        Of all pairs of values of every entry.
    public : str
        What the secrets leave public.
    conditions : tuple of str
        What the curve takes for granted beyond its own assumption.
    """

    curve: InfluenceCurve
    public: str = PUBLIC
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChainKnowledge(Knowledge):
    """Independent sequences, each drawn from one of a class of chains.

    Parameters
    ----------
    chains : tuple of MarkovChain
        The class Theta, all on the same states.
    lengths : tuple of int
        Public lengths of the sequences.
    uncertainty_penalty : float in [0, inf)
        What an uncertain prior adds to every influence but that of nothing
        (`mechanisms.influence.uncertainty.uncertainty_penalty`).
    database : int or None
        Entries of all users where the uncertain table is that of the whole database; None where
        it is each user's own.
    public : str
        What the secrets leave public.
    conditions : tuple of str
        What is taken for granted: the uncertainty in words, users that are independent.
    """

    chains: tuple[MarkovChain, ...]
    lengths: tuple[int, ...]
    uncertainty_penalty: float = 0.0
    database: int | None = None
    public: str = PUBLIC
    conditions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.chains or not self.lengths:
            raise ValueError("chains and lengths must not be empty.")
        for length in self.lengths:
            whole("lengths", length)
        within("uncertainty_penalty", self.uncertainty_penalty, 0, np.inf, ends="[)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryValues(Knowledge):
    """How many values an entry of the database can take, coded 0, 1, ...

    Parameters
    ----------
    states : int
        At least 2.
    """

    states: int

    def __post_init__(self) -> None:
        whole("states", self.states, low=2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates(Knowledge):
    """A finite set of outputs and how well each serves an answer.

    Parameters
    ----------
    values : array of shape (c,)
        The outputs: numbers for "nearest", coordinates of the answer for "largest".
    utility : {"nearest", "largest"}
        ``-|answer - value|`` of a scalar answer, or the answer's coordinate.
    sensitivity : float in (0, inf)
        Largest change of a utility when one entry is replaced.
    """

    values: FloatArray
    utility: Utility
    sensitivity: float

    def __post_init__(self) -> None:
        one_of("utility", self.utility, ("nearest", "largest"))
        positive("sensitivity", self.sensitivity, infinite=False)
        values = finite("values", self.values)
        if values.ndim != 1 or np.unique(values).size < values.size:
            raise ValueError("values must be distinct numbers, in one dimension.")
        object.__setattr__(self, "values", values)
