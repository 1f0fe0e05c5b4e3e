"""Differences from the first bit, or a parity: no bit leaks once, all of them leak together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from mechanisms.base import Sees
from mechanisms.check import Array, FloatArray, IntArray, whole, within
from mechanisms.collapse.listed import collapse_guarantee, listed_leakage, worst_epsilon
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.leakage.pair import PairLeakage
from mechanisms.privacy.guarantee import Guarantee

MOST_BITS = 11

DIFFERENCES, PARITY = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityRelease:
    """Release, each with probability 1/2, all ``x_j xor x_1`` or one parity of the bits.

    The parity is that of all bits if their number is odd, of all but the first if it is even.
    Under independent uniform bits one run leaves the law of every single bit as it was; one run
    of each kind reveals them all.

    Parameters
    ----------
    n_bits : int in [2, 11]
    share : float in (0, 1)
        P(bit = 1) under the prior of independent bits. Other than 1/2, one run leaks: the exact
        amount is the claim.
    allow_two_bits : bool
        Two bits are refused otherwise: the parity is then the second bit itself.

    Notes
    -----
    A release is a row of `n_bits` numbers: 0 and the differences, or 1, the parity and zeros.

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), "Composition for Pufferfish Privacy", Example 3.

    Examples
    --------
    >>> ParityRelease(n_bits=3).guarantee.bound
    0.0
    >>> round(ParityRelease(n_bits=3, share=0.7).guarantee.bound, 4)
    1.6946
    """

    sees: ClassVar[Sees] = "database"
    n_bits: int
    share: float = 0.5
    allow_two_bits: bool = False

    def __post_init__(self) -> None:
        if whole("n_bits", self.n_bits, low=2) == 2 and not self.allow_two_bits:
            raise ValueError(
                "n_bits must be at least 3: of 2 bits the parity is the second bit itself, so one "
                "run reveals it; allow_two_bits=True releases it all the same."
            )
        if self.n_bits > MOST_BITS:
            raise ValueError(
                f"n_bits must be at most {MOST_BITS}: all databases are listed, "
                f"got n_bits={self.n_bits}."
            )
        within("share", self.share, 0, 1, ends="()")

    @property
    def guarantee(self) -> Guarantee:
        """What one run guarantees: the exact leakage, 0 for uniform bits from three on."""
        return self.repeated_guarantee(1)

    def repeated_guarantee(self, n_releases: int) -> Guarantee:
        """Return what several runs guarantee together: nothing."""
        # Uniform bits are exactly 0 by the theorem; listing them would leave rounding.
        quiet = self.share == 0.5 and self.n_bits > 2
        one_run = 0.0 if quiet else worst_epsilon(self, 1)
        return collapse_guarantee(one_run, n_releases, example=3)

    def law(self, bit: int, value: int) -> FiniteLaw:
        """Return the law of the database given the value of one bit, counted from 0."""
        rows = np.array(list(product((0, 1), repeat=self.n_bits)))
        rows = rows[rows[:, bit] == value]
        ones = np.delete(rows, bit, axis=1)
        weights = np.where(ones == 1, self.share, 1 - self.share).prod(axis=1)
        return FiniteLaw(atoms=rows, weights=weights)

    def law_pairs(self) -> tuple[tuple[FiniteLaw, FiniteLaw], ...]:
        """Return the two values of every bit."""
        return tuple((self.law(i, 0), self.law(i, 1)) for i in range(self.n_bits))

    def outputs(self) -> IntArray:
        """Return all possible releases, shape (2^(n_bits - 1) + 2, n_bits)."""
        rest = np.array(list(product((0, 1), repeat=self.n_bits - 1)))
        differences = np.column_stack([np.full(len(rest), DIFFERENCES), rest])
        parities = np.zeros((2, self.n_bits), dtype=np.int64)
        parities[:, 0], parities[:, 1] = PARITY, (0, 1)
        return np.concatenate([differences, parities])

    def release(self, x: Array, rng: np.random.Generator) -> IntArray:
        """Release one of both kinds of databases ``(n_trials, n_bits)``."""
        differences, parities = self._both(np.asarray(x, dtype=np.int64))
        kind = rng.integers(2, size=(len(differences), 1))
        return np.where(kind == PARITY, parities, differences)

    def log_density(self, releases: Array, answers: Array) -> FloatArray:
        """Log probability of releases ``(n, 1, b)`` given databases ``(1, a, b)``: (n, a)."""
        possible = [
            (releases == form[None]).all(axis=-1)
            for form in self._both(np.asarray(answers, dtype=np.int64)[0])
        ]
        return np.where(possible[0] | possible[1], -math.log(2), -np.inf)

    def leakage(self, first: AnswerLaw, second: AnswerLaw, n_releases: int) -> PairLeakage:
        """Compare the laws of several runs on one database, listed."""
        return listed_leakage(self, first, second, n_releases)

    def expected_runs(self) -> float:
        """Return the expected number of runs until all bits are revealed: 1 + 2."""
        return 3.0

    def revealed_within(self, n_releases: int) -> float:
        """Return the probability that `n_releases` runs reveal all bits: both kinds came."""
        return 1 - 0.5 ** (whole("n_releases", n_releases) - 1)

    def _both(self, bits: IntArray) -> tuple[IntArray, IntArray]:
        """Return both releases of databases ``(n, n_bits)``, each of that shape."""
        if bits.ndim != 2 or bits.shape[1] != self.n_bits or not np.isin(bits, (0, 1)).all():
            raise ValueError(
                f"databases must be bits of shape (n, {self.n_bits}), got shape {bits.shape}, "
                f"entries from {bits.min()} to {bits.max()}."
            )
        differences = bits ^ bits[:, :1]  # the first column becomes 0, the mark of this kind
        parities = np.zeros_like(bits)
        parities[:, 0] = PARITY
        parities[:, 1] = bits[:, 1 - self.n_bits % 2 :].sum(axis=1) % 2
        return differences, parities
