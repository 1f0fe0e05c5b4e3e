"""Guarantees that survive a model which is only approximately true.

Chen and Ohrimenko (2023), section 4.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechanisms.base import Calibration, Knowledge, NotApplicableError
from mechanisms.check import positive, within
from mechanisms.distribution.lattice_steps import half_a_step, lattice_steps
from mechanisms.noise.additive import AdditiveNoise, Claim, NoiseLaw, additive
from mechanisms.noise.laplace import LaplaceNoise
from mechanisms.noise.noise_sum import NoiseSum
from mechanisms.privacy.assumptions import Assumptions, Condition
from mechanisms.privacy.budget import SMALLEST, Budget
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import Approximate


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateModel:
    """Calibrate for a model, and widen the claim to answers whose laws are near the model's.

    The noise, hence the release, is that of `calibration`; at the true laws it is
    ``(epsilon + 2 lam, (1 + e^(epsilon + lam)) eta + e^lam delta)``-private, which is above the
    budget asked for.

    Parameters
    ----------
    calibration : Calibration
        Of additive noise, with a claim in (epsilon, delta).
    divergence : float in [0, inf)
        lam: eta-approximate max-divergence between true law and model, in both directions.
    eta : float in [0, 1)
    on_lattice : bool
        Calibrate for answers on a lattice too, where no finite lam exists: every point of the
        lattice has a probability, and none under a law with a density. For showing the break.

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.6.
    """

    calibration: Calibration
    divergence: float
    eta: float = 0.0
    on_lattice: bool = False

    def __post_init__(self) -> None:
        within("divergence", self.divergence, 0, math.inf, ends="[)")
        within("eta", self.eta, 0, 1, ends="[)")

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the wrapped calibration requires."""
        return self.calibration.requires

    @property
    def accepts(self) -> type[Budget]:
        """What the wrapped calibration accepts."""
        return self.calibration.accepts

    def calibrate(self, *knowledge: Any, budget: Any) -> AdditiveNoise:  # noqa: ANN401
        """Return the wrapped mechanism with its claim widened."""
        if lattice_steps(knowledge) is not None and not self.on_lattice:
            raise NotApplicableError(
                "real answers lie on a lattice, and the max-divergence between a law on a lattice "
                "and one with a density is infinite: Theorem 4.6 says nothing. Theorem 4.7 does "
                "(repair: floor)"
            )
        inner = additive(self.calibration.calibrate(*knowledge, budget=budget))
        claim = ApproximateModelClaim(inner=inner.claim, divergence=self.divergence, eta=self.eta)
        return replace(inner, claim=claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateModelClaim:
    """The claim under the model, widened by the model's error (see `ApproximateModel`)."""

    inner: Claim
    divergence: float
    eta: float

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Widen what the noise guarantees under the model; the model errs once, not per release."""
        return widen(
            self.inner.guarantee(noise, n_releases),
            divergence=self.divergence,
            eta=self.eta,
            theorem="Chen and Ohrimenko (2023), Theorem 4.6",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyModel:
    """Calibrate for a model, and add Laplace noise that covers the way from truth to model.

    Parameters
    ----------
    calibration : Calibration
        Of additive noise, with a claim in (epsilon, delta).
    distance : float in (0, inf), or None
        W: largest infinity-Wasserstein distance in L1 between a true law and its model, in units
        of the query. Answers on a lattice are at least half a step a coordinate away from any law
        with a density; what else the model misses comes on top, and is assumed to be within W.
        None takes that half a step a coordinate, where the scenario knows the steps.
    divergence : float in (0, inf), or None
        lam: the extra noise is ``Lap(W / lam)`` per coordinate, and the claim becomes
        ``(epsilon + 2 lam, e^lam delta)``, which is above the budget asked for.
    share : float in (0, .5), or None
        Instead of lam: lam is this share of epsilon, and the model's noise is calibrated to
        ``(epsilon - 2 lam, e^-lam delta)``, so that the claim is the budget asked for.

    References
    ----------
    Chen and Ohrimenko (2023), Theorem 4.7.

    Examples
    --------
    >>> from mechanisms.distribution.directional import DirectionalLaplace
    >>> from mechanisms.knowledge import GaussianAnswers
    >>> from mechanisms.privacy.budget import Epsilon
    >>> answers = GaussianAnswers(
    ...     means=[[0, 0], [3, 4]], covariances=[np.eye(2)] * 2, pairs=((0, 1),)
    ... )
    >>> mechanism = NearbyModel(
    ...     calibration=DirectionalLaplace(), distance=0.5, divergence=0.1
    ... ).calibrate(
    ...     answers, budget=Epsilon(epsilon=1.0)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [68.0, 82.0]
    """

    calibration: Calibration
    distance: float | None
    divergence: float | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if self.distance is not None:
            positive("distance", self.distance, infinite=False)
        if (self.divergence is None) == (self.share is None):
            raise ValueError(
                "either divergence or share must be given, "
                f"got divergence={self.divergence!r} and share={self.share!r}."
            )
        if self.share is None:
            positive("divergence", self.divergence, infinite=False)
        else:
            within("share", self.share, 0, 0.5, ends="()")

    @property
    def requires(self) -> tuple[type[Knowledge], ...]:
        """What the wrapped calibration requires."""
        return self.calibration.requires

    @property
    def accepts(self) -> type[Budget]:
        """What the wrapped calibration accepts."""
        return self.calibration.accepts

    def calibrate(self, *knowledge: Any, budget: Any) -> AdditiveNoise:  # noqa: ANN401
        """Return the wrapped mechanism with the extra noise and its claim widened."""
        lam = self.divergence or 0.0
        left = budget
        if self.share is not None:
            lam = self.share * budget.epsilon
            left = _left_of(budget, lam)
        try:
            inner = additive(self.calibration.calibrate(*knowledge, budget=left))
        except NotApplicableError as reason:
            if left is budget:
                raise
            raise NotApplicableError(
                f"at epsilon={budget.epsilon:g}, of which the model's noise has {left.epsilon:g}: "
                f"{reason}"
            ) from reason
        distance = self.distance if self.distance is not None else half_a_step(knowledge)
        scales = np.full(inner.variances().size, distance / lam)
        return AdditiveNoise(
            noise=NoiseSum(model=inner.noise, extra=LaplaceNoise(scales=scales)),
            claim=NearbyModelClaim(inner=inner.claim, distance=distance),
        )


def _left_of(budget: Any, lam: float) -> Any:  # noqa: ANN401
    """Return the budget of the model's noise, so that the claim is `budget` again."""
    epsilon = budget.epsilon - 2 * lam
    if epsilon < SMALLEST:
        raise NotApplicableError(
            f"epsilon={budget.epsilon:g} leaves {epsilon:g} for the model's noise, below the "
            f"smallest budget {SMALLEST:g}"
        )
    if hasattr(budget, "delta"):
        delta = math.exp(-lam) * budget.delta
        if delta == 0:
            raise NotApplicableError(
                f"epsilon={budget.epsilon:g} leaves no delta for the model's noise"
            )
        return replace(budget, epsilon=epsilon, delta=delta)
    return replace(budget, epsilon=epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyModelClaim:
    """The claim under the model, widened by what the extra noise leaves (see `NearbyModel`)."""

    inner: Claim
    distance: float

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Widen by k W / scale, the divergence that k releases of the extra noise leave."""
        if not isinstance(noise, NoiseSum):
            return NoClaim(reason="without extra noise nothing covers the model's error")
        # The smallest scale bounds every coordinate: sum |w_j| / b_j <= |w|_1 / min b. The claim
        # so errs towards less privacy where scales differ.
        divergence = n_releases * self.distance / float(noise.extra.scales.min())
        return widen(
            self.inner.guarantee(noise.model, n_releases),
            divergence=divergence,
            eta=0.0,
            theorem="Chen and Ohrimenko (2023), Theorem 4.7",
        )


def widen(
    guarantee: Guarantee | NoClaim, *, divergence: float, eta: float, theorem: str
) -> Guarantee | NoClaim:
    """Return ``(eps + 2 lam, (1 + e^(eps + lam)) eta + e^lam delta)``; no claim from delta 1 on."""
    if isinstance(guarantee, NoClaim):
        return guarantee
    if not isinstance(guarantee.notion, Approximate):
        return NoClaim(reason="a model's error is only accounted for in (epsilon, delta)")
    # From truth to model, across the model's guarantee, and back: the divergence is paid in
    # epsilon at both ends, and in delta once, where events of the model are read at the truth.
    delta = math.exp(divergence) * guarantee.notion.delta
    if eta > 0:
        # Exceptional events of mass eta on either side; capped where e^x would overflow, which
        # is far beyond the delta of 1 that is refused below.
        delta += (1 + math.exp(min(700.0, guarantee.bound + divergence))) * eta
    if not delta < 1:
        return NoClaim(reason="the model's error exceeds what epsilon and delta can express")
    return replace(
        guarantee,
        notion=Approximate(delta=delta),
        bound=guarantee.bound + 2 * divergence,
        theorem=f"{theorem} on {guarantee.theorem}",
        assumptions=near_model(guarantee.assumptions),
    )


def near_model(assumed: Assumptions) -> Assumptions:
    """Return the assumptions of a claim that needs its model only nearly."""
    return replace(assumed, conditions=(*assumed.conditions, Condition.NEAR_MODEL))
