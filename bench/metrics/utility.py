"""Metrics of releases against exact answers; several releases are averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from bench.core.intervals import exact, mean
from bench.metrics.base import (
    Labelled,
    Names,
    NotMeasurableError,
    Released,
    leaves_nothing_to_chance,
)
from mechanisms.base import Mechanism
from mechanisms.check import FloatArray, one_of


@runtime_checkable
class HasVariances(Protocol):
    """A mechanism that knows the variance of its noise."""

    def variances(self) -> FloatArray:
        """Return the noise variance of each coordinate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteError:
    """Mean absolute error of each statistic, in its own units."""

    side: ClassVar[str] = "utility"
    name: str = "abs_err"

    def estimate(self, games: list[Released], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate one mean a statistic."""
        del mechanism
        return by_statistic(games, names, lambda error, _: np.abs(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeError:
    """Mean of |error| / |answer| of each statistic, over worlds whose answer is not 0."""

    side: ClassVar[str] = "utility"
    name: str = "rel_err"

    def estimate(self, games: list[Released], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate one mean a statistic; a statistic that is always 0 is left out."""
        del mechanism

        def relative(error: FloatArray, answer: FloatArray) -> FloatArray:
            return np.abs(error[answer != 0]) / np.abs(answer[answer != 0])

        return by_statistic(games, names, relative)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormError:
    """Mean L1 or L2 norm of the error over all statistics together.

    Parameters
    ----------
    norm : {1, 2}
    """

    side: ClassVar[str] = "utility"
    norm: int
    name: str

    def __post_init__(self) -> None:
        one_of("norm", self.norm, (1, 2))

    def estimate(self, games: list[Released], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate one mean."""
        del names
        sizes = [np.linalg.norm(errors(g)[0], ord=self.norm, axis=1) for g in games]
        if leaves_nothing_to_chance(games, mechanism):
            return {"": exact(float(sizes[0][0]))}
        return {"": mean(sizes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseVariance:
    """Variance of the noise of one release, all statistics together: the trace.

    Exact where the mechanism knows it, otherwise the mean squared error of the first release.
    """

    side: ClassVar[str] = "utility"
    name: str = "noise_var"

    def estimate(self, games: list[Released], names: Names, mechanism: Mechanism) -> Labelled:
        """Return the trace."""
        del names
        if isinstance(mechanism, HasVariances):
            return {"": exact(float(mechanism.variances().sum()))}
        return {"": mean([(errors(g)[0] ** 2).sum(axis=1) for g in first_releases(games)])}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticVariance:
    """Variance of the noise of one release, statistic by statistic.

    Exact where the mechanism knows it, otherwise the mean squared error of the first release.
    """

    side: ClassVar[str] = "utility"
    name: str = "noise_var_each"

    def estimate(self, games: list[Released], names: Names, mechanism: Mechanism) -> Labelled:
        """Return one variance a statistic."""
        if isinstance(mechanism, HasVariances):
            labelled = zip(names.statistics, mechanism.variances(), strict=True)
            return {s: exact(float(v)) for s, v in labelled}
        return by_statistic(first_releases(games), names, lambda error, _: error**2)


def first_releases(games: list[Released]) -> list[Released]:
    """Return the games with the first of several releases alone."""
    return [Released(answers=g.answers, releases=g.releases[:, :1]) for g in games]


def errors(game: Released) -> tuple[FloatArray, FloatArray]:
    """Return (error, answer), each of shape (n, p), of the average over the releases.

    Raises
    ------
    NotMeasurableError
        If releases and answers differ in shape (a ranking, say).
    """
    if game.releases.shape[2:] != game.answers.shape[1:]:
        raise NotMeasurableError(
            f"releases of shape {game.releases.shape[2:]} have no error against answers "
            f"of shape {game.answers.shape[1:]}"
        )
    answers = np.asarray(game.answers, dtype=np.float64).reshape(len(game.answers), -1)
    average = np.asarray(game.releases, dtype=np.float64).mean(axis=1)
    return average.reshape(answers.shape) - answers, answers


def by_statistic(
    games: list[Released],
    names: Names,
    value: Callable[[FloatArray, FloatArray], FloatArray],
) -> Labelled:
    """Estimate the mean of ``value(error, answer)`` for each statistic."""
    both = [errors(g) for g in games]
    result = {}
    for statistic, j in zip(names.statistics, range(both[0][0].shape[1]), strict=True):
        values = [value(error[:, j], answer[:, j]) for error, answer in both]
        values = [v for v in values if v.size]
        if values:
            result[statistic] = mean(values)
    return result
