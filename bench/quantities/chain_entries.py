"""Which share of a Markov chain's entries is rebuilt from a noisy count, released repeatedly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from attacks.reconstruction.chain_counts import ChainCountPosterior
from attacks.reconstruction.scores import fraction_reconstructed
from bench.config.build import ConfigError, unknown
from bench.core.intervals import Estimate
from bench.core.randomness import rng_for
from bench.datasets.sequences.chains import ChainSource
from bench.quantities.noisy_counts import NOISES, Noise, private_counts
from bench.quantities.points import whole_points
from bench.quantities.shares import share_of_entries
from mechanisms.check import FloatArray, IntArray, one_of, positive, whole
from mechanisms.laws.sequence import SequenceLaw


@dataclass(frozen=True, kw_only=True)
class ChainEntries:
    """Fraction of one user's entries that the exact posterior gets right, x being releases.

    Sequences are drawn from the chain; the attacker knows it, and the noise.

    Parameters
    ----------
    source : ChainSource
        A chain written down, or fitted to a user's sequences.
    length : int
        Entries of the user.
    counted : str
        Label of the state whose visits are counted.
    epsilon : float in (0, inf)
        Of every release, for one entry.
    n_releases : sequence of int
        Values of x.
    guess : {"counts", "prior"}
        The likeliest state of each entry given the releases, or given the chain alone.
    noise : {"laplace", "geometric"}
    n_trials : int of at least 2
        Sequences.
    seed : int
    """

    metric: ClassVar[str] = "recovered_by_releases"
    synthetic: ClassVar[bool] = True  # also of a fitted chain: its sequences are drawn
    source: ChainSource
    length: int
    counted: str
    epsilon: float
    n_releases: Sequence[int]
    guess: Literal["counts", "prior"] = "counts"
    noise: Noise = "geometric"
    n_trials: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        whole("length", self.length)
        whole("n_trials", self.n_trials, low=2)
        one_of("guess", self.guess, ("counts", "prior"))
        one_of("noise", self.noise, NOISES)
        positive("epsilon", self.epsilon, infinite=False)
        whole_points("n_releases", self.n_releases)
        if self.counted not in self.source.states:
            raise ConfigError(unknown("counted state", self.counted, self.source.states))

    @property
    def digest(self) -> str:
        """Identity of the chain."""
        return self.source.digest

    @property
    def x(self) -> Sequence[int]:
        """Numbers of releases."""
        return self.n_releases

    def curve(self, x: FloatArray) -> list[Estimate]:
        """Return the fraction after every number of releases, on the same sequences."""
        chain = self.source.chain
        state = self.source.states.index(self.counted)
        attacker = ChainCountPosterior(
            transition=chain.transition, initial=chain.first_law, length=self.length, state=state
        )
        truth = self._sequences(rng_for(self.seed, "sequences"))
        if self.guess == "prior":
            alone = np.broadcast_to(attacker.prior().argmax(axis=-1), truth.shape)
            found = share_of_entries(fraction_reconstructed(alone, truth), self.length)
            return [found for _ in x]
        mechanism = private_counts(self.noise, self.epsilon)
        counts = (truth == state).sum(axis=1, keepdims=True)
        rng = rng_for(self.seed, "releases")
        seen = np.stack([mechanism.release(counts, rng) for _ in range(int(x.max()))], axis=1)
        estimates = []
        for n in x:
            guesses = attacker.entries(mechanism, seen[:, : int(n)]).argmax(axis=-1)
            right = fraction_reconstructed(guesses, truth)
            estimates.append(share_of_entries(right, self.length))
        return estimates

    def _sequences(self, rng: np.random.Generator) -> IntArray:
        """Draw sequences from the chain, shape (n_trials, length)."""
        chain = self.source.chain
        first = rng.choice(len(chain.transition), self.n_trials, p=chain.first_law)
        drawn = np.empty((self.n_trials, self.length), dtype=np.int64)
        for state in np.unique(first).tolist():
            law = SequenceLaw(
                transition=chain.transition, initial=chain.first_law, lengths=(self.length,),
                position=1, value=state,
            )  # fmt: skip
            drawn[first == state] = law.sample(int((first == state).sum()), rng)
        return drawn
