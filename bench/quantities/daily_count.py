"""When a person's entry is known from a noisy count of one column, published every day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from attacks.reconstruction.daily_count import (
    KNOWN,
    earliest_day,
    knows_all_others,
    knows_the_share_only,
)
from bench.core.intervals import Estimate, clopper_pearson, exact, mean
from bench.core.randomness import rng_for
from bench.quantities.binary_column import BinaryColumn
from bench.quantities.noisy_counts import NOISES, Noise, private_counts
from bench.quantities.points import positive_points, whole_points
from mechanisms.base import NotApplicableError
from mechanisms.check import FloatArray, one_of, positive, whole, within


@dataclass(frozen=True, kw_only=True)
class DaysUntilKnown:
    """Median number of days until a person's entry is known, x being the epsilon of one day.

    The attacker knows all other rows. An entry is known from the first day on which the posterior
    of its true value is at least `known`.

    Parameters
    ----------
    data : BinaryColumn
        Its share is public.
    epsilons : sequence of float in (0, inf)
        Values of x: of one count, for one row.
    form : {"attack", "earliest"}
        The attack, watched on many persons: median, with an interval by order statistics; or the
        first day on which any attacker's posterior can reach `known`, computed.
    noise : {"laplace", "geometric"}
    known : float in (1/2, 1)
    persons : int
        Drawn by the share, each with noise of its own.
    cap : int
        Last day watched.
    seed : int
    """

    metric: ClassVar[str] = "days"
    data: BinaryColumn
    epsilons: Sequence[float]
    form: Literal["attack", "earliest"] = "attack"
    noise: Noise = "laplace"
    known: float = KNOWN
    persons: int = 1000
    cap: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("form", self.form, ("attack", "earliest"))
        one_of("noise", self.noise, NOISES)
        within("known", self.known, 0.5, 1, ends="()")
        whole("persons", self.persons)
        whole("cap", self.cap)
        positive_points("epsilons", self.epsilons)

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.data.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while the column was read."""
        return self.data.notes

    @property
    def x(self) -> Sequence[float]:
        """Epsilons of one day."""
        return self.epsilons

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return the days at every epsilon.

        Raises
        ------
        NotApplicableError
            If half of the persons are not known within the cap.
        """
        share = self.data.share
        if self.form == "earliest":
            return [exact(float(earliest_day(float(e), share, self.known))) for e in x]
        return [self._median(float(e), share) for e in x]

    def _median(self, epsilon: float, share: float) -> Estimate:
        found = knows_all_others(
            private_counts(self.noise, epsilon), share, days=self.cap, n_trials=self.persons,
            rng=rng_for(self.seed, "days", epsilon), known=self.known,
        )  # fmt: skip
        if found.median is None:
            raise NotApplicableError(
                f"at epsilon {epsilon:g} a day, {found.not_yet_revealed:.0%} of the persons are "
                f"not known after {self.cap} days; raise cap, or leave that epsilon out"
            )
        low, high = found.quantile_interval(0.5)
        return Estimate(
            value=found.median, lower=low, upper=high, n=self.persons, method="order statistics"
        )


@dataclass(frozen=True, kw_only=True)
class KnownByDay:
    """What two attackers believe of a person's entry, x being days of counts.

    Parameters
    ----------
    data : BinaryColumn
        Its share is public.
    days : sequence of int
        Values of x.
    epsilon : float in (0, inf)
        Of one count, for one row.
    of : {"known", "posterior", "share"}
        Share of persons whose entry is known to the attacker who knows all other rows
        (Clopper-Pearson); P(entry has the value) to the one who knows the share alone, of any one
        person (mean over noise, Student's t); or the true share, which that tends to.
    noise : {"laplace", "geometric"}
    known : float in (1/2, 1)
    persons : int
        Persons watched, each with noise of its own.
    publications : int of at least 2
        Of the whole column, each with noise of its own, for ``of="posterior"``.
    seed : int
    """

    metric: ClassVar[str] = "probability"
    data: BinaryColumn
    days: Sequence[int]
    epsilon: float = 0.5
    of: Literal["known", "posterior", "share"] = "known"
    noise: Noise = "laplace"
    known: float = KNOWN
    persons: int = 1000
    publications: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("of", self.of, ("known", "posterior", "share"))
        one_of("noise", self.noise, NOISES)
        positive("epsilon", self.epsilon, infinite=False)
        within("known", self.known, 0.5, 1, ends="()")
        whole("persons", self.persons)
        whole("publications", self.publications, low=2)
        whole_points("days", self.days)

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.data.digest

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while the column was read."""
        return self.data.notes

    @property
    def x(self) -> Sequence[int]:
        """Days."""
        return self.days

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return the probability on every day."""
        if self.of == "share":
            return [exact(self.data.share) for _ in x]
        at = x.astype(int)
        return self._known(at) if self.of == "known" else self._posterior(at)

    def _known(self, days: np.ndarray) -> list[Estimate]:
        found = knows_all_others(
            private_counts(self.noise, self.epsilon), self.data.share, days=int(days.max()),
            n_trials=self.persons, rng=rng_for(self.seed, "known"), known=self.known,
        )  # fmt: skip
        shares = found.revealed_within()[days]
        low, high = clopper_pearson((shares * self.persons).round(), self.persons)
        return [
            Estimate(
                value=float(value), lower=float(below), upper=float(above), n=self.persons,
                method="Clopper-Pearson",
            )
            for value, below, above in zip(shares, low, high, strict=True)
        ]  # fmt: skip

    def _posterior(self, days: np.ndarray) -> list[Estimate]:
        bits, rng = self.data.bits, rng_for(self.seed, "posterior")
        mechanism = private_counts(self.noise, self.epsilon)
        counts = np.full((self.publications, 1), float(bits.sum()))
        seen = np.stack([mechanism.release(counts, rng) for _ in range(int(days.max()))], axis=1)
        found = knows_the_share_only(mechanism, seen, bits.size, self.data.share)
        return [mean([found[:, day]]) for day in days]
