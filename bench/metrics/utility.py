"""Metrics of releases against exact answers; several releases are averaged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from attacks.base import Transcript
from bench.core.intervals import Estimate, exact, mean
from bench.metrics.base import (
    Blocks,
    Labelled,
    Names,
    Needs,
    NotMeasurableError,
    leaves_nothing_to_chance,
    per_world,
)
from mechanisms.base import Mechanism
from mechanisms.check import FloatArray, one_of
from mechanisms.deterministic.cell_suppression import CellSuppression


@runtime_checkable
class HasVariances(Protocol):
    """A mechanism that knows the variance of its noise."""

    def variances(self) -> FloatArray:
        """Return the noise variance of each coordinate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteError:
    """Mean absolute error of each statistic, in its own units."""

    needs: ClassVar[Needs] = "releases"
    name: str = "abs_err"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate one mean a statistic."""
        refuse_marks(mechanism)
        return by_statistic(games, names, mechanism, lambda error, _: np.abs(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeError:
    """Mean of |error| / |answer| of each statistic, over worlds whose answer is not 0."""

    needs: ClassVar[Needs] = "releases"
    name: str = "rel_err"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate one mean a statistic; a statistic that is always 0 is left out."""
        refuse_marks(mechanism)

        def relative(error: FloatArray, answer: FloatArray) -> FloatArray:
            return np.abs(error[answer != 0]) / np.abs(answer[answer != 0])

        return by_statistic(games, names, mechanism, relative)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormError:
    """Mean L1 or L2 norm of the error over all statistics together.

    Parameters
    ----------
    norm : {1, 2}
    """

    needs: ClassVar[Needs] = "releases"
    norm: int
    name: str

    def __post_init__(self) -> None:
        one_of("norm", self.norm, (1, 2))

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Estimate one mean."""
        del names
        refuse_marks(mechanism)

        def size(block: Transcript) -> FloatArray:
            return np.linalg.norm(errors(block)[0], ord=self.norm, axis=1)

        return {"": one_mean(games, mechanism, size)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseVariance:
    """Variance of the noise of one release, all statistics together: the trace.

    Exact where the mechanism knows it, otherwise the mean squared error of the first release.
    """

    needs: ClassVar[Needs] = "releases"
    name: str = "noise_var"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Return the trace."""
        del names
        refuse_marks(mechanism)
        if isinstance(mechanism, HasVariances):
            return {"": exact(float(mechanism.variances().sum()))}

        def square(block: Transcript) -> FloatArray:
            return (first_errors(block)[0] ** 2).sum(axis=1)

        return {"": one_mean(games, mechanism, square)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticVariance:
    """Variance of the noise of one release, statistic by statistic.

    Exact where the mechanism knows it, otherwise the mean squared error of the first release.
    """

    needs: ClassVar[Needs] = "releases"
    name: str = "noise_var_each"

    def estimate(self, games: Sequence[Blocks], names: Names, mechanism: Mechanism) -> Labelled:
        """Return one variance a statistic."""
        refuse_marks(mechanism)
        if isinstance(mechanism, HasVariances):
            labelled = zip(names.statistics, mechanism.variances(), strict=True)
            return {s: exact(float(v)) for s, v in labelled}
        return by_statistic(games, names, mechanism, lambda error, _: error**2, first_errors)


def refuse_marks(mechanism: Mechanism) -> None:
    """Refuse releases in which marks stand for numbers: a mark is no count below 0."""
    if isinstance(mechanism, CellSuppression):
        raise NotMeasurableError("suppressed cells have no error; `CellError` reads them as 0")


def first_errors(block: Transcript) -> tuple[FloatArray, FloatArray]:
    """Return `errors` of the first of several releases alone."""
    return errors(block.prefix(1))


def errors(block: Transcript) -> tuple[FloatArray, FloatArray]:
    """Return (error, answer), each of shape (n, p), of the average over the releases.

    Raises
    ------
    NotMeasurableError
        If releases and answers differ in shape (a ranking, say), or entries are missing.
    """
    if block.releases.shape[2:] != block.answers.shape[1:]:
        raise NotMeasurableError(
            f"releases of shape {block.releases.shape[2:]} have no error against answers "
            f"of shape {block.answers.shape[1:]}"
        )
    answers = np.asarray(block.answers, dtype=np.float64).reshape(len(block), -1)
    average = np.asarray(block.releases, dtype=np.float64).mean(axis=1)
    if np.isnan(average).any():
        raise NotMeasurableError("missing entries of a release (NaN) have no error")
    return average.reshape(answers.shape) - answers, answers


def one_mean(
    games: Sequence[Blocks], mechanism: Mechanism, value: Callable[[Transcript], FloatArray]
) -> Estimate:
    """Estimate the mean of a value a world, or return it where nothing is random."""
    found = [per_world(game, value) for game in games]
    if leaves_nothing_to_chance(games, mechanism):
        return exact(float(found[0][0]))
    return mean(found)


def by_statistic(
    games: Sequence[Blocks],
    names: Names,
    mechanism: Mechanism,
    value: Callable[[FloatArray, FloatArray], FloatArray],
    read: Callable[[Transcript], tuple[FloatArray, FloatArray]] = errors,
) -> Labelled:
    """Estimate the mean of ``value(error, answer)`` for each statistic."""
    both = [per_world(game, lambda block: np.stack(read(block), axis=1)) for game in games]
    known = leaves_nothing_to_chance(games, mechanism)
    result = {}
    for statistic, j in zip(names.statistics, range(both[0].shape[2]), strict=True):
        values = [value(found[:, 0, j], found[:, 1, j]) for found in both]
        values = [v for v in values if v.size]
        if values:
            result[statistic] = exact(float(values[0][0])) if known else mean(values)
    return result
