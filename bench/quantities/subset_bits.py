"""Which share of a binary column is rebuilt from noisy counts over random subsets of its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attacks.reconstruction.scores import fraction_reconstructed
from attacks.reconstruction.subset_counts import SubsetReconstruction
from bench.core.intervals import Estimate
from bench.core.randomness import rng_for
from bench.quantities.binary_column import Bits
from bench.quantities.noisy_counts import NoisyCounts, gaussian_counts, private_counts
from bench.quantities.points import positive_points
from bench.quantities.shares import share_of_entries
from mechanisms.check import FloatArray, one_of, whole


@dataclass(frozen=True, kw_only=True)
class SubsetBits:
    """Fraction of `n_bits` random rows of a column that is guessed right.

    Every game draws its own rows, subsets (each row with probability 1/2) and noise. The
    attacker knows the subsets, the noise law and the public share.

    Parameters
    ----------
    data : Bits
    at : sequence of float in (0, inf)
        Values of x.
    axis : {"noise", "epsilon"}
        x is the standard deviation of Gaussian noise over ``sqrt(n_bits)``, or the record-level
        epsilon of all counts together (Laplace noise).
    guess : {"counts", "prior"}
        From the counts, or the likelier value for every row, from the share alone.
    n_bits, n_queries : int
    n_games : int of at least 2
    n_learnt : int
        Databases simulated with the public share, on which rounding is learnt.
    seed : int
    """

    data: Bits
    at: Sequence[float]
    axis: Literal["noise", "epsilon"] = "noise"
    guess: Literal["counts", "prior"] = "counts"
    n_bits: int = 48
    n_queries: int = 192
    n_games: int = 10
    n_learnt: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("axis", self.axis, ("noise", "epsilon"))
        one_of("guess", self.guess, ("counts", "prior"))
        for name in ("n_bits", "n_queries", "n_learnt"):
            whole(name, getattr(self, name))
        whole("n_games", self.n_games, low=2)
        positive_points(self.axis, self.at)
        rows = len(self.data.bits)
        if self.n_bits > rows:
            raise ValueError(f"n_bits must be at most the {rows} rows, got n_bits={self.n_bits}.")

    @property
    def metric(self) -> str:
        """Name of the quantity in the table."""
        return f"recovered_by_{self.axis}"

    @property
    def digest(self) -> str:
        """Identity of the data."""
        return self.data.digest

    @property
    def synthetic(self) -> bool:
        """Whether the column is invented."""
        return self.data.synthetic

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while the column was read."""
        return self.data.notes

    @property
    def x(self) -> Sequence[float]:
        """Values of the parameter."""
        return self.at

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return the fraction at every value of the parameter."""
        return [
            share_of_entries(
                np.array([self._game(float(at), game) for game in range(self.n_games)]),
                self.n_bits,
            )
            for at in x
        ]

    def _game(self, at: float, game: int) -> float:
        # The same rows, whatever the guess, so that the prior is compared on the same games.
        rows = rng_for(self.seed, "rows", self.axis, at, game)
        truth = rows.choice(self.data.bits, self.n_bits, replace=False)[None]
        if self.guess == "prior":
            alone = np.full_like(truth, int(self.data.share > 0.5))
            return float(fraction_reconstructed(alone, truth)[0])
        rng = rng_for(self.seed, "counts", self.axis, at, game)
        queries = rng.integers(0, 2, (self.n_queries, self.n_bits)).astype(np.float64)
        attack = SubsetReconstruction(queries=queries)
        mechanism = self._mechanism(at)
        learnt = attack.simulated(
            mechanism, self.data.share, size=self.n_learnt, n_releases=1, rng=rng
        )
        guess = attack.fit(*learnt).guess(attack.released(mechanism, truth, 1, rng))
        return float(fraction_reconstructed(guess, truth)[0])

    def _mechanism(self, at: float) -> NoisyCounts:
        if self.axis == "epsilon":
            return private_counts("laplace", at, self.n_queries)
        return gaussian_counts(at * math.sqrt(self.n_bits), self.n_queries)
