"""Typed facts that scenarios offer to calibrations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from mechanisms.base import Knowledge, NotApplicableError
from mechanisms.check import FloatArray, finite, positive, whole
from mechanisms.laws.answer import AnswerLaw, GaussianLaw
from mechanisms.laws.closeness import w_delta_closeness
from mechanisms.laws.finite import FiniteLaw

Pairs = tuple[tuple[int, int], ...]
ROUNDING = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianAnswers(Knowledge):
    """Answers modelled as Gaussian under every secret, equal covariance inside each pair.

    Parameters
    ----------
    means : array of shape (n_secrets, m)
        Expected answers.
    covariances : array of shape (n_secrets, m, m)
        Each secret's own covariance; a pair shares the average of its two.
    pairs : tuple of (i, j)
        Indices of the secrets to be kept indistinguishable.
    steps : array of shape (m,), or None
        Step of the lattice that each coordinate of real answers lies on, which the Gaussian does
        not know of: 1 for a count, 1/n for a mean of n whole numbers, 0 for none. None: unknown.

    References
    ----------
    Chen and Ohrimenko (2023), section 4.3.
    """

    means: FloatArray
    covariances: FloatArray
    pairs: Pairs
    steps: FloatArray | None = None

    def __post_init__(self) -> None:
        means, covariances = finite("means", self.means), finite("covariances", self.covariances)
        if means.ndim != 2 or covariances.shape != (*means.shape, means.shape[1]):
            raise ValueError(
                "means must have shape (n, m) and covariances (n, m, m), "
                f"got {means.shape} and {covariances.shape}."
            )
        for mean, covariance in zip(means, covariances, strict=True):
            GaussianLaw(mean=mean, covariance=covariance)
        if not self.pairs or not set(chain(*self.pairs)) <= set(range(len(means))):
            raise ValueError(f"pairs must index the {len(means)} means, got pairs={self.pairs!r}.")
        if self.steps is not None:
            steps = finite("steps", self.steps)
            if steps.shape != means.shape[1:] or (steps < 0).any():
                raise ValueError(
                    f"steps must be {means.shape[1]} numbers of at least 0, got {self.steps!r}."
                )
            object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", covariances)

    def differences(self) -> FloatArray:
        """Return the mean differences, shape (n_pairs, m); 0 where they are rounding errors."""
        first, second = (self.means[[pair[side] for pair in self.pairs]] for side in (0, 1))
        differences = first - second
        size = np.maximum(np.abs(first), np.abs(second))
        return np.where(np.abs(differences) > ROUNDING * size, differences, 0.0)

    def distance(self, norm: int) -> float:
        """Return Delta_E: the largest L1 or L2 norm of a pair's mean difference."""
        return float(np.linalg.norm(self.differences(), ord=norm, axis=1).max())

    def shared_covariances(self) -> FloatArray:
        """Return the average covariance of each pair, shape (n_pairs, m, m)."""
        return np.stack([(self.covariances[i] + self.covariances[j]) / 2 for i, j in self.pairs])

    def common_direction(self) -> FloatArray:
        """Return the unit vector that all mean differences are parallel to.

        Raises
        ------
        NotApplicableError
            If they are not parallel (relative tolerance 1e-8).
        """
        differences = self.differences()
        norms = np.linalg.norm(differences, axis=1)
        if not norms.max() > 0:
            raise NotApplicableError("the pairs have equal means: there is no direction to noise")
        longest = differences[norms.argmax()] / norms.max()
        across = differences - np.outer(differences @ longest, longest)
        if np.linalg.norm(across, axis=1).max() > 1e-8 * norms.max():
            raise NotApplicableError("the pairs' mean differences are not parallel")
        return longest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScalarAnswers(Knowledge):
    """The law of a scalar answer under every secret, as atoms and weights.

    An adversary's several priors are further laws with pairs of their own: the worst pair counts.

    Parameters
    ----------
    laws : tuple of FiniteLaw, or None for a secret that is absent from the data
        On the line, in units of the query.
    pairs : tuple of (i, j)
        Indices of the laws to be kept indistinguishable; a pair with an absent side is skipped.

    References
    ----------
    Pierquin, Bellet, Tommasi, Boussard (2024), Renyi Pufferfish Privacy.
    """

    laws: tuple[FiniteLaw | None, ...]
    pairs: Pairs

    def __post_init__(self) -> None:
        if not self.pairs or not set(chain(*self.pairs)) <= set(range(len(self.laws))):
            raise ValueError(
                f"pairs must index the {len(self.laws)} laws, got pairs={self.pairs!r}."
            )
        if any(law is not None and law.atoms.ndim != 1 for law in self.laws):
            raise ValueError("laws must be on the line, got points of several dimensions.")
        if not self.law_pairs():
            raise ValueError("pairs must have both sides in the data at least once, got none.")

    def law_pairs(self) -> list[tuple[FiniteLaw, FiniteLaw]]:
        """Return the laws of every pair, each unordered pair once, absent sides skipped."""
        found = []
        for i, j in sorted({(min(pair), max(pair)) for pair in self.pairs}):
            first, second = self.laws[i], self.laws[j]
            if first is not None and second is not None:
                found.append((first, second))
        return found

    def skipped(self) -> tuple[str, ...]:
        """Return a note for every pair with an absent side."""
        return tuple(
            f"pair {pair} is skipped: one side is absent from the data"
            for pair in self.pairs
            if any(self.laws[index] is None for index in pair)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteAnswers(Knowledge):
    """Answers with finitely many values under every secret.

    Parameters
    ----------
    laws : tuple of FiniteLaw
        One a secret; atoms of shape (a,) or (a, m), in units of the query.
    pairs : tuple of (i, j)
        Indices of the secrets to be kept indistinguishable.
    """

    laws: tuple[FiniteLaw, ...]
    pairs: Pairs

    def __post_init__(self) -> None:
        shapes = {law.atoms.shape[1:] for law in self.laws}
        if len(shapes) != 1 or len(next(iter(shapes))) > 1:
            raise ValueError(f"laws must be on one space of numbers or vectors, got {shapes}.")
        indices = {index for pair in self.pairs for index in pair}
        if not indices or not indices <= set(range(len(self.laws))):
            raise ValueError(f"pairs must index the {len(self.laws)} laws, got {self.pairs!r}.")

    @property
    def dimension(self) -> int:
        """Number of coordinates of the answer."""
        return int(np.prod(self.laws[0].atoms.shape[1:]))

    def distance(self, delta: float) -> float:
        """Return the largest W over the pairs for which a pair is (W, delta)-close, in L1."""
        unordered = {tuple(sorted(pair)) for pair in self.pairs}
        points = [law.on_line if self.dimension == 1 else law for law in self.laws]
        return max(w_delta_closeness(points[i], points[j], delta=delta) for i, j in unordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity(Knowledge):
    """How far one unit can move the answer, and how many units there are.

    Parameters
    ----------
    l1, l2 : float in (0, inf)
        Largest L1 and L2 change of the answer, in units of the query, when one unit is replaced.
    unit : str
        What is replaced, such as "record"; the number of units is public.
    size : int
        Number of units in the database.
    dimension : int
        Number of coordinates of the answer.
    """

    l1: float
    l2: float
    unit: str
    size: int
    dimension: int

    def __post_init__(self) -> None:
        positive("l1", self.l1, infinite=False)
        positive("l2", self.l2, infinite=False)
        whole("size", self.size)
        whole("dimension", self.dimension)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerLaws(Knowledge):
    """The laws under every secret of what a mechanism sees: all that an exact number needs.

    Parameters
    ----------
    answers : tuple of AnswerLaw, or None
        Of the answer, one a secret; None where it is not known.
    databases : tuple of AnswerLaw, or None
        Of the records.
    pairs : tuple of (i, j)
        Indices of the secrets to be kept indistinguishable.
    worlds_from_model : bool
        Whether worlds are drawn from these laws; else laws are a model of records.
    """

    answers: tuple[AnswerLaw, ...] | None
    databases: tuple[AnswerLaw, ...] | None = None
    pairs: Pairs
    worlds_from_model: bool
