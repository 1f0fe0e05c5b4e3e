"""Noise of one scale for every secret pair, and the claim that a theorem makes at that scale."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import one_of
from mechanisms.laws.coupling import largest_over_pairs
from mechanisms.leakage.noisy_mixtures import NoiseName
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.gaussian import GaussianNoise
from mechanisms.noise.identity import ExactRelease
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.privacy.assumptions import Assumptions, Condition, Public
from mechanisms.privacy.budget import RenyiEpsilon
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.notion import Notion

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairScale:
    """A theorem applied to one secret pair.

    Parameters
    ----------
    scale : float in [0, inf]
        The noise that it calls for at the budget, in units of the query.
    epsilon_at_scale : callable
        The epsilon that it proves at any scale in [0, inf); nonincreasing.
    """

    scale: float
    epsilon_at_scale: Callable[[float], float]


def over_pairs(
    inputs: Iterable[T], scale: Callable[[T], float], epsilon_at_scale: Callable[[T, float], float]
) -> list[PairScale]:
    """Apply a theorem to what it needs of each pair (a coupling, a distance, two laws)."""
    return [
        PairScale(scale=scale(item), epsilon_at_scale=functools.partial(epsilon_at_scale, item))
        for item in inputs
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleClaim:
    """The epsilon that a theorem proves at the noise's own scale, for the worst pair.

    Several releases of one answer: Gaussian ones are as good as their average, of deviation
    ``sigma / sqrt(k)``; Laplace ones leak at most what one of scale ``b / k`` does, since moving
    the answer under one release after the other is a chain of k single moves, as in group privacy
    (Dong, Roth and Su 2022, Theorem 2.14), for every pair of answers, and couplings average over
    those.

    Parameters
    ----------
    epsilon_at_scale : tuple of callable
        One a pair: epsilon at a scale.
    noise : {"laplace", "gaussian"}
        For which the theorem holds.
    notion : Notion
    theorem : str
    conditions : tuple of Condition
    notes : tuple of str
    """

    epsilon_at_scale: tuple[Callable[[float], float], ...]
    noise: NoiseName
    notion: Notion
    theorem: str
    conditions: tuple[Condition, ...] = ()
    notes: tuple[str, ...] = ()

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Read the theorem at this noise's scale."""
        if isinstance(noise, LaplaceNoise) and self.noise == "laplace":
            # The smallest scale serves as that of all coordinates: the bound falls with the scale.
            return self.at(float(noise.scales.min()) / n_releases)
        if isinstance(noise, GaussianNoise) and self.noise == "gaussian":
            # Isotropic noise of the least eigenvalue plus an independent rest: data processing.
            # eigvalsh may return a tiny negative number for a singular covariance.
            least = float(np.linalg.eigvalsh(noise.covariance)[0])
            return self.at(math.sqrt(max(least, 0.0) / n_releases))
        return NoClaim(reason=f"{self.theorem} is about {self.noise} noise")

    def at(self, scale: float) -> Guarantee:
        """Return the guarantee of noise of this scale; 0 is no noise."""
        return Guarantee(
            notion=self.notion,
            bound=max(at(scale) for at in self.epsilon_at_scale),
            theorem=self.theorem,
            assumptions=Assumptions(public=(Public.LAWS,), conditions=self.conditions),
            notes=self.notes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroNoiseRelease(ExactRelease):
    """Release the answer itself, where its laws meet the budget without noise."""

    claim: Guarantee

    @property
    def guarantee(self) -> Guarantee:
        """What releasing the answer guarantees."""
        return self.claim

    def repeated_guarantee(self, n_releases: int) -> Guarantee:
        """Return the same claim: repeating an exact release adds nothing."""
        del n_releases
        return self.claim

    def split_among(self, n_releases: int) -> ZeroNoiseRelease:
        """Return the same release: nothing is spent."""
        del n_releases
        return self


def scaled_noise(
    pairs: Sequence[PairScale],
    *,
    epsilon: float,
    noise: NoiseName,
    notion: Notion,
    theorem: str,
    conditions: tuple[Condition, ...] = (),
    notes: tuple[str, ...] = (),
    dimension: int = 1,
) -> AdditiveNoise | ZeroNoiseRelease:
    """Return the mechanism whose noise serves every pair: the largest of their scales.

    Noise is independent with one scale per coordinate. A scale of 0 releases the answer itself.
    `epsilon` is the budget that was asked for, which a refusal names.

    Raises
    ------
    NotApplicableError
        If the theorem calls for infinite noise.
    """
    # Every theorem's epsilon is nonincreasing in the scale, so the largest scale serves all pairs;
    # the claim is then read at that scale for each of them, and the worst pair counts.
    scale = largest_over_pairs([pair.scale for pair in pairs])
    claim = ScaleClaim(
        epsilon_at_scale=tuple(pair.epsilon_at_scale for pair in pairs),
        noise=noise,
        notion=notion,
        theorem=theorem,
        conditions=(*conditions, Condition.REAL_NUMBERS),
        notes=notes,
    )
    if math.isinf(scale):
        raise NotApplicableError(f"no {noise} noise meets epsilon={epsilon:g} by {theorem}")
    if scale == 0:
        # Noise of scale 0 has no density; the release is then the answer itself.
        return ZeroNoiseRelease(claim=claim.at(0.0))
    if noise == "laplace":
        return AdditiveNoise(noise=LaplaceNoise(scales=np.full(dimension, scale)), claim=claim)
    covariance = scale**2 * np.eye(dimension)
    return AdditiveNoise(
        noise=GaussianNoise(covariance=covariance, calibration="analytic"), claim=claim
    )


def check_order(budget: RenyiEpsilon, theorem: str, *, low: float = 1.0) -> float:
    """Return the budget's order; a theorem for orders from `low` on refuses smaller ones."""
    if budget.order < low:
        raise NotApplicableError(
            f"{theorem} is for orders of at least {low:g}, got order={budget.order:g}"
        )
    return budget.order


def check_noise(noise: str) -> None:
    """Refuse a noise law that there is not."""
    one_of("noise", noise, ("laplace", "gaussian"))
