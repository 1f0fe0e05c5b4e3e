"""The lattice that answers lie on, seen from examples: means in Z/100, counts in Z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import UnsupportedMechanismError
from mechanisms.check import FloatArray, IntArray

RELATIVE = 1e-11  # of an answer's size: far above the rounding of a sum of floats
CREDIBLE = 1000  # a step of fewer tolerances fits any numbers by chance
EXAMPLES = 10
FRACTION = 1e-10  # of a step that is one over a whole number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lattice:
    """Coordinate k takes the values ``offset[k] + step[k] * j`` with low[k] <= j <= high[k].

    Parameters
    ----------
    offset, step : arrays of shape (m,)
        In units of the query; step 0 where a coordinate has no lattice.
    low, high : arrays of shape (m,)
        The examples' range, half its width wider on either side; a coordinate that never changes
        has one value.
    """

    offset: FloatArray
    step: FloatArray
    low: IntArray
    high: IntArray

    @property
    def counts(self) -> IntArray:
        """Number of values of each coordinate, 0 where it has no lattice."""
        return np.where(self.step > 0, self.high - self.low + 1, 0)

    def values(self, k: int) -> FloatArray:
        """Return the values of coordinate k."""
        return self.offset[k] + self.step[k] * np.arange(self.low[k], self.high[k] + 1)

    def nearest(self, x: FloatArray, coordinates: IntArray) -> FloatArray:
        """Return the value nearest to each of ``(c, n, ...)`` numbers, one row a coordinate."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        offset, step, low, high = (
            part[coordinates].reshape(shape)
            for part in (self.offset, self.step, self.low, self.high)
        )
        return offset + step * np.clip(np.rint((x - offset) / step), low, high)


def lattice_of(answers: FloatArray) -> Lattice:
    """Find each coordinate's step: the largest number that all differences are multiples of.

    Parameters
    ----------
    answers : array of shape (n, m)
        Exact answers, at least 10 of them.

    Raises
    ------
    UnsupportedMechanismError
        If there are too few answers to tell a lattice from chance.
    """
    if len(answers) < EXAMPLES:
        raise UnsupportedMechanismError(
            f"a lattice is seen in {EXAMPLES} shadow worlds or more, got {len(answers)}"
        )
    offset = np.sort(answers, axis=0)[len(answers) // 2]
    step = np.array([common_step(column) for column in answers.T])
    step, offset = as_fractions(step, offset)
    scaled = np.rint((answers - offset) / np.where(step > 0, step, np.inf)).astype(np.int64)
    low, high = scaled.min(axis=0), scaled.max(axis=0)
    margin = (high - low + 1) // 2
    return Lattice(offset=offset, step=step, low=low - margin, high=high + margin)


def common_step(values: FloatArray) -> float:
    """Return the largest step of which all differences of `values` are multiples, 0 for none.

    Euclid's algorithm on all differences at once; remainders below 1e-11 of the values' size are
    rounding errors. A coordinate that never changes has any step: 1 is returned.

    Examples
    --------
    >>> round(common_step(np.array([38.01, 40.53, 41.0, 39.2])), 12)
    0.01
    >>> common_step(np.array([1.0, np.pi, np.e, np.sqrt(2)]))
    0.0
    """
    distinct = np.unique(values)
    tolerance = RELATIVE * float(np.abs(distinct).max())
    differences = np.diff(distinct)
    differences = left = differences[differences > tolerance]
    if not differences.size:
        return 1.0
    while True:
        step = float(left.min())
        if step < CREDIBLE * tolerance:
            return 0.0
        remainder = np.abs(left - step * np.rint(left / step))
        if not (remainder > tolerance).any():
            break
        left = np.append(remainder[remainder > tolerance], step)
    # Every difference tells the step with its own rounding error; long ones tell it best.
    multiples = np.rint(differences / step)
    return float(differences @ multiples / (multiples @ multiples))


def as_fractions(step: FloatArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return steps that are 1/n as such, and offsets as multiples of them: no digit is lost.

    The step that differences show is right to the last digits but one, and is multiplied by
    hundreds.

    Examples
    --------
    >>> as_fractions(np.array([0.01 + 1e-15, 2.0]), np.array([40.47, 3.0]))[0].tolist()
    [0.01, 2.0]
    """
    with np.errstate(divide="ignore"):
        parts = np.rint(1 / step)
    exact = (step > 0) & (parts >= 1)
    parts = np.where(exact, parts, 1.0)
    exact &= np.abs(parts * step - 1) < FRACTION
    multiples = np.rint(offset * parts)
    exact &= np.abs(multiples / parts - offset) <= RELATIVE * np.maximum(np.abs(offset), 1.0)
    return np.where(exact, 1 / parts, step), np.where(exact, multiples / parts, offset)
