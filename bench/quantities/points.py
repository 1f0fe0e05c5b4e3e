"""A quantity's own values of the parameter: lists that are checked before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence

from mechanisms.check import positive, whole


def whole_points(name: str, values: object, *, low: int = 1) -> None:
    """Refuse what is not a list of whole numbers of at least `low`.

    Examples
    --------
    >>> whole_points("n_releases", [0, 1])
    Traceback (most recent call last):
    ...
    ValueError: n_releases must be a whole number of at least 1, got n_releases=0.
    """
    for value in _listed(name, values):
        whole(name, value, low=low)


def positive_points(name: str, values: object) -> None:
    """Refuse what is not a list of numbers in (0, inf)."""
    for value in _listed(name, values):
        positive(name, value, infinite=False)


def _listed(name: str, values: object) -> Sequence[object]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise ValueError(f"{name} must be a list of numbers, {name}=[1,2], got {name}={values!r}.")
    return values
