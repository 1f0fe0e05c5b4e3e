"""A number that is known exactly, or only to lie between two bounds."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.check import NotPossibleError


class NotComputableError(NotPossibleError):
    """An exact leakage that nobody can compute here; the message is the reason."""


@dataclass(frozen=True, slots=True)
class NotComputable:
    """A number that is not known, as a value; `reason` says why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds ``lo <= value <= hi``; equal where the value is exact.

    Parameters
    ----------
    lo, hi : float
    error : float in [0, 1]
        0 for proved bounds. Else `hi` was estimated from random draws of its own, and over their
        seed it lies below the value with at most this probability.

    Examples
    --------
    >>> Bracket(1.0, 1.0).exact, Bracket(0.0, 1.0).exact
    (True, False)
    """

    lo: float
    hi: float
    error: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the two ends agree to 1e-6, absolute or relative."""
        return self.lo == self.hi or self.hi - self.lo <= 1e-6 * max(1.0, abs(self.lo))

    def join(self, other: Bracket) -> Bracket:
        """Bracket the larger of two numbers; their errors add up."""
        error = min(1.0, self.error + other.error)
        return Bracket(max(self.lo, other.lo), max(self.hi, other.hi), error)
