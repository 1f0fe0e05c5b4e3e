"""Renyi Pufferfish privacy from the largest displacement alone, for scalar answers.

Pierquin, Bellet, Tommasi, Boussard (2024), Renyi Pufferfish Privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.base import Mechanism
from mechanisms.check import within
from mechanisms.knowledge import ScalarAnswers
from mechanisms.laws.closeness import w_delta_closeness
from mechanisms.laws.discrete import wasserstein
from mechanisms.leakage.noisy_mixtures import Noise
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.indistinguishability import DeltaApproximateRenyi, Renyi
from mechanisms.privacy.notion import Notion
from mechanisms.renyi import achieved, calibrate
from mechanisms.renyi.scale_claim import check_noise, checked_order, over_pairs, scaled_noise

SOURCE = "Pierquin, Bellet, Tommasi, Boussard (2024)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftReduction:
    """Release ``X + Z`` with noise for a shift by W_infinity; order in [1, inf].

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
    delta : float in [0, 1)
        With delta > 0 all but delta of the mass moves by at most the distance W that counts:
        (order, epsilon, delta)-Renyi Pufferfish privacy. Given ``|z| <= W`` both sides are
        mixtures of laws at most W apart, and joint convexity needs no further term.

    References
    ----------
    Pierquin et al. (2024), Corollary 3.1; with delta, their section 4 without its extra term.
    """

    requires: ClassVar = (ScalarAnswers,)
    accepts: ClassVar = RenyiEpsilon
    noise: Noise
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_noise(self.noise)
        within("delta", self.delta, 0, 1, ends="[)")

    def calibrate(self, answers: ScalarAnswers, *, budget: RenyiEpsilon) -> Mechanism:
        """Take the largest scale over the pairs."""
        theorem = f"{SOURCE}, Corollary 3.1"
        order, epsilon = checked_order(budget, theorem), budget.epsilon
        notion: Notion = Renyi(order=order)
        distances = [wasserstein(*laws, order=float("inf")) for laws in answers.law_pairs()]
        notes = answers.skipped()
        if self.delta > 0:
            notion = DeltaApproximateRenyi(order=order, delta=self.delta)
            notes = (*notes, "given events of mass 1 - delta on either side")
            distances = [w_delta_closeness(p, q, delta=self.delta) for p, q in answers.law_pairs()]
        laplace = self.noise == "laplace"
        shift = calibrate.shift_laplace if laplace else calibrate.shift_gaussian
        read = achieved.shift_laplace if laplace else achieved.shift_gaussian
        pairs = over_pairs(
            distances,
            lambda distance: shift(distance, order=order, epsilon=epsilon),
            lambda distance, s: read(distance, order=order, scale=s),
        )
        return scaled_noise(pairs, noise=self.noise, notion=notion, theorem=theorem, notes=notes)
