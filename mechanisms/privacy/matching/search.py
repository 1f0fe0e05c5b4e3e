"""The largest dial whose exact number is at most a value; what cannot be met is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.privacy.bracket import Bracket
from mechanisms.privacy.budget import LARGEST, SMALLEST

LADDER = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
BEYOND = (1e-5, SMALLEST), (1e5, LARGEST)  # looked at where the value asks for it
INSIDE = 8  # steps between two rungs, to see whether the number is monotone there
# Of exact numbers, and of brackets' upper ends:
CLOSE = {True: 1e-12, False: 1e-6}
SLACK = {True: 1e-9, False: 1e-3}

Points = list[tuple[float, Bracket]]


def largest_safe(
    read: Callable[[float], Bracket], value: float, *, what: str, floor: float
) -> tuple[float, float]:
    """Return the largest dial in (0, inf) whose number is at most `value`, and the next above.

    Brackets count with their upper ends. The number is looked at on a ladder of dials and between
    the two rungs where it passes the value; that it rises there is checked, not assumed.

    Parameters
    ----------
    read : callable
        The number at a dial; NotApplicableError where there is none.
    value : float
    what : str
        The number's name, for messages.
    floor : float
        What the number is without any leakage; accuracy is relative to the distance from it.

    Returns
    -------
    low, high : float
        ``read(low).hi <= value``; high is inf where the value is met by the largest dial there is.
            The two are a factor of 1 + 1e-12 apart at most, of brackets 1 + 1e-6.

    Raises
    ------
    NotApplicableError
        If the value is below or above all numbers, or several dials far apart have it.
    """
    points, reason = _ladder(read, value)
    if not points:
        raise NotApplicableError(reason)
    _refuse_falls(points, value, what)
    met = [e for e, number in points if number.hi <= value]
    if not met:
        raise NotApplicableError(
            f"{what} cannot be as low as {value:g}: it can be matched {span(points)}"
            + (f" ({reason})" if reason else "")
        )
    if len(met) == len(points):
        last, number = points[-1]
        if value - number.hi <= 1e-6 * (value - floor):
            return last, math.inf
        raise NotApplicableError(
            f"{what} cannot be as high as {value:g}: it can be matched {span(points)}"
        )
    low = met[-1]
    high = min(e for e, number in points if number.hi > value)
    for epsilon in np.geomspace(low, high, INSIDE + 1)[1:-1]:
        _look(read, float(epsilon), points)
    points.sort(key=lambda point: point[0])
    _refuse_falls(points, value, what)
    low = max(e for e, number in points if number.hi <= value)
    high = min(e for e, number in points if number.hi > value)
    return _bisect(read, value, low, high)


def span(points: Points) -> str:
    """Return between which values a number can be matched, in words."""
    numbers = [number.hi for _, number in points]
    return f"from {min(numbers):.6g} to {max(numbers):.6g}"


def _ladder(read: Callable[[float], Bracket], value: float) -> tuple[Points, str]:
    """Read the number on the ladder, longer where the value asks for it; tell why not all of it."""
    points: Points = []
    reason = ""
    for epsilon in LADDER:
        reason = _look(read, epsilon, points) or reason
    for down in BEYOND[0]:
        if points and points[0][1].hi > value:
            reason = _look(read, down, points) or reason
            points.sort(key=lambda point: point[0])
    for up in BEYOND[1]:
        if points and points[-1][1].hi <= value:
            reason = _look(read, up, points) or reason
    return points, reason


def _look(read: Callable[[float], Bracket], epsilon: float, points: Points) -> str:
    """Add a dial's number to the points, or return why there is none."""
    try:
        points.append((epsilon, read(epsilon)))
    except NotApplicableError as error:
        return str(error)
    return ""


def _refuse_falls(points: Points, value: float, what: str) -> None:
    """Refuse a value that the number passes more than once."""
    highest, at = points[0][1], points[0][0]
    for epsilon, number in points[1:]:
        slack = SLACK[number.exact and highest.exact] * max(1.0, abs(value))
        if number.hi < highest.hi - slack and number.hi <= value <= highest.hi:
            raise NotApplicableError(
                f"{what} is not monotone: it is {highest.hi:.6g} at epsilon {at:.6g} and "
                f"{number.hi:.6g} at {epsilon:.6g}; it can be matched {span(points)}, but not "
                "between these two"
            )
        if number.hi > highest.hi:
            highest, at = number, epsilon


def _bisect(
    read: Callable[[float], Bracket], value: float, low: float, high: float
) -> tuple[float, float]:
    number = read(low)
    # Down to the dial itself, not to the number: where it is flat, the least noise is at the end.
    while high > low * (1 + CLOSE[number.exact]):
        middle = math.sqrt(low) * math.sqrt(high)
        try:
            found = read(middle)
        except NotApplicableError:
            high = middle
            continue
        if found.hi <= value:
            low, number = middle, found
        else:
            high = middle
    return low, high
