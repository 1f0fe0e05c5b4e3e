"""The Bayes-optimal attacker under the scenario's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from attacks.base import Target, Transcript, UnsupportedMechanismError, Yields
from mechanisms.base import HasLogDensity, HasMarginalDensity, Mechanism
from mechanisms.check import Array, FloatArray, whole
from mechanisms.laws.answer import AnswerLaw
from mechanisms.laws.finite import FiniteLaw
from mechanisms.privacy.bracket import NotComputableError

CHUNK = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodRatio:
    """Score each secret by the log density of the releases under it.

    The density is integrated over the answer's law: in closed form where the mechanism offers
    it, by summing over a finite law's atoms, else by averaging over `n_draws` drawn answers (then
    it is close to optimal only). By Neyman and Pearson no test is better under the model.

    Parameters
    ----------
    n_draws : int
        Answers drawn per secret where neither closed form nor finite law is at hand.
    """

    yields: ClassVar[Yields] = "scores"
    trained: ClassVar[bool] = False
    n_draws: int = 2000

    def __post_init__(self) -> None:
        whole("n_draws", self.n_draws)

    @property
    def adaptive(self) -> bool:
        """Whether the fitted attacker depends on the mechanism."""
        return True

    def fit(self, shadow: Transcript, target: Target, rng: np.random.Generator) -> DensityAttacker:
        """Look up the densities; nothing is learnt from the shadow worlds."""
        if target.laws is None:
            raise UnsupportedMechanismError("the scenario offers no answer law")
        if not isinstance(target.mechanism, HasLogDensity | HasMarginalDensity):
            raise UnsupportedMechanismError("the mechanism offers no release density")
        finite = tuple(
            law
            if isinstance(law, FiniteLaw)
            else FiniteLaw(
                atoms=law.sample(self.n_draws, rng).astype(np.float64),
                weights=np.full(self.n_draws, 1 / self.n_draws),
            )
            for law in target.laws
        )
        del shadow
        return DensityAttacker(
            mechanism=target.mechanism, laws=target.laws, finite=finite, new_data=target.new_data
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DensityAttacker:
    """The exact release densities as an attacker."""

    mechanism: Mechanism | HasLogDensity
    laws: tuple[AnswerLaw, ...]
    finite: tuple[FiniteLaw, ...]
    new_data: bool = False

    def score(self, releases: Array) -> FloatArray:
        """Return log densities, one column a secret; a release impossible under all scores 0."""
        if self.new_data and releases.shape[1] > 1:  # independent given the secret
            return sum(
                (self.score(releases[:, j, None]) for j in range(releases.shape[1])),
                np.zeros((len(releases), len(self.laws))),
            )
        columns = self._closed_form(releases)
        if columns is None:
            columns = self._sum_over_atoms(releases)
        scores = np.stack(columns, axis=1)
        if np.isnan(scores).any() and np.isnan(np.asarray(releases, dtype=np.float64)).any():
            raise UnsupportedMechanismError("releases with missing entries have no density here")
        impossible = np.isneginf(scores).all(axis=1)
        if impossible.all():
            raise UnsupportedMechanismError("no release has a density under the model's laws")
        scores[impossible] = 0.0
        return scores

    def _closed_form(self, releases: Array) -> list[FloatArray] | None:
        """Return marginal densities, or None unless there is one for every secret.

        They may leave out a factor common to all laws, so they are never mixed with sums.
        """
        if not isinstance(self.mechanism, HasMarginalDensity):
            return None
        try:
            return [self.mechanism.marginal_log_density(releases, law) for law in self.laws]
        except NotComputableError:
            return None

    def _sum_over_atoms(self, releases: Array) -> list[FloatArray]:
        if not isinstance(self.mechanism, HasLogDensity):
            raise UnsupportedMechanismError("the mechanism offers no density for this answer law")
        try:
            return [mixture_log_density(self.mechanism, releases, law) for law in self.finite]
        except NotComputableError as error:
            raise UnsupportedMechanismError(str(error)) from error


def mixture_log_density(mechanism: HasLogDensity, releases: Array, law: FiniteLaw) -> FloatArray:
    """Log density of ``(n, k, *shape)`` releases of one answer with a finite law, shape (n,)."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(law.weights)
    step = max(1, CHUNK // max(1, law.atoms.size))
    parts = []
    for start in range(0, len(releases), step):
        part = releases[start : start + step]
        logs = sum(
            mechanism.log_density(part[:, j, None], law.atoms[None]) for j in range(part.shape[1])
        )
        parts.append(logsumexp(logs + log_weights, axis=1))
    return np.concatenate(parts)
