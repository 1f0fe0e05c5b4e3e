"""Which users' sequences calibrate the noise: all of them, or a public part that is set aside."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from bench.core.randomness import rng_for
from bench.datasets.source import DataError
from mechanisms.check import IntArray, one_of, whole, within
from mechanisms.influence.chain import MarkovChain
from mechanisms.influence.fit import FittedChain, fit_chain

S = TypeVar("S", bound=Sequence[Hashable])
ALL: Literal["all"] = "all"
PUBLIC_PART: Literal["public part"] = "public part"
CalibrateOn = Literal["all", "public part"]
ONE_CHAIN: Literal["one chain"] = "one chain"
A_USER: Literal["a chain a user"] = "a chain a user"
Theta = Literal["one chain", "a chain a user"]
ESTIMATED = (
    "the chain was counted in the sequences that are to be protected; "
    "calibrate_on='public part' counts others"
)


@dataclass(frozen=True, kw_only=True)
class PublicPart:
    """Which users' sequences a chain is fitted to, and which ones are to be protected.

    Parameters
    ----------
    calibrate_on : {"all", "public part"}
        Fit the chain to all sequences, which it then should protect too; or to those of some
        users, whose sequences are taken to be public, and protect the others.
    public_share : float in (0, 1)
        Share of the users whose sequences are public, drawn at random.
    part_seed : int
        Of that draw.
    theta : {"one chain", "a chain a user"}
        Which chains the curator takes to be possible: the one fitted to all users that calibrate,
        or also the one of each of these users, fitted to his sequence alone.
    """

    calibrate_on: CalibrateOn = ALL
    public_share: float = 0.5
    part_seed: int = 0
    theta: Theta = ONE_CHAIN

    def check_part(self) -> None:
        """Refuse options out of range."""
        one_of("calibrate_on", self.calibrate_on, (ALL, PUBLIC_PART))
        within("public_share", self.public_share, 0, 1, ends="()")
        whole("part_seed", self.part_seed, low=0)
        one_of("theta", self.theta, (ONE_CHAIN, A_USER))

    @property
    def estimated(self) -> str:
        """How the protected sequences got into the calibration; empty where they did not."""
        return ESTIMATED if self.calibrate_on == ALL else ""

    def chains_of_users(
        self, sequences: Sequence[Sequence[Hashable]], fitted: FittedChain, smoothing: float
    ) -> tuple[MarkovChain, ...]:
        """Return the chain of each user that calibrates and has a step; none for "one chain".

        Parameters
        ----------
        sequences : sequence of sequences
            Those that calibrate.
        fitted : FittedChain
            Of all of them: its states.
        smoothing : float in [0, 1)
        """
        if self.theta == ONE_CHAIN:
            return ()
        return tuple(
            fit_chain([sequence], fitted.states, smoothing=smoothing).chain
            for sequence in sequences
            if len(sequence) > 1
        )

    def parts(self, sequences: Sequence[S]) -> tuple[list[S], list[S]]:
        """Return the sequences that calibrate, and those that are protected."""
        if self.calibrate_on == ALL:
            return list(sequences), list(sequences)
        users = len(sequences)
        public = round(self.public_share * users)
        if not 0 < public < users:
            raise DataError(
                f"calibrate_on='public part' needs users on both sides, got {users} users and "
                f"public_share={self.public_share:g}."
            )
        order = rng_for(self.part_seed, "public part").permutation(users)
        chosen = set(order[:public].tolist())
        return (
            [s for i, s in enumerate(sequences) if i in chosen],
            [s for i, s in enumerate(sequences) if i not in chosen],
        )


def codes_of(sequences: Sequence[S], states: Sequence[Hashable]) -> list[IntArray]:
    """Return the sequences as positions of their labels among `states`."""
    code = {state: i for i, state in enumerate(states)}
    return [np.array([code[label] for label in s], dtype=np.int64) for s in sequences]
