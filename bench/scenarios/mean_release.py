"""Sums over records, with the records themselves and receivers who have priors on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from bench.scenarios.base import K
from bench.scenarios.numeric_table import numeric_table
from bench.scenarios.property_subsets import PropertySubsets
from mechanisms.check import FloatArray, IntArray
from mechanisms.deterministic.gaussian_receiver import GaussianReceiver, Shrinkage
from mechanisms.deterministic.statistic_receivers import StatisticReceivers


@dataclass(frozen=True, kw_only=True)
class MeanRelease(PropertySubsets):
    """The property scenario whose worlds hold their records, and whose receivers are Gaussian.

    Means and counts of `size` records are linear statistics of them. Receivers: one fitted to the
    modelling records, and informed ones, off about a single entry by each of `surprises` and as
    sure of the others as each of `spreads` says.

    Parameters
    ----------
    surprises : sequence of float in (0, inf)
        r1 of informed receivers.
    spreads : sequence of float in (1, inf)
        r2 of informed receivers.
    shrinkage : {"ledoit_wolf", "oas"} or float in [0, 1]
        Of the fitted receiver's covariance.
    covariance : list of lists of float, optional
        Of one record's statistics, in place of the fitted one: positive semi-definite.

    Notes
    -----
    The other parameters are those of `PropertySubsets`. Drawn from the model, worlds have no
    records.

    References
    ----------
    Bon, Bailie, Rousseau and Robert (2026), Persuasive Privacy, section 5.1.
    """

    surprises: Sequence[float] = (0.5, 2.0, 8.0)
    spreads: Sequence[float] = (1.1, 2.0, 8.0)
    shrinkage: Shrinkage = "ledoit_wolf"
    covariance: Sequence[Sequence[float]] | None = None

    @cached_property
    def _receivers(self) -> StatisticReceivers:
        rows = np.concatenate(self._members["model"])
        fitted = GaussianReceiver.fitted(self._features[rows], shrinkage=self.shrinkage)
        if self.covariance is not None:
            given = np.asarray(self.covariance, dtype=np.float64)
            fitted = GaussianReceiver(mean=fitted.mean, covariance=given)
        return StatisticReceivers(
            weights=np.diag(self._weights),
            size=self.size,
            mean=fitted.mean,
            covariance=fitted.covariance,
            informed=tuple((r1, r2) for r1 in self.surprises for r2 in self.spreads),
        )

    def check(self) -> None:
        """Load the records, and fit the receivers."""
        PropertySubsets.check(self)
        self._receivers  # noqa: B018  (computed once, kept)

    def knowledge(self, kind: type[K]) -> K:
        """Offer the receivers too."""
        if isinstance(self._receivers, kind):
            return self._receivers
        return PropertySubsets.knowledge(self, kind)

    def _database(self, records: IntArray) -> FloatArray | None:
        """Return the features of the records, shape (n, size, statistics)."""
        return None if self.worlds_from_model else self._features[records]


def mean_release_table(
    *,
    surprises: Sequence[float] = MeanRelease.surprises,
    spreads: Sequence[float] = MeanRelease.spreads,
    shrinkage: Shrinkage = MeanRelease.shrinkage,
    covariance: Sequence[Sequence[float]] | None = None,
    path: str | None,
    column: str | None,
    value: Any,  # noqa: ANN401
    means: Sequence[str] = (),
    counts: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    size: int = 100,
    gap: float = 0.1,
    shares: Sequence[float] = (0.25, 0.25),
    separator: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    names: Sequence[str] | None = None,
    missing: Sequence[str] = ("", "?"),
    seed: int = 0,
) -> MeanRelease:
    """Build the scenario on any CSV, TSV or parquet file.

    Parameters
    ----------
    surprises, spreads, shrinkage, covariance
        As in `MeanRelease`.
    path, column, value, means, counts, bounds, size, gap, shares, separator, encoding, decimal, \
    names, missing, seed
        As in `bench.scenarios.numeric_table.numeric_table`.
    """
    plain = numeric_table(
        path=path, column=column, value=value, means=means, counts=counts, bounds=bounds,
        size=size, gap=gap, shares=shares, separator=separator, encoding=encoding, decimal=decimal,
        names=names, missing=missing, seed=seed,
    )  # fmt: skip
    shared = {f.name: getattr(plain, f.name) for f in fields(PropertySubsets)}
    return MeanRelease(
        **shared, surprises=surprises, spreads=spreads, shrinkage=shrinkage, covariance=covariance
    )
