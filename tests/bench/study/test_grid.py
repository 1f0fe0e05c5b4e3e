import math
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.config.build import ConfigError
from bench.study.grid import budget_points, coordinate, product, sort_axes
from mechanisms.privacy.budget import Budget, Epsilon, EpsilonDelta, NoBudget, RenyiEpsilon

few = settings(max_examples=60, deadline=None)
SCENARIO = ("gap", "size", "secret")


def refused(call, kind=ConfigError):
    with pytest.raises(kind) as found:
        call()
    assert "\n" not in str(found.value)
    return str(found.value)


def test_axes_are_told_apart():
    grid = sort_axes({"epsilon": [1, 2], "gap": [0.1], "n_releases": [1, 4]}, SCENARIO)
    assert (grid.budget, grid.scenario, grid.n_releases) == (
        {"epsilon": [1, 2]},
        {"gap": [0.1]},
        [1, 4],
    )


def test_an_empty_grid_is_one_release():
    grid = sort_axes({}, SCENARIO)
    assert (grid.budget, grid.scenario, list(grid.n_releases)) == ({}, {}, [1])


@pytest.mark.parametrize("value", [0.1, "income", None, (0.1,), [0.1]])
def test_a_single_value_is_an_axis_of_one(value):
    listed = sort_axes({"gap": value}, SCENARIO).scenario["gap"]
    assert listed == (list(value) if isinstance(value, list | tuple) else [value])


@pytest.mark.parametrize("name", ["epsilon", "gap", "n_releases"])
def test_an_empty_axis_is_refused(name):
    assert (
        refused(lambda: sort_axes({name: []}, SCENARIO))
        == f"grid.{name} must hold a value or more, got {name}=[]."
    )


@pytest.mark.parametrize(
    ("name", "near"), [("epsilom", "epsilon"), ("gapp", "gap"), ("n_release", "n_releases")]
)
def test_a_misspelt_axis_names_the_nearest(name, near):
    assert f"did you mean {near}" in refused(lambda: sort_axes({name: [1]}, SCENARIO))


@pytest.mark.parametrize("name", [1, None, 0.5])
def test_an_axis_that_is_no_name_is_refused(name):
    text = refused(lambda: sort_axes({name: [1]}, SCENARIO))
    assert text.startswith(f"grid: unknown axis {name!r}")


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "2", None, math.nan])
def test_numbers_of_releases_are_whole(value):
    text = refused(lambda: sort_axes({"n_releases": [1, value]}, SCENARIO), ValueError)
    assert text.startswith("grid.n_releases must be a whole number of at least 1, got ")


def test_a_mechanism_sees_the_axes_of_its_budget():
    axes = {"epsilon": [1.0, 2.0], "delta": [0.1, 0.2, 0.3], "order": [2]}
    assert budget_points(axes, NoBudget) == ([{}], "")
    assert budget_points(axes, Epsilon) == ([{"epsilon": 1.0}, {"epsilon": 2.0}], "")
    assert len(budget_points(axes, EpsilonDelta)[0]) == 6
    assert budget_points(axes, RenyiEpsilon)[0] == [
        {"order": 2, "epsilon": 1.0},
        {"order": 2, "epsilon": 2.0},
    ]


def test_a_missing_axis_is_a_reason_not_a_crash():
    points, missing = budget_points({"epsilon": [1.0]}, EpsilonDelta)
    assert points == [{}]
    assert missing == "its budget needs delta; the grid gives epsilon"
    assert budget_points({}, Epsilon)[1] == "its budget needs epsilon; the grid gives nothing"


def test_repeated_values_are_one_point():
    assert budget_points({"epsilon": [1.0, 2.0, 1, 1.0]}, Epsilon)[0] == [
        {"epsilon": 1.0},
        {"epsilon": 2.0},
    ]


@few
@given(st.dictionaries(st.text(max_size=3), st.lists(st.integers(), max_size=4), max_size=4))
def test_a_product_has_every_combination_once(axes):
    axes = {name: list(dict.fromkeys(values)) for name, values in axes.items()}
    points = product(axes)
    assert len(points) == math.prod(len(values) for values in axes.values())
    assert len({tuple(p.items()) for p in points}) == len(points)
    assert all(p[name] in axes[name] for p in points for name in axes)


def test_the_last_axis_runs_fastest():
    assert [tuple(p.values()) for p in product({"a": [1, 2], "b": [3, 4]})] == [
        (1, 3), (1, 4), (2, 3), (2, 4),
    ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Strength(Budget):
    """A budget of one's own: a number, a count, a list, and a default."""

    kappa: float
    receivers: int
    priors: tuple[float, ...]
    slack: float = 0.1


def test_the_axes_are_those_of_the_budgets_that_mechanisms_accept():
    grid = sort_axes(
        {"kappa": [1, 2.0], "receivers": [3], "priors": [[1, 2], [0.5]]}, SCENARIO, [Strength]
    )
    assert grid.budget == {"kappa": [1.0, 2.0], "receivers": [3], "priors": [[1.0, 2.0], [0.5]]}
    assert isinstance(grid.budget["receivers"][0], int)
    points, missing = budget_points(grid.budget, Strength)
    assert (len(points), missing) == (4, "")
    assert "slack" not in points[0]
    assert budget_points({"kappa": [1.0]}, Strength)[1] == (
        "its budget needs receivers, priors; the grid gives kappa"
    )
    text = refused(lambda: sort_axes({"kapa": [1]}, SCENARIO, [Strength]))
    assert "did you mean kappa" in text
    assert "unknown axis 'kappa'" in refused(lambda: sort_axes({"kappa": [1]}, SCENARIO))
    # The package's own axes stay known whatever is chosen.
    assert sort_axes({"order": [2.0]}, SCENARIO, [NoBudget]).budget == {"order": [2.0]}


def test_a_list_is_one_coordinate_and_its_text_in_tables():
    assert coordinate([1.0, [2, "a"]]) == '[1.0,[2,"a"]]'
    assert coordinate(2.5) == 2.5
    assert coordinate("income") == "income"
    assert coordinate({"a": 1}) == '{"a":1}'
