"""Group differential privacy and record-level differential privacy, as baselines.

Replacing k of the n units moves the answer by at most k sensitivities. With k = n every pair
of databases is covered, hence every secret about the whole database; with k = 1 (record-level
privacy) nothing is claimed about such a secret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mechanisms.base import NotApplicableError
from mechanisms.check import whole
from mechanisms.knowledge import Sensitivity
from mechanisms.leakage.pair import GaussianShift
from mechanisms.noise.additive import AdditiveNoise, NoiseLaw
from mechanisms.noise.gaussian import (
    CalibrationName,
    GaussianNoise,
    calibration_conditions,
    check_calibration,
    target_distance,
)
from mechanisms.noise.geometric import GeometricNoise, GeometricRelease
from mechanisms.noise.laplace import LaplaceNoise, laplace_scale
from mechanisms.privacy.accounting import THEOREM as ACCOUNTED
from mechanisms.privacy.accounting import laplace_epsilon
from mechanisms.privacy.assumptions import (
    Assumptions,
    Condition,
    Neighbours,
    Priors,
    Public,
    Secrets,
)
from mechanisms.privacy.budget import Epsilon, EpsilonDelta
from mechanisms.privacy.conversions import convert
from mechanisms.privacy.guarantee import Guarantee, NoClaim, NotComparable
from mechanisms.privacy.indistinguishability import Approximate, Probabilistic, Renyi
from mechanisms.privacy.notion import Notion

THEOREM = "Dwork and Roth (2014), Theorem 2.2 (group privacy)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClaim:
    """All databases that differ in at most `group` units; a claim on secrets if that is all.

    Parameters
    ----------
    sensitivity : Sensitivity
    group : int
        Number of units replaced together.
    notion : Approximate
    conditions : tuple of Condition
    """

    sensitivity: Sensitivity
    group: int
    notion: Approximate
    conditions: tuple[Condition, ...] = ()

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee | NoClaim:
        """Claim the secret pairs where the group is the whole database."""
        if self.group < self.sensitivity.size:
            unit = self.sensitivity.unit
            units = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
            return NoClaim(
                reason=f"privacy for {self.group} of {self.sensitivity.size} "
                f"{units} says nothing about a property of all of them"
            )
        delta = self.notion.delta
        return Guarantee(
            notion=self.notion,
            bound=group_epsilon(noise, self.sensitivity, self.group, delta, n_releases),
            theorem=THEOREM,
            assumptions=replaced_units(self.sensitivity.unit, self.group, self.conditions),
        )

    def guarantee_in(
        self, noise: NoiseLaw, notion: Notion, n_releases: int
    ) -> Guarantee | NotComparable | None:
        """Read another notion off the noise itself: less is lost than by converting a number.

        Gaussian noise is known in every notion by its distance; Laplace noise by the law of its
        loss (dp-accounting) or, without that extra, by converting basic composition.
        """
        claim = self.guarantee(noise, n_releases)
        if isinstance(claim, NoClaim):
            return None
        if isinstance(noise, GaussianNoise):
            pair = GaussianShift(self._distance(noise, n_releases))
            if not isinstance(notion, Approximate | Renyi | Probabilistic):
                return None
            bound = notion.of_pair(pair).hi
            theorem = "the Gaussian pair at the group's distance (Dong, Roth and Su, 2022)"
            return replace(claim, notion=notion, bound=bound, theorem=theorem)
        if not (isinstance(noise, LaplaceNoise) and isinstance(notion, Approximate)):
            return None
        if notion.delta == 0:
            return replace(claim, notion=notion)
        try:
            bound = laplace_epsilon(claim.bound / n_releases, notion.delta, n_releases)
        except ImportError as reason:
            found = convert(claim, notion)
            return replace(found, notes=(str(reason),)) if isinstance(found, Guarantee) else found
        return replace(claim, notion=notion, bound=bound, theorem=ACCOUNTED)

    def _distance(self, noise: GaussianNoise, n_releases: int) -> float:
        """Return the Mahalanobis distance of the group's worst move, all releases averaged."""
        least = float(np.linalg.eigvalsh(noise.covariance)[0])
        move = self.group * self.sensitivity.l2
        return move * math.sqrt(n_releases / least) if least > 0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLaplace:
    """Release ``F + Lap(k S_1 / epsilon)`` per coordinate: (epsilon, 0)-DP for groups of k.

    Parameters
    ----------
    group : int or None
        k; None protects all units together (k = n).

    Examples
    --------
    >>> sensitivity = Sensitivity(l1=2.0, l2=1.5, unit="record", size=100, dimension=3)
    >>> mechanism = GroupLaplace(group=10).calibrate(sensitivity, budget=Epsilon(epsilon=1.0))
    >>> mechanism.variances().round(3).tolist()
    [800.0, 800.0, 800.0]
    """

    requires: ClassVar = (Sensitivity,)
    accepts: ClassVar = Epsilon
    group: int | None = None

    def calibrate(self, sensitivity: Sensitivity, *, budget: Epsilon) -> AdditiveNoise:
        """Scale independent Laplace noise to the group's L1 sensitivity."""
        group = group_size(self.group, sensitivity)
        scale = laplace_scale(group * sensitivity.l1, budget.epsilon)
        return AdditiveNoise(
            noise=LaplaceNoise(scales=np.full(sensitivity.dimension, scale)),
            claim=GroupClaim(
                sensitivity=sensitivity,
                group=group,
                notion=Approximate(delta=0.0),
                conditions=(Condition.REAL_NUMBERS,),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGeometric:
    """Release ``F + Z``, F in whole numbers, with two-sided geometric Z of scale k S_1 / epsilon.

    Parameters
    ----------
    group : int or None
        k; None protects all units together (k = n).
    """

    requires: ClassVar = (Sensitivity,)
    accepts: ClassVar = Epsilon
    group: int | None = None

    def calibrate(self, sensitivity: Sensitivity, *, budget: Epsilon) -> GeometricRelease:
        """Scale independent geometric noise to the group's L1 sensitivity."""
        if sensitivity.l1 != round(sensitivity.l1):
            raise NotApplicableError(
                f"geometric noise needs whole-number answers, the sensitivity is {sensitivity.l1:g}"
            )
        group = group_size(self.group, sensitivity)
        scale = laplace_scale(group * sensitivity.l1, budget.epsilon)
        return GeometricRelease(
            noise=GeometricNoise(scales=np.full(sensitivity.dimension, scale)),
            claim=GroupClaim(sensitivity=sensitivity, group=group, notion=Approximate(delta=0.0)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGaussian:
    """Release ``F + N(0, (k S_2 / d)^2 I)``: (epsilon, delta)-DP for groups of k.

    Parameters
    ----------
    group : int or None
        k; None protects all units together (k = n).
    calibration : {"classical", "analytic"}
        d = epsilon / c (proved for epsilon <= 1), or exact for every epsilon.

    Examples
    --------
    >>> sensitivity = Sensitivity(l1=2.0, l2=1.5, unit="record", size=100, dimension=3)
    >>> mechanism = GroupGaussian(group=10).calibrate(
    ...     sensitivity, budget=EpsilonDelta(epsilon=1.0, delta=0.001)
    ... )
    >>> mechanism.variances().round(3).tolist()
    [3208.904, 3208.904, 3208.904]
    """

    requires: ClassVar = (Sensitivity,)
    accepts: ClassVar = EpsilonDelta
    group: int | None = None
    calibration: CalibrationName = "classical"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)

    def calibrate(self, sensitivity: Sensitivity, *, budget: EpsilonDelta) -> AdditiveNoise:
        """Scale isotropic Gaussian noise to the group's L2 sensitivity."""
        group = group_size(self.group, sensitivity)
        deviation = group * sensitivity.l2 / target_distance(budget, self.calibration)
        covariance = deviation**2 * np.eye(sensitivity.dimension)
        return AdditiveNoise(
            noise=GaussianNoise(covariance=covariance, calibration=self.calibration),
            claim=GroupClaim(
                sensitivity=sensitivity,
                group=group,
                notion=Approximate(delta=budget.delta),
                conditions=calibration_conditions(self.calibration),
            ),
        )


def replaced_units(unit: str, group: int, conditions: tuple[str, ...] = ()) -> Assumptions:
    """Return what differential privacy assumes for databases that differ in `group` units."""
    return Assumptions(
        secrets=Secrets.DATABASES,
        neighbours=Neighbours(relation="replace", unit=unit, size=group),
        priors=Priors.ANY,
        public=(Public.SIZE,),
        conditions=conditions,
    )


def group_size(group: int | None, sensitivity: Sensitivity) -> int:
    """Return the group size; None means all units. Refuse more units than there are."""
    if group is None:
        return sensitivity.size
    if whole("group", group) > sensitivity.size:
        raise NotApplicableError(f"a group of {group} exceeds the {sensitivity.size} units")
    return group


def group_epsilon(
    noise: NoiseLaw, sensitivity: Sensitivity, group: int, delta: float, k: int
) -> float:
    """Return the epsilon of k releases for the worst move of a group, from the noise itself.

    The worst L1 move is along one axis, that of the smallest Laplace scale; the worst L2 move is
    along the direction in which Gaussian noise varies least.
    """
    if isinstance(noise, GaussianNoise):
        worst = sensitivity.l2 * np.linalg.eigh(noise.covariance)[1][:, 0]
    else:
        worst = sensitivity.l1 * np.eye(sensitivity.dimension)[np.diag(noise.covariance).argmin()]
    return noise.shift_epsilon(group * worst[None], delta, k)
