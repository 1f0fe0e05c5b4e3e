"""One grammar for errors about parameters: what must hold, and what was got."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Array = NDArray[np.generic]
T = TypeVar("T")


class NotPossibleError(ValueError):
    """What is asked for does not exist here. It is recorded as such, never an error of the run.

    The family: a fact that a scenario lacks (`mechanisms.base.NotOfferedError`), a calibration
    (`mechanisms.base.NotApplicableError`), an exact number
    (`mechanisms.privacy.bracket.NotComputableError`), an attack
    (`attacks.base.UnsupportedMechanismError`), a metric (`bench.metrics.base.NotMeasurableError`).
    """

    @property
    def reason(self) -> str:
        """Why, in one line: the message."""
        return str(self)


def real(name: str, value: object) -> float:
    """Return `value` as a float; refuse what is not a real number (booleans and text included).

    Raises
    ------
    TypeError
        If `value` is not a real number.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {name}={value!r}.")
    return float(value)


def positive(name: str, value: object, *, infinite: bool = True) -> float:
    """Return `value` if it lies in (0, inf], or in (0, inf) with ``infinite=False``.

    Examples
    --------
    >>> positive("epsilon", 0.5)
    0.5
    >>> positive("epsilon", float("nan"))
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be in (0, inf], got epsilon=nan.
    """
    number = real(name, value)
    if not number > 0 or (not infinite and math.isinf(number)):
        raise ValueError(
            f"{name} must be in (0, inf{']' if infinite else ')'}, got {name}={value!r}."
        )
    return number


def within(name: str, value: object, low: float, high: float, *, ends: str = "[]") -> float:
    """Return `value` if it lies between `low` and `high`; `ends` says which ends are allowed.

    Examples
    --------
    >>> within("delta", 0.0, 0, 1, ends="[)")
    0.0
    """
    number = real(name, value)
    above = number >= low if ends[0] == "[" else number > low
    below = number <= high if ends[1] == "]" else number < high
    if not (above and below):
        interval = f"{ends[0]}{low:g}, {high:g}{ends[1]}"
        raise ValueError(f"{name} must be in {interval}, got {name}={value!r}.")
    return number


def whole(name: str, value: object, *, low: int = 1) -> int:
    """Return `value` if it is a whole number of at least `low`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {name}={value!r}.")
    return int(value)


def one_of(name: str, value: T, allowed: Sequence[object]) -> T:
    """Return `value` if it is one of a few words.

    Examples
    --------
    >>> one_of("norm", "l3", ("l1", "l2"))
    Traceback (most recent call last):
    ...
    ValueError: norm must be 'l1' or 'l2', got norm='l3'.
    """
    if value not in allowed:
        *others, last = map(repr, allowed) if allowed else ("nothing",)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {listed}, got {name}={value!r}.")
    return value


def finite(name: str, values: object) -> FloatArray:
    """Return `values` as a float array; refuse an empty one and NaN or infinite entries."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty.")
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite, got an entry {bad}.")
    return array


def weights(name: str, values: object) -> FloatArray:
    """Return `values` as probabilities that sum to 1; refuse negative entries and a zero sum."""
    array = finite(name, values)
    total = array.sum()
    if (array < 0).any() or not abs(total - 1) <= 1e-9:
        raise ValueError(
            f"{name} must be non-negative and sum to 1, got minimum {array.min():g}, sum {total:g}."
        )
    return array / total
