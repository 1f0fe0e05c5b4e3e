"""Answers with finitely many values that vary along one line: their one-dimensional laws."""

from __future__ import annotations

import numpy as np

from mechanisms.check import FloatArray
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.privacy.bracket import NotComputableError

_OFF_LINE = 1e-10  # distance from the line that counts as rounding, relative to its extent
_DIGITS = 13  # of positions on a slanted line, relative to its extent

LawPair = tuple[FiniteLaw, FiniteLaw]


def along_a_line(first: FiniteLaw, second: FiniteLaw) -> tuple[FloatArray, LawPair]:
    """Return the direction in which the atoms of both laws differ, and the laws along it.

    Scalar answers and vectors that differ in one coordinate keep their values exactly; other
    lines are measured from one atom, to a relative 1e-13.

    Returns
    -------
    direction : array of shape (m,)
        Unit L2 norm; the first axis where all atoms agree.
    laws : pair of FiniteLaw
        Positions along the direction, in units of the query.

    Raises
    ------
    NotComputableError
        If the atoms do not lie on one line.
    """
    points = _vectors(first), _vectors(second)
    atoms = np.unique(np.concatenate(points), axis=0)
    varying = np.flatnonzero((atoms != atoms[0]).any(axis=0))
    if varying.size <= 1:
        axis = int(varying[0]) if varying.size else 0
        return np.eye(atoms.shape[1])[axis], _pair(first, second, *(p[:, axis] for p in points))
    moved = atoms - atoms[0]
    lengths = np.linalg.norm(moved, axis=1)
    extent = float(lengths.max())
    direction = moved[lengths.argmax()] / extent
    across = moved - np.outer(moved @ direction, direction)
    if np.linalg.norm(across, axis=1).max() > _OFF_LINE * extent:
        raise NotComputableError("the answers' values do not lie on one line")
    positions = [((p - atoms[0]) @ direction / extent).round(_DIGITS) * extent for p in points]
    return direction, _pair(first, second, *positions)


def both_finite(first: AnswerLaw, second: AnswerLaw) -> tuple[FiniteLaw, FiniteLaw] | None:
    """Return the laws where both have finitely many values, else None."""
    if isinstance(first, FiniteLaw) and isinstance(second, FiniteLaw):
        return first, second
    return None


def _vectors(law: FiniteLaw) -> FloatArray:
    if law.atoms.ndim > 2:
        raise NotComputableError("answers that are tables have no one-dimensional statistic")
    points = np.asarray(law.atoms[law.weights > 0], dtype=np.float64)
    return points.reshape(len(points), -1)


def _pair(
    first: FiniteLaw, second: FiniteLaw, positions: FloatArray, others: FloatArray
) -> LawPair:
    p, q = (law.weights[law.weights > 0] for law in (first, second))
    return FiniteLaw(atoms=positions, weights=p), FiniteLaw(atoms=others, weights=q)
