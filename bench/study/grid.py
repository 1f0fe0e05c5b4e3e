"""The grid of an experiment: budgets, scenario parameters and numbers of releases."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from bench.config.build import ConfigError, unknown
from bench.core.cell import RESERVED, ROW_COLUMNS, canonical
from mechanisms.check import whole
from mechanisms.deterministic.calibrations import (
    ReceiverStrength,
    RoundingBase,
    RoundingRule,
    SuppressionRule,
)
from mechanisms.privacy.budget import Budget, Epsilon, EpsilonDelta, RenyiEpsilon

RELEASES = "n_releases"
OWN_BUDGETS = (
    Epsilon, EpsilonDelta, RenyiEpsilon, ReceiverStrength, SuppressionRule, RoundingRule,
    RoundingBase,
)  # fmt: skip
LABELLED = ("scenario", "mechanism", "target", "rank")  # columns that labels and ranks fill


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The axes of a cross, each a list of values.

    Parameters
    ----------
    budget, scenario : mapping of name to values
    n_releases : list of int
    """

    budget: Mapping[str, Sequence[Any]]
    scenario: Mapping[str, Sequence[Any]]
    n_releases: Sequence[int]


def sort_axes(
    grid: Mapping[str, Any],
    scenario_parameters: Sequence[str],
    accepted: Iterable[type[Budget]] = (),
) -> Grid:
    """Tell budget axes, scenario axes and ``n_releases`` apart; refuse any other name.

    Parameters
    ----------
    grid : mapping of axis to values
    scenario_parameters : sequence of str
    accepted : iterable of types
        The budgets that the chosen mechanisms accept: their parameters are axes. Those of the
        package's own budgets are allowed in any case, so that another selection of mechanisms
        needs no other grid.
    """
    parameters = [f for kind in (*OWN_BUDGETS, *accepted) for f in fields(kind)]
    budget_names = {f.name for f in parameters}
    counts = {f.name for f in parameters if f.type in (int, "int")}
    budget, scenario = {}, {}
    releases: Sequence[int] = [1]
    for name, values in grid.items():
        listed = axis_values(name, values)
        if name == RELEASES:
            releases = [whole("grid.n_releases", v) for v in listed]
        elif name in budget_names:
            budget[name] = listed if name in counts else [as_float(v) for v in listed]
        elif name in scenario_parameters:
            scenario[name] = listed
        else:
            allowed = {RELEASES, *budget_names, *scenario_parameters}
            raise ConfigError(f"grid: {unknown('axis', name, allowed)}")
    return Grid(budget=budget, scenario=scenario, n_releases=releases)


def axis_values(name: str, values: object) -> list[Any]:
    """Return the values of an axis; refuse none, and a name that the table of results has."""
    listed = list(values) if isinstance(values, list | tuple) else [values]
    if not listed:
        raise ConfigError(f"grid.{name} must hold a value or more, got {name}=[].")
    if name in (*RESERVED, *ROW_COLUMNS, *LABELLED):
        raise ConfigError(
            f"grid.{name}: the table of results has a column of this name; set it for the whole "
            f"experiment instead, or pass several scenarios."
        )
    return listed


def as_float(value: object) -> object:
    """Return a whole number as a float, so that 1 and 1.0 are one budget; others unchanged."""
    if isinstance(value, list | tuple):
        return [as_float(v) for v in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def coordinate(value: object) -> object:
    """Return a value of an axis as tables hold it: a list or mapping becomes its text.

    Examples
    --------
    >>> coordinate(0.5), coordinate([0.5, 1.0])
    (0.5, '[0.5,1.0]')
    """
    return canonical(value) if isinstance(value, list | tuple | Mapping) else value


def budget_points(
    axes: Mapping[str, Sequence[Any]], accepts: type[Budget]
) -> tuple[list[dict[str, Any]], str]:
    """Return the distinct budget points of a mechanism, and what is missing for it, if anything.

    A mechanism sees the axes that its budget has: a Laplace mechanism has one cell an epsilon,
    however many deltas there are.
    """
    required = [
        f.name for f in fields(accepts) if f.default is MISSING and f.default_factory is MISSING
    ]
    missing = [name for name in required if name not in axes]
    names = [f.name for f in fields(accepts) if f.name in axes]
    if missing:
        given = ", ".join(axes) or "nothing"
        return [{}], f"its budget needs {', '.join(missing)}; the grid gives {given}"
    points = product({name: axes[name] for name in names})
    return [p for i, p in enumerate(points) if p not in points[:i]], ""


def product(axes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the points of a product of axes, the last axis fastest."""
    return [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
