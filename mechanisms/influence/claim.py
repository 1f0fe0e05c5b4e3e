"""From per-entry privacy to Pufferfish privacy: what noise guarantees under correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from mechanisms.base import NotApplicableError
from mechanisms.group_privacy import group_epsilon, replaced_units
from mechanisms.influence.knowledge import ChainKnowledge, CurveKnowledge
from mechanisms.influence.markov_quilt import approximate_composed_epsilon, composed_epsilon
from mechanisms.influence.mixing import smallest_stationary_mass, spectral_gap
from mechanisms.knowledge import Sensitivity
from mechanisms.noise.additive import NoiseLaw
from mechanisms.privacy.assumptions import Assumptions, Condition, Priors, Public
from mechanisms.privacy.guarantee import Guarantee, NoClaim
from mechanisms.privacy.indistinguishability import PURE
from mechanisms.privacy.other_secrets import through_curve

Method = Literal["exact", "approximate"]


class EntryClaim(Protocol):
    """What per-entry privacy says about the secrets of correlated entries."""

    def of_entries(self, per_entry_epsilon: float) -> Guarantee | NoClaim:
        """Return what releases guarantee whose per-entry epsilons sum to this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InfluenceClaim:
    """Per-entry privacy translated by an influence curve, which is paid once.

    Parameters
    ----------
    knowledge : CurveKnowledge
    sensitivity : Sensitivity
        Of the query, for one entry.
    conditions : tuple of Condition
    notes : tuple of str

    References
    ----------
    Bai, He, Gu, Kifer, Maeng (2026), Theorem 3, applied to all releases together.
    """

    knowledge: CurveKnowledge
    sensitivity: Sensitivity
    conditions: tuple[Condition, ...] = ()
    notes: tuple[str, ...] = ()

    def of_entries(self, per_entry_epsilon: float) -> Guarantee:
        """Return ``min over b of a(b) + b * per_entry_epsilon``."""
        curve = self.knowledge.curve
        entry = Guarantee(
            notion=PURE,
            bound=per_entry_epsilon,
            theorem="per-entry differential privacy",
            assumptions=replaced_units("entry", 1, (*self.knowledge.conditions, *self.conditions)),
            notes=(f"curve: {curve.direction}", *self.notes),
        )
        found = through_curve(entry, curve, public=(self.knowledge.public, Public.PRIORS))
        assert isinstance(found, Guarantee)
        return found

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee:
        """Translate the per-entry epsilon of additive noise."""
        return self.of_entries(entry_epsilon(noise, self.sensitivity, n_releases))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuiltClaim:
    """Per-entry privacy translated by Markov quilts, one a node for all releases.

    Parameters
    ----------
    knowledge : ChainKnowledge
    sensitivity : Sensitivity
        Of the query, for one entry.
    method : {"exact", "approximate"}
        Max-influences of the chains, or bounds from their gap and smallest stationary mass.
    conditions : tuple of Condition
    notes : tuple of str

    References
    ----------
    Song, Wang, Chaudhuri (2017), Theorem 4.4.
    """

    knowledge: ChainKnowledge
    sensitivity: Sensitivity
    method: Method = "exact"
    conditions: tuple[Condition, ...] = ()
    notes: tuple[str, ...] = ()

    def of_entries(self, per_entry_epsilon: float) -> Guarantee:
        """Return ``max over nodes of min over quilts of e + card * per_entry_epsilon``."""
        known, length = self.knowledge, max(self.knowledge.lengths)
        if self.method == "exact":
            epsilon = composed_epsilon(
                known.chains,
                length,
                per_entry_epsilon,
                uncertainty_penalty=known.uncertainty_penalty,
                database=known.database,
            )
        else:
            mass, gap = mixing(known)
            epsilon = approximate_composed_epsilon(
                mass,
                gap,
                length,
                per_entry_epsilon,
                uncertainty_penalty=known.uncertainty_penalty,
                database=known.database,
            )
        return Guarantee(
            notion=PURE,
            bound=epsilon,
            theorem="Song, Wang, Chaudhuri (2017), Theorem 4.4",
            assumptions=Assumptions(
                priors=Priors.CHAINS,
                public=(known.public, Public.PRIORS),
                conditions=(*known.conditions, *self.conditions),
            ),
            notes=(f"{len(known.chains)} chain(s) in Theta", *self.notes),
        )

    def guarantee(self, noise: NoiseLaw, n_releases: int) -> Guarantee:
        """Translate the per-entry epsilon of additive noise."""
        return self.of_entries(entry_epsilon(noise, self.sensitivity, n_releases))


def entry_epsilon(noise: NoiseLaw, sensitivity: Sensitivity, n_releases: int) -> float:
    """Return the per-entry epsilon of all releases together, from the noise itself."""
    if sensitivity.unit != "entry":
        raise NotApplicableError(
            f"influence is about entries; the query's sensitivity is for one {sensitivity.unit}"
        )
    return group_epsilon(noise, sensitivity, 1, 0.0, n_releases)


def mixing(known: ChainKnowledge) -> tuple[float, float]:
    """Return the smallest stationary mass and the smallest spectral gap over Theta."""
    return (
        min(smallest_stationary_mass(chain.transition) for chain in known.chains),
        min(spectral_gap(chain.transition) for chain in known.chains),
    )
