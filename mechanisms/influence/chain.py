"""Finite Markov chains: transition matrix, initial law and stationary laws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.sparse.csgraph import connected_components

from mechanisms.check import FloatArray, finite, weights

ROW_TOLERANCE = 1e-9

Start = Literal["stationary", "free", "given"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarkovChain:
    """A time-homogeneous chain, or the class of chains with one transition matrix.

    Parameters
    ----------
    transition : array of shape (n_states, n_states)
        Non-negative, rows (from) sum to 1.
    initial : {"stationary", "free"} or array of shape (n_states,)
        Law of the first state. ``"stationary"``: the stationary law; where the matrix is
        reducible, every stationary law at once. ``"free"``: all initial laws at once. An array:
        that law.

    Raises
    ------
    ValueError
        If the matrix is not square, or a row is negative or does not sum to 1.
    """

    transition: FloatArray
    initial: Literal["stationary", "free"] | FloatArray = "stationary"
    start: Start = field(init=False)

    def __post_init__(self) -> None:
        transition = transition_matrix(self.transition)
        object.__setattr__(self, "transition", transition)
        if isinstance(self.initial, str):
            if self.initial not in ("stationary", "free"):
                raise ValueError(
                    "initial must be 'stationary', 'free' or a law of the first state, "
                    f"got initial={self.initial!r}."
                )
            object.__setattr__(self, "start", self.initial)
            return
        initial = weights("initial", self.initial)
        if initial.shape != (len(transition),):
            raise ValueError(
                f"initial must have one entry per state ({len(transition)}), "
                f"got shape {initial.shape}."
            )
        object.__setattr__(self, "initial", initial)
        object.__setattr__(self, "start", "given")

    @property
    def first_law(self) -> FloatArray:
        """A law of the first state with the support of the whole class.

        For ``"stationary"`` the equal mixture of the extreme stationary laws, for ``"free"`` the
        uniform law.
        """
        if not isinstance(self.initial, str):
            return self.initial
        if self.initial == "free":
            return np.full(len(self.transition), 1 / len(self.transition))
        return stationary_laws(self.transition).mean(axis=0)


def transition_matrix(values: object) -> FloatArray:
    """Return `values` as a read-only row-stochastic matrix, or refuse it in one line."""
    matrix = finite("transition", values)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"transition must be a square matrix, got shape {matrix.shape}.")
    if (matrix < 0).any():
        row, column = np.argwhere(matrix < 0)[0]
        raise ValueError(
            f"transition must be non-negative, got {matrix[row, column]:g} "
            f"in row {row}, column {column}."
        )
    sums = matrix.sum(axis=1)
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= ROW_TOLERANCE))
    if wrong.size:
        raise ValueError(
            f"transition rows must sum to 1, got {sums[wrong[0]]:.9g} in row {wrong[0]}."
        )
    matrix = matrix / sums[:, None]
    matrix.flags.writeable = False
    return matrix


def stationary_laws(transition: FloatArray) -> FloatArray:
    """Return the extreme stationary laws, one per closed class of states.

    Every stationary law is a mixture of the rows; an irreducible chain has one row, the identity
    matrix one per state. Each is solved by state reduction without subtractions (Grassmann,
    Taksar, Heyman 1985), so small entries keep their relative accuracy.

    Returns
    -------
    array of shape (n_closed_classes, n_states)
    """
    matrix = transition_matrix(transition)
    n_classes, label = connected_components(matrix > 0, directed=True, connection="strong")
    laws = []
    for index in range(n_classes):
        members = np.flatnonzero(label == index)
        if (matrix[members] > 0)[:, label != index].any():
            continue  # states that are left for good carry no stationary mass
        law = np.zeros(len(matrix))
        law[members] = _reduce(matrix[np.ix_(members, members)])
        laws.append(law)
    return np.stack(laws)


def stationary_law(transition: FloatArray) -> FloatArray:
    """Return the unique stationary law, shape (n_states,).

    Raises
    ------
    ValueError
        If the matrix has more than one closed class and hence many stationary laws.
    """
    laws = stationary_laws(transition)
    if len(laws) > 1:
        raise ValueError(
            f"transition must have one closed class of states, got {len(laws)}: the stationary "
            "law is not unique. Give an initial law."
        )
    return laws[0]


def _reduce(matrix: FloatArray) -> FloatArray:
    work = np.array(matrix)
    size = len(work)
    for last in range(size - 1, 0, -1):
        work[:last, last] /= work[last, :last].sum()
        work[:last, :last] += np.outer(work[:last, last], work[last, :last])
    law = np.ones(size)
    for state in range(1, size):
        law[state] = law[:state] @ work[:state, state]
    return law / law.sum()
