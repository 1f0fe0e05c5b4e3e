"""The true case beside a random one of the other side: little leaks once, the secret twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, whole, within
from mechanisms.collapse.listed import collapse_guarantee, listed_leakage
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.guarantee import Guarantee

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePair:
    """Release the case of the database and a uniformly drawn case of the other side.

    A database is a row ``(secret, member)`` of two bits: whether the secret holds, and whether
    the database lies in the set U_T (if the secret holds) or U_F (if not). A release is a row of
    two bits: a case of the side "secret holds" and one of the other side, of which one is true
    and which one is not said.

    Parameters
    ----------
    share_if_true, share_if_false : (float, float)
        Ends of the intervals in (0, 1) of P(U_T | secret) and P(U_F | no secret) over all priors.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), "Composition for Pufferfish Privacy", Example 5. Its
    epsilon takes the absolute value of each logarithm.

    Examples
    --------
    >>> pair = CasePair(share_if_true=(0.3, 0.6), share_if_false=(0.4, 0.7))
    >>> round(pair.guarantee.bound, 4), pair.repeated_guarantee(2).bound
    (0.8473, inf)
    """

    sees: ClassVar[Sees] = "database"
    share_if_true: Interval
    share_if_false: Interval

    def __post_init__(self) -> None:
        for name in ("share_if_true", "share_if_false"):
            low, high = getattr(self, name)
            within(f"the lower end of {name}", low, 0, 1, ends="()")
            within(f"the upper end of {name}", high, 0, 1, ends="()")
            if low > high:
                raise ValueError(f"{name} must be (low, high) in order, got ({low:g}, {high:g}).")

    @property
    def guarantee(self) -> Guarantee:
        """What one run guarantees: the largest ``|log T'/F'|`` over all priors, exact.

        T' and F' are the conditional probabilities of a case of either side. They enter
        monotonically, so the ends of the intervals decide.
        """
        return self.repeated_guarantee(1)

    def repeated_guarantee(self, n_releases: int) -> Guarantee:
        """Return what several runs guarantee together: nothing."""
        true, false = (
            np.log([*ends, *(1 - end for end in ends)])
            for ends in (self.share_if_true, self.share_if_false)
        )
        one_run = float(np.abs(true[:, None] - false).max())
        return collapse_guarantee(one_run, n_releases, example=5)

    def law(self, secret: int, share: float) -> FiniteLaw:
        """Return the law of the database given the secret (1 or 0), for a share of the set."""
        within("share", share, 0, 1)
        return FiniteLaw(
            atoms=np.array([[secret, 1], [secret, 0]]), weights=np.array([share, 1 - share])
        )

    def law_pairs(self) -> tuple[tuple[FiniteLaw, FiniteLaw], ...]:
        """Return both sides under the four extreme priors."""
        return tuple(
            (self.law(1, true), self.law(0, false))
            for true in self.share_if_true
            for false in self.share_if_false
        )

    def outputs(self) -> IntArray:
        """Return the four possible releases."""
        return np.array([[0, 0], [0, 1], [1, 0], [1, 1]])

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Release pairs of cases, shape (n_trials, 2), of databases ``(n_trials, 2)``."""
        secret, member = _checked(x).T
        cases = rng.integers(2, size=(len(secret), 2))
        cases[np.arange(len(secret)), 1 - secret] = member
        return cases

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of releases ``(n, 1, 2)`` given databases ``(1, a, 2)``: (n, a)."""
        secret, member = _checked(np.asarray(answers)[0]).T
        own = np.asarray(releases)[:, 0][:, 1 - secret]
        return np.where(own == member, -math.log(2), -np.inf)

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the laws of several runs on one database, listed."""
        return listed_leakage(self, first, second, n_releases)

    def expected_runs(self) -> float:
        """Return the expected number of runs until the case is revealed: 1 + 2."""
        return 3.0

    def revealed_within(self, n_releases: int) -> float:
        """Return the probability that `n_releases` runs reveal the case: two outputs came."""
        return 1 - 0.5 ** (whole("n_releases", n_releases) - 1)


def _checked(databases: Array) -> IntArray:
    rows = np.asarray(databases, dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2 or not np.isin(rows, (0, 1)).all():
        raise ValueError(
            f"databases must be rows (secret, member) of bits, got shape {rows.shape}."
        )
    return rows
